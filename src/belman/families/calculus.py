"""What a family's kernels say of beliefs and distributions, one kernel a method.

Beliefs are arrays of coordinates, and are not checked here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman import chance
from belman.engine import FIRST, LATER, entry, kernel
from belman.errors import PriorError
from belman.families.family_kernels import FamilyKernels, Kernel, term_count

Floats = NDArray[np.float64]


class Calculus(ABC):
    """The half of a family that computes with beliefs."""

    name: ClassVar[str]
    coordinates: ClassVar[tuple[str, ...]]
    kernels: ClassVar[FamilyKernels]
    #: How many numbers a parameter θ of the reward distribution has.
    parameters: ClassVar[int] = 1
    #: Whether its kernels are formulas, and not integrals that take a compiler to be quick.
    closed_form: ClassVar[bool] = True
    prior: tuple[float, ...]

    @property
    @abstractmethod
    def constants(self) -> Floats:
        """The numbers that the user chose, as kernels read them."""

    @property
    def dimension(self) -> int:
        """How many coordinates a belief has."""
        return len(self.coordinates)

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
        result = self.enter(_evidence, belief=row, other=float(other), scratch=scratch, terms=terms)
        return float(result)

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
