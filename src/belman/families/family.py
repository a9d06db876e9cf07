"""The contract of a family: what a reward is, and what a belief says of the reward to expect.

A family is a bundle of kernels with a frozen dataclass in front. The dataclass holds what the user
chose (the prior and constants such as a known variance) and validates at the door; the kernels
never do.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from belman.errors import FamilyError, PriorError, RewardError, listing, shown, unknown
from belman.families.calculus import Calculus
from belman.families.calculus import Floats as Floats
from belman.families.family_kernels import unit_spread
from belman.families.searches import weighted_mean

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


@dataclass(frozen=True)
class Family(Calculus):
    """What a reward is: a distribution f_θ with an unknown θ per arm, and the belief on θ.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default `default_prior()`.
    """

    prior: tuple[float, ...] = field(default=(), kw_only=True)

    support: ClassVar[str]
    #: Every family that is known by name.
    registry: ClassVar[dict[str, type[Family]]] = {}
    #: The constants that must be positive numbers.
    positive: ClassVar[tuple[str, ...]] = ()
    #: Why the joint projection of Algorithm 1 is refused; empty where it is offered.
    no_joint: ClassVar[str] = ""
    #: Whether the number of rewards and their sum say all that a belief learns from them.
    summed: ClassVar[bool] = False
    #: Whether E_θ[X] has an expectation under the belief; else the expected reward is a finite
    #: centre of its distribution, such as the median, and says so where it is defined.
    mean_exists: ClassVar[bool] = True
    #: Whether a reward adds its statistic to the natural parameters, whatever was believed before:
    #: Bayes' theorem; else beliefs are by moments.
    conjugate: ClassVar[bool] = True
    #: Rewards of an arm before its variance is believed, where a divergence needs one: that of two
    #: is far too often near 0, which only rewards within bounds allow.
    plays_for_spread: ClassVar[float] = 3.0
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
    def mean_fixes_distribution(self) -> bool:
        """Whether one reward distribution has that mean; else `d` needs `spread`, a variance."""
        return self.kernels.spread is unit_spread

    @property
    def bregman(self) -> bool:
        """Whether `d` is a Bregman divergence of means: exponential families with T(x) = x."""
        return self.kernels.common_mean is weighted_mean

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

    # What a reward teaches

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

    @property
    def adds_up(self) -> bool:
        """Whether a reward adds the same to `additive`, whatever was believed before."""
        return self.conjugate


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
