"""The contract of a family: what a reward is, and what a belief says of the reward to expect.

A family is a bundle of kernels with a frozen dataclass in front. The dataclass holds what the user
chose (the prior and constants such as a known variance) and validates at the door; the kernels
never do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman import chance
from belman.beliefs.belief import BeliefKernels
from belman.engine import FIRST, LATER, Bundle, entry, factory, kernel
from belman.engine.kernels import parts
from belman.errors import FamilyError, PriorError, RewardError, listing, shown, unknown
from belman.families.searches import weighted_mean

Floats = NDArray[np.float64]
Kernel = Callable[..., Any]

#: How many numbers per arm `terms` may fill.
TERMS = 3
#: How many where beliefs are longer than `_SHORT`: a table of the evidence against any mean.
LONG_TERMS = 78
_SHORT = 8
#: The largest size of a number to which 1 can be added without loss, with digits to spare.
LARGEST = 1e15
#: The largest size of a reward, so that sums of squares of rewards never overflow.
LARGEST_REWARD = 1e100
#: The reach of a belief that counts rewards and adds them up.
SUM_REACH = (LARGEST, LARGEST_REWARD * LARGEST)
#: The least count of a prior: beside a few rewards, less than that is lost in rounding.
LEAST = 1e-12
#: The least prior of a belief that counts rewards and adds them up.
SUM_LEAST = (LEAST, LEAST / LARGEST_REWARD)
#: For a coordinate of a prior that may be anything.
ANY = -math.inf


@kernel
def unit_spread(constants, belief):
    """For families whose mean fixes the distribution."""
    return 1.0


@kernel
def linear_evidence(terms, arm, weights):
    """d = F_arm + w₀ μ_arm + w₁, the Bregman form with the rival's side precomputed."""
    return terms[0, arm] + weights[0] * terms[1, arm] + weights[1]


@kernel
def same_spread(constants, spread, mean, to):
    """For families whose spread does not depend on the mean, or is not needed."""
    return spread


@kernel
def nothing_pooled(constants, beliefs, prior_mean, prior_worth, prior_spread, pool):
    """For families whose arms tell nothing of one another's spread."""
    return 0.0


@kernel
def unit_sharpness(constants, mean, spread):
    """For families in which a reward of any arm tells as much."""
    return 1.0


@kernel
def no_coin(constants, prior, plays, total, squares):
    """For families whose rewards are not those of coins."""
    return 0.0


@kernel
def told_once(family, constants, belief, reward, coins):
    """For families with conjugate beliefs."""
    family.update(constants, belief, reward)


@kernel
def log_partition(family, constants, belief):
    """For families with conjugate beliefs: p(x) = exp(A(η + T(x)) − A(η))."""
    return family.belief.log_partition(constants, belief)


@kernel
def same_mean(constants, mean):
    """For families whose divergence is the same seen from both ends."""
    return mean


@kernel
def by_mean_and_spread(family, constants, belief, worth, mean, spread, mirrored, out):
    """For families in which a mean and a spread say all that d needs of an arm."""
    family.terms(constants, mean, spread, out)


@kernel
def parameter_itself(constants, theta):
    """For families whose first parameter is the mean."""
    return theta[0]


@factory
def drawing(sample_mean: Kernel) -> Kernel:
    """`sample` of families whose only parameter is the mean."""

    @kernel
    def sample(constants, belief, rng, theta):
        theta[0] = sample_mean(constants, belief, rng)

    return sample


@factory
def imagining(update: Kernel, expected_reward: Kernel) -> Kernel:
    """`imagine` of families that learn from rewards themselves, whose expectation is finite."""

    @kernel
    def imagine(constants, belief):
        update(constants, belief, expected_reward(constants, belief))

    return imagine


@dataclass(frozen=True)
class EvidenceKernels(Bundle):
    """What d(arm, rival) is made of: numbers kept per arm, numbers per rival, and both together."""

    terms: Kernel
    weights: Kernel
    evidence: Kernel


@factory
def evidence_by(d: Kernel) -> EvidenceKernels:
    """Evidence by `d` itself, for families of at most two constants, which weights hand on."""

    @kernel
    def terms(constants, mean, spread, out):
        out[0], out[1] = mean, spread

    @kernel
    def weights(constants, mean, out):
        out[0] = mean
        for i in range(min(constants.size, out.size - 1)):
            out[1 + i] = constants[i]

    @kernel
    def evidence(terms, arm, weights):
        return d(weights[1:], terms[0, arm], weights[0], terms[1, arm])

    return EvidenceKernels(terms, weights, evidence)


@dataclass(frozen=True)
class FamilyKernels(Bundle):
    """Kernels of a family. θ is a row of parameters, μ the mean of f_θ, `belief` a row of numbers.

    | kernel | what it does |
    |---|---|
    | `belief` | the bundle of the conjugate belief |
    | `update(constants, belief, reward)` | Bayes' theorem, in place |
    | `expected_reward(constants, belief)` | E[X], infinite where it does not exist |
    | `worth(constants, belief)` | the number of rewards that the belief is worth; 0 if none |
    | `mean_cdf(constants, belief, x)` | P(E_θ[X] ≤ x) |
    | `mean_quantile(constants, belief, level, upper)` | x with that chance below it, or above it |
    | `sample_mean(constants, belief, rng)` | draws E_θ[X] |
    | `reward(constants, theta, uniform)` | the reward at that quantile of f_θ |
    | `d(constants, mean, other, spread)` | KL of reward distributions by means |

    A family needs these. What it may bring besides has a default, as `of` fills it in:

    | kernel | what it does |
    |---|---|
    | `mean(constants, theta)` | E_θ[X]; θ itself unless given |
    | `sample(constants, belief, rng, theta)` | draws θ; where θ is the mean, by `sample_mean` |
    | `imagine(constants, belief)` | late rewards: update with the expected statistic |
    | `terms(constants, mean, spread, out)` | evidence: numbers kept per arm, so that … |
    | `weights(constants, mean, out)` | … with numbers kept per rival, … |
    | `evidence(terms, arm, weights)` | … d(arm, rival) costs a few multiply-adds |
    | `terms_of(family, constants, belief, worth, mean, spread, mirrored, out)` | by all of it |
    | `reflected(constants, mean)` | the mean for `terms` and `weights` where rewards are costs |
    | `common_mean(constants, w, mean, spread, v, …)` | x of least w·d(mean, x) + v·d(other, x) |
    | `spread(constants, belief)` | the estimated variance of a reward where `d` needs one; else 1 |
    | `moved(constants, spread, mean, to)` | the spread if the mean were another |
    | `pooled(constants, beliefs, prior's mean, worth, spread, pool)` | share of spread no arm has |
    | `sharpness(constants, mean, spread)` | Fisher information per reward, over the least one |
    | `coins(constants, prior, plays, total, squares)` | drift: sharpness for these totals |
    | `told(family, constants, belief, reward, coins)` | update where beliefs foretell, in place |
    | `foretells(family, constants, belief)` | A: a reward changes it by ln of its chance |
    | `tilted(constants, x, y, pull)` | A + ln E[exp(pull·X)], gradient, Hessian; or None |
    """

    belief: BeliefKernels
    update: Kernel
    expected_reward: Kernel
    worth: Kernel
    mean_cdf: Kernel
    mean_quantile: Kernel
    sample_mean: Kernel
    reward: Kernel
    d: Kernel
    sample: Kernel
    imagine: Kernel
    terms: Kernel
    weights: Kernel
    mean: Kernel = parameter_itself
    evidence: Kernel = linear_evidence
    terms_of: Kernel = by_mean_and_spread
    reflected: Kernel = same_mean
    common_mean: Kernel = weighted_mean
    spread: Kernel = unit_spread
    moved: Kernel = same_spread
    pooled: Kernel = nothing_pooled
    sharpness: Kernel = unit_sharpness
    coins: Kernel = no_coin
    told: Kernel = told_once
    foretells: Kernel = log_partition
    tilted: Kernel | None = None

    @classmethod
    def of(cls, belief: BeliefKernels, named: Mapping[str, Any]) -> FamilyKernels:
        """Make the bundle of a family from its kernels, with defaults for those that are not there.

        Without an own `spread` the mean fixes the distribution, without an own `common_mean` d is
        a Bregman divergence, and without an own `mean` the parameter is the mean.

        Parameters
        ----------
        belief
            The kernels of the belief.
        named
            Kernels by name, such as the globals of a module; other names are ignored.

        Returns
        -------
        FamilyKernels
            The bundle.
        """
        names = {part.name for part in fields(cls)} - {"belief"}
        found = {name: named[name] for name in names & named.keys()}
        if "sample" not in found:
            found["sample"] = drawing(found["sample_mean"])
        if "imagine" not in found:
            found["imagine"] = imagining(found["update"], found["expected_reward"])
        if "terms" not in found:
            found |= parts(evidence_by(found["d"]))
        return cls(belief, **found)


def term_count(dimension: int) -> int:
    """How many numbers per arm are kept for the evidence, with beliefs of `dimension` coordinates.

    >>> term_count(2), term_count(65)
    (3, 78)
    """
    return TERMS if dimension <= _SHORT else LONG_TERMS


@dataclass(frozen=True)
class Family(ABC):
    """What a reward is: a distribution f_θ with an unknown θ per arm, and the belief on θ.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default `default_prior()`.
    """

    prior: tuple[float, ...] = field(default=(), kw_only=True)

    name: ClassVar[str]
    coordinates: ClassVar[tuple[str, ...]]
    support: ClassVar[str]
    kernels: ClassVar[FamilyKernels]
    #: Every family that is known by name.
    registry: ClassVar[dict[str, type[Family]]] = {}
    #: The constants that must be positive numbers.
    positive: ClassVar[tuple[str, ...]] = ()
    #: Why the joint projection of Algorithm 1 is refused; empty where it is offered.
    no_joint: ClassVar[str] = ""
    #: Whether the number of rewards and their sum say all that a belief learns from them.
    summed: ClassVar[bool] = False
    #: Whether its kernels are formulas, and not integrals that take a compiler to be quick.
    closed_form: ClassVar[bool] = True
    #: Whether E_θ[X] has an expectation under the belief; else the expected reward is a finite
    #: centre of its distribution, such as the median, and says so where it is defined.
    mean_exists: ClassVar[bool] = True
    #: Whether a reward adds its statistic to the natural parameters, whatever was believed before:
    #: Bayes' theorem; else beliefs are by moments.
    conjugate: ClassVar[bool] = True
    #: Rewards of an arm before its variance is believed, where a divergence needs one: that of two
    #: is far too often near 0, which only rewards within bounds allow.
    plays_for_spread: ClassVar[float] = 3.0
    #: How many numbers a parameter θ of the reward distribution has.
    parameters: ClassVar[int] = 1
    #: Whether a reward is the toss of a coin (0, 1, or a share of one) and the belief Beta(α, β)
    #: on its chance: some policies know closed forms for these.
    coin: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_positive()
        given: Any = self.prior  # a tuple, but people give lists and arrays
        if given is None or (isinstance(given, (tuple, list)) and not given):
            object.__setattr__(self, "prior", self.default_prior())
        object.__setattr__(self, "prior", self.check_prior(self.prior))

    def default_prior(self) -> tuple[float, ...]:
        """Return the prior of an arm that was never played.

        Returns
        -------
        tuple of float
            Its coordinates; ones unless the family has another.
        """
        return (1.0,) * self.dimension

    @abstractmethod
    def supports(self, reward: float) -> bool:
        """Return whether a number is a possible reward.

        Parameters
        ----------
        reward
            A finite number.

        Returns
        -------
        bool
            Whether it is a possible reward.
        """

    @abstractmethod
    def parameter_of(self, mean: float) -> tuple[float, ...]:
        """Return θ of the reward distribution with that mean.

        Parameters
        ----------
        mean
            The mean of the rewards.

        Returns
        -------
        tuple of float
            The parameters θ.

        Raises
        ------
        FamilyError
            If no distribution has that mean.
        """

    def proper(self, belief: Sequence[float]) -> bool:
        """Return whether coordinates make a proper distribution.

        Parameters
        ----------
        belief
            Finite coordinates.

        Returns
        -------
        bool
            Whether they make a distribution that integrates to one.
        """
        return all(value > 0.0 for value in belief)

    @property
    def reach(self) -> tuple[float, ...]:
        """The largest size of each coordinate at which a belief still learns.

        A reward that would take a belief further is refused, and so are priors and state files that
        hold such a belief: beyond it counts stand still, and sums overflow.

        >>> from belman.families import Bernoulli, Gaussian
        >>> Bernoulli().reach, Gaussian(sigma=10.0).reach
        ((1000000000000000.0, 1000000000000000.0), (1e+16, 10000000000000.0))
        """
        return (LARGEST,) * self.dimension

    @property
    def least(self) -> tuple[float, ...]:
        """The least of each coordinate of a prior, such as of what counts rewards.

        Where a family says itself what is proper, and nothing of this, all are taken.

        >>> from belman.families import Bernoulli, Gaussian
        >>> Bernoulli().least, Gaussian(sigma=10.0).least
        ((1e-12, 1e-12), (-inf, 1e-14))
        """
        all_positive = type(self).proper is Family.proper
        return (LEAST if all_positive else ANY,) * self.dimension

    @property
    def constants(self) -> Floats:
        """The numbers that the user chose, as kernels read them."""
        chosen = [getattr(self, f.name) for f in fields(self) if f.name != "prior"]
        return np.array(chosen or [0.0], dtype=np.float64)

    @property
    def reward_range(self) -> tuple[float, float] | None:
        """The least interval that holds every reward, where there is one."""
        return None

    @property
    def mean_range(self) -> tuple[float, float]:
        """The infimum and the supremum of the means of reward distributions.

        >>> from belman.families import Bernoulli, Geometric
        >>> Bernoulli().mean_range, Geometric().mean_range
        ((0.0, 1.0), (1.0, inf))
        """
        return self.reward_range or (-math.inf, math.inf)

    @property
    def foretells(self) -> bool:
        """Whether beliefs give rewards chances, by which changes of the world are noticed."""
        return self.conjugate

    @property
    def mean_fixes_law(self) -> bool:
        """Whether one reward distribution has that mean; else `d` needs `spread`, a variance."""
        return self.kernels.spread is unit_spread

    @property
    def bregman(self) -> bool:
        """Whether `d` is a Bregman divergence of means: exponential families with T(x) = x."""
        return self.kernels.common_mean is weighted_mean

    @property
    def dimension(self) -> int:
        """How many coordinates a belief has."""
        return len(self.coordinates)

    def check_reward(self, reward: object) -> float:
        """Return the reward as a float, or refuse it.

        Parameters
        ----------
        reward
            What was given as a reward.

        Returns
        -------
        float
            The reward.

        Raises
        ------
        RewardError
            If it is not a possible reward, or too large.
        """
        try:
            value = float(reward)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if isinstance(reward, (str, bytes)) or not math.isfinite(value) or not self.supports(value):
            allowed = f"{self.name} rewards are {self.support}"
            raise RewardError(f"reward {shown(reward)} is not allowed: {allowed}")
        if abs(value) > LARGEST_REWARD:
            allowed = f"no reward may be larger than {LARGEST_REWARD:g}"
            raise RewardError(f"reward {reward!r} is too large: {allowed}")
        return value

    def completed(self, belief: tuple[float, ...]) -> tuple[float, ...]:
        """Fill in the coordinates that a user may leave out.

        Parameters
        ----------
        belief
            Coordinates, of which some may be left out.

        Returns
        -------
        tuple of float
            All coordinates, where the family knows the others.
        """
        return belief

    def check_belief(self, belief: ArrayLike) -> tuple[float, ...]:
        """Return the coordinates of a belief as floats, or refuse them.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        tuple of float
            The coordinates.

        Raises
        ------
        PriorError
            If they make no proper belief, or one that learns nothing more.
        """
        try:
            if np.asarray(belief).dtype.kind in "US":
                raise TypeError
            values = tuple(np.asarray(belief, dtype=np.float64).ravel().tolist())
        except (TypeError, ValueError, OverflowError):
            raise self._refused(belief, "is not a list of numbers") from None
        values = self.completed(values)
        if len(values) != self.dimension:
            raise self._refused(belief, f"has {len(values)} numbers")
        if not all(map(math.isfinite, values)) or not self.proper(values):
            raise self._refused(belief, "is not proper")
        if (why := self.beyond_reach(values)) is not None:
            raise PriorError(f"prior {shown(belief)} learns nothing: {why}")
        return values

    def check_prior(self, prior: ArrayLike) -> tuple[float, ...]:
        """Return the coordinates of a prior as floats, or refuse them.

        Parameters
        ----------
        prior
            The coordinates of a belief.

        Returns
        -------
        tuple of float
            The coordinates.

        Raises
        ------
        PriorError
            If they make no proper belief, or one whose counts are lost beside rewards.
        """
        values = self.check_belief(prior)
        if (why := self.too_weak(values)) is not None:
            raise PriorError(f"prior {shown(prior)} says too little: {why}")
        if math.isnan(self.expected_reward(values)):
            raise PriorError(f"prior {shown(prior)} expects a reward beyond all numbers")
        return values

    def too_weak(self, prior: Sequence[float]) -> str | None:
        """Say which coordinate of a prior is too small to be kept beside rewards.

        Parameters
        ----------
        prior
            The coordinates of a proper prior.

        Returns
        -------
        str or None
            The reason, or None where no coordinate is too small.

        >>> from belman.families import Bernoulli
        >>> Bernoulli().too_weak((1.0, 1e-13))
        'beta is 1e-13, and that of a bernoulli prior must be at least 1e-12'
        """
        for name, value, least in zip(self.coordinates, prior, self.least, strict=True):
            if value < least:
                whose = f"that of {_article(self.name)} prior"
                return f"{name} is {value:g}, and {whose} must be at least {least:g}"
        return None

    def _refused(self, belief: ArrayLike, why: str) -> PriorError:
        wanted = f"{self.name} needs ({', '.join(self.coordinates)}), {self._proper_words()}"
        return PriorError(f"prior {shown(belief)} {why}: {wanted}")

    def beyond_reach(self, belief: ArrayLike) -> str | None:
        """Say which coordinate is too large, or not a number, to learn from a reward.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        str or None
            The reason, or None where all can learn.

        >>> from belman.families import Poisson
        >>> Poisson().beyond_reach((1e17, 2.0))
        'alpha would be 1e+17, and a poisson belief keeps its precision up to 1e+15'
        """
        for name, value, most in zip(
            self.coordinates, np.asarray(belief).tolist(), self.reach, strict=True
        ):
            if not abs(value) <= most:
                keeps = f"{_article(self.name)} belief keeps its precision up to {most:g}"
                return f"{name} would be {value:g}, and {keeps}"
        return None

    def _proper_words(self) -> str:
        return "all positive"

    def _check_positive(self) -> None:
        """Refuse a constant of the distribution that is not a positive finite number."""
        for name in self.positive:
            value = getattr(self, name)
            number = isinstance(value, (int, float, np.number)) and math.isfinite(value)
            if not number or not 1.0 / LARGEST_REWARD <= value <= LARGEST_REWARD:
                what = f"{name}={value!r} is not valid for the {self.name} distribution"
                raise FamilyError(f"{what}: it must be a positive number, from 1e-100 to 1e+100")

    def _mean_between(self, mean: float, low: float, high: float) -> float:
        if not low < mean < high:
            allowed = f"it must lie strictly between {low:g} and {high:g}"
            raise FamilyError(
                f"mean {mean!r} is not valid for the {self.name} distribution: {allowed}"
            )
        return float(mean)

    # What a belief says, one kernel a method; beliefs are arrays of coordinates.

    def _run(self, kernel: Kernel, *arguments: Any) -> Any:
        """Run a kernel of this family for these arguments: as it is, unless it integrates."""
        if self.closed_form:
            with np.errstate(all="ignore"):
                return kernel(self.constants, *arguments)
        call = entry(kernel)
        return call(**dict(zip(call.parameters, (self.constants, *arguments), strict=True)))

    def _filled(self, kernel: Kernel, row: Floats, shape: Any) -> Floats:
        """What a kernel fills of a row: an array of that shape."""
        out = np.empty(shape)
        self._run(kernel, row, out)
        return out

    def enter(self, template: Kernel, **arguments: Any) -> Any:
        """Run a kernel with the kernels and the constants of this family.

        Parameters
        ----------
        template
            A kernel `(family, constants, …)`, such as one over beliefs of many arms.
        arguments
            Its other arguments, by name.

        Returns
        -------
        Any
            What the kernel returns.
        """
        when = LATER if self.closed_form else FIRST
        return entry(template, family=self.kernels)(when, constants=self.constants, **arguments)

    def update(self, belief: ArrayLike, reward: float) -> Floats:
        """Compute the belief after one reward, by Bayes' theorem.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        reward
            One reward.

        Returns
        -------
        ndarray
            The coordinates of the belief.

        Raises
        ------
        RewardError
            If it is not a possible reward, or too large for this belief.
        """
        after = self._row(belief)
        self._run(self.kernels.update, after, self.check_reward(reward))
        if (why := self.beyond_reach(after)) is not None:
            raise RewardError(f"reward {reward!r} is too large here: {why}")
        return after

    def update_many(
        self, belief: ArrayLike, plays: int, total: float, squares: float | None = None
    ) -> Floats:
        """Compute the belief after many rewards, by their sums.

        What one reward adds to the
        natural parameters is linear in it, so all of them add `plays` times what their average
        does.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        plays
            The number of rewards.
        total
            Their sum.
        squares
            The sum of their squares, for families that learn from it.

        Returns
        -------
        ndarray
            The coordinates of the belief.

        Raises
        ------
        RewardError
            If no such rewards exist, or sums do not say all that this belief learns.
        """
        if not self.summed:
            what = f"the sum of {self.name} rewards does not say all that a belief learns"
            raise RewardError(f"{what}: tell them one by one")
        before = self._row(belief)
        once = before.copy()
        self._run(self.kernels.update, once, float(total) / plays)
        start = self.natural(before)
        after = self.from_natural(start + plays * (self.natural(once) - start))
        counts = [i for i, name in enumerate(self.coordinates) if name != "mean"]
        if not np.isfinite(after).all() or (after[counts] < before[counts] * (1.0 - 1e-12)).any():
            allowed = f"{self.name} rewards are {self.support}"
            raise RewardError(f"{plays} rewards cannot have the sum {total!r}: {allowed}")
        if (why := self.beyond_reach(after)) is not None:
            raise RewardError(f"{plays} rewards of sum {total!r} are too much: {why}")
        return after

    def blend(self, belief: ArrayLike, other: ArrayLike, weight: float) -> Floats:
        """Compute the belief whose natural parameters lie between those of two.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        other
            The coordinates of another.
        weight
            The weight of the first, from 0 to 1.

        Returns
        -------
        ndarray
            The coordinates of the belief.
        """
        out = self._row(belief)
        self._run(self.kernels.belief.blend, out, self._row(other), float(weight))
        return out

    @property
    def adds_up(self) -> bool:
        """Whether a reward adds the same to `additive`, whatever was believed before."""
        return self.conjugate

    def additive(self, belief: ArrayLike) -> Floats:
        """Compute the coordinates to which rewards add.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        ndarray
            The natural parameters, unless the family has others.
        """
        return self.natural(belief)

    def from_additive(self, sums: ArrayLike) -> Floats:
        """Compute the belief with these `additive` coordinates.

        Parameters
        ----------
        sums
            Coordinates to which rewards add.

        Returns
        -------
        ndarray
            The coordinates of the belief.
        """
        return self.from_natural(sums)

    def natural(self, belief: ArrayLike) -> Floats:
        """Compute the natural parameters η.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        ndarray
            η.
        """
        return self._filled(self.kernels.belief.natural, self._row(belief), self.dimension)

    def from_natural(self, eta: ArrayLike) -> Floats:
        """Compute the belief with natural parameters η.

        Parameters
        ----------
        eta
            Natural parameters.

        Returns
        -------
        ndarray
            The coordinates of the belief.
        """
        row = np.array(eta, dtype=np.float64)
        return self._filled(self.kernels.belief.from_natural, row, self.dimension)

    def log_partition(self, belief: ArrayLike) -> float:
        """Compute the log-partition function A(η).

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        float
            A(η).
        """
        return float(self._run(self.kernels.belief.log_partition, self._row(belief)))

    def mean_parameters(self, belief: ArrayLike) -> Floats:
        """Compute m(η) = ∇A(η) = E[S(θ)].

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        ndarray
            The expected statistics.
        """
        return self._filled(self.kernels.belief.mean_parameters, self._row(belief), self.dimension)

    def from_mean_parameters(self, target: ArrayLike, guess: ArrayLike | None = None) -> Floats:
        """Compute the belief with these mean parameters: the inverse of `mean_parameters`.

        Parameters
        ----------
        target
            Mean parameters.
        guess
            A belief to begin the search from; by default the prior.

        Returns
        -------
        ndarray
            The coordinates of the belief.
        """
        belief = self._row(self.prior if guess is None else guess)
        self._run(self.kernels.belief.solve, np.array(target, dtype=np.float64), belief)
        return belief

    def metric(self, belief: ArrayLike) -> Floats:
        """Compute the Fisher metric ∇²A(η).

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        ndarray
            A square matrix.
        """
        square = self.dimension, self.dimension
        return self._filled(self.kernels.belief.metric, self._row(belief), square)

    def divergence(self, belief: ArrayLike, other: ArrayLike) -> float:
        """Compute KL(belief ‖ other), stable from counts of 1e-3 to 1e9.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        other
            The coordinates of another.

        Returns
        -------
        float
            At least 0, in nats.
        """
        return float(self._run(self.kernels.belief.divergence, self._row(belief), self._row(other)))

    def log_density(self, belief: ArrayLike, theta: ArrayLike) -> Floats:
        """Compute ln b(θ) for each θ of an array.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        theta
            Points; the last axis holds the parameters, if there is more than one.

        Returns
        -------
        ndarray
            A logarithm for every point.
        """
        points = np.asarray(theta, dtype=np.float64)
        flat = points.reshape(-1, self.parameters)
        out = np.empty(len(flat))
        walk = _log_densities if self.parameters == 1 else _log_densities_of_rows
        self.enter(walk, belief=self._row(belief), points=flat, out=out)
        return out.reshape(points.shape if self.parameters == 1 else points.shape[:-1])

    def expected_reward(self, belief: ArrayLike) -> float:
        """Compute E[X] under the belief.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        float
            E[X]; infinite where it does not exist.
        """
        return float(self._run(self.kernels.expected_reward, self._row(belief)))

    def worth(self, belief: ArrayLike) -> float:
        """Compute the number of rewards that the belief is worth.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        float
            ν, if one more reward moves E[X] by (x − E[X])/(ν + 1).

        >>> from belman.families import Bernoulli
        >>> Bernoulli().worth((3.0, 1.0))
        4.0
        """
        return float(self._run(self.kernels.worth, self._row(belief)))

    def spread(self, belief: ArrayLike) -> float:
        """Estimate the variance of a reward, where `reward_divergence` needs it.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        float
            The variance; 1 where `reward_divergence` needs none.
        """
        return float(self._run(self.kernels.spread, self._row(belief)))

    def mean_quantile(self, belief: ArrayLike, level: float, *, upper: bool = False) -> float:
        """Compute a quantile of the expected reward.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        level
            The chance below the quantile, or above it.
        upper
            Whether the level is counted from above.

        Returns
        -------
        float
            The quantile.
        """
        row = self._row(belief)
        return float(self._run(self.kernels.mean_quantile, row, float(level), bool(upper)))

    def mean_intervals(self, beliefs: Floats, tail: float) -> tuple[Floats, Floats]:
        """Compute credible intervals of E[X] of many beliefs.

        Parameters
        ----------
        beliefs
            A belief a row.
        tail
            The chance beyond each end.

        Returns
        -------
        tuple of ndarray
            The lower and the upper ends.
        """
        low, high = np.empty(len(beliefs)), np.empty(len(beliefs))
        self.enter(_intervals, beliefs=beliefs, tail=float(tail), low=low, high=high)
        return low, high

    def mean_cdf(self, belief: ArrayLike, x: float) -> float:
        """Compute the probability that the expected reward is at most x.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        x
            A reward.

        Returns
        -------
        float
            A probability.
        """
        return float(self._run(self.kernels.mean_cdf, self._row(belief), float(x)))

    def reward_divergence(self, mean: float, other: float, spread: float = 1.0) -> float:
        """Compute d(μ, μ′), the KL divergence between reward distributions of two means.

        Parameters
        ----------
        mean
            The mean μ of the first distribution.
        other
            The mean μ′ of the second.
        spread
            The variance, where the mean does not fix the distribution.

        Returns
        -------
        float
            d(μ, μ′), in nats.
        """
        return float(self._run(self.kernels.d, float(mean), float(other), float(spread)))

    def evidence(self, belief: ArrayLike, other: float) -> float:
        """Compute d from E[X] to a mean, by all that the belief knows.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        other
            A mean.

        Returns
        -------
        float
            The evidence per reward, in nats.

        >>> from belman.families import Bernoulli
        >>> round(Bernoulli().evidence((1.0, 3.0), 0.5), 6)
        0.130812
        """
        size = term_count(self.dimension)
        scratch, terms = np.zeros(size), np.zeros((size, 1))
        row = self._row(belief)
        found = self.enter(_evidence, belief=row, other=float(other), scratch=scratch, terms=terms)
        return float(found)

    def mean_of(self, theta: ArrayLike) -> float:
        """Compute the mean of the reward distribution with these parameters.

        Parameters
        ----------
        theta
            The parameters of a reward distribution.

        Returns
        -------
        float
            E_θ[X].
        """
        row = np.atleast_1d(np.asarray(theta, dtype=np.float64))
        return float(self._run(self.kernels.mean, row))

    def spread_of(self, theta: Sequence[float]) -> float:
        """Compute the variance of the reward distribution f_θ, where `reward_divergence` needs it.

        Parameters
        ----------
        theta
            The parameters of a reward distribution.

        Returns
        -------
        float
            The variance; 1 where `reward_divergence` needs none.
        """
        return 1.0

    def sample_parameters(self, belief: ArrayLike, rng: chance.Words, size: int) -> Floats:
        """Draw θ from the belief.

        Parameters
        ----------
        belief
            The coordinates of a belief.
        rng
            A generator, such as `chance.generator(7)`.
        size
            How many draws.

        Returns
        -------
        ndarray
            A draw a row.
        """
        out = np.empty((size, self.parameters))
        self.enter(_samples, belief=self._row(belief), rng=rng, out=out)
        return out

    def sample_rewards(self, theta: ArrayLike, nature: chance.Words, size: int) -> Floats:
        """Draw rewards from the distribution f_θ.

        Parameters
        ----------
        theta
            The parameters of a reward distribution.
        nature
            A generator, such as `chance.generator(7)`.
        size
            How many rewards.

        Returns
        -------
        ndarray
            The rewards.
        """
        out = np.empty(size)
        parameters = np.atleast_1d(np.asarray(theta, dtype=np.float64))
        self.enter(_rewards, theta=parameters, nature=nature, out=out)
        return out

    def _row(self, belief: ArrayLike) -> Floats:
        row = np.array(belief, dtype=np.float64)
        if row.shape != (self.dimension,):
            needs = f"{self.name} needs {self.dimension} numbers"
            raise PriorError(f"belief {belief!r} has shape {row.shape}: {needs}")
        return row


#: Every family by its name.
FAMILIES = Family.registry


def family_named(given: str | Family, **settings: Any) -> Family:
    """Return the family of that name with these settings, or the family itself.

    Parameters
    ----------
    given
        The name of a family, or a family.
    settings
        Its settings, where a name is given.

    Returns
    -------
    Family
        The family.

    Raises
    ------
    FamilyError
        If there is no such family, or it does not take these settings.

    >>> family_named("gaussian", sigma=2.0)
    Gaussian(prior=(0.0, 0.0025), sigma=2.0)
    """
    if isinstance(given, Family):
        if settings:
            raise FamilyError(f"{given!r} is complete: give {listing(settings)} where it is made")
        return given
    if not isinstance(given, str) or given not in FAMILIES:
        raise FamilyError(unknown("family", given, FAMILIES))
    try:
        return FAMILIES[given](**settings)
    except TypeError as error:
        raise FamilyError(f"family {given!r} does not take {listing(settings)}: {error}") from None


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


@kernel
def _evidence(family, constants, belief, other, scratch, terms):
    mean, spread = family.expected_reward(constants, belief), family.spread(constants, belief)
    worth = family.worth(constants, belief)
    family.terms_of(family, constants, belief, worth, mean, spread, False, scratch)
    for i in range(scratch.size):
        terms[i, 0] = scratch[i]
    family.weights(constants, other, scratch)
    return family.evidence(terms, 0, scratch)


@kernel
def _log_densities(family, constants, belief, points, out):
    for i in range(out.size):
        out[i] = family.belief.log_density(constants, belief, points[i, 0])


@kernel
def _log_densities_of_rows(family, constants, belief, points, out):
    for i in range(out.size):
        out[i] = family.belief.log_density(constants, belief, points[i])


@kernel
def _samples(family, constants, belief, rng, out):
    for i in range(len(out)):
        family.sample(constants, belief, rng, out[i])


@kernel
def _rewards(family, constants, theta, nature, out):
    for i in range(out.size):
        out[i] = family.reward(constants, theta, chance.uniform(nature))


@kernel
def _intervals(family, constants, beliefs, tail, low, high):
    for a in range(low.size):
        low[a] = family.mean_quantile(constants, beliefs[a], tail, False)
        high[a] = family.mean_quantile(constants, beliefs[a], tail, True)
