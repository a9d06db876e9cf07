"""Rewards in a range, of no particular distribution: by two moments, or by a grid of atoms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from belman.errors import FamilyError, RewardError
from belman.families import atoms as tables
from belman.families import bounded_atoms, two_moments
from belman.families.family import ANY, LEAST, Family, Floats
from belman.families.family_kernels import FamilyKernels
from belman.registry import register

FEWEST, MOST = 9, tables.ATOMS  # atoms of a grid
_ROUNDED = 1e-6  # the share by which sums of very many rewards may be off


def _softest(alpha: float, beta: float) -> float:
    """The sum of x(1 − x) of rewards that are all the same, with those of x and 1 − x."""
    return alpha * beta / (alpha + beta)


@register
class Bounded(Family):
    """Rewards from 0 to 1 of no particular distribution; the belief is by their first two moments.

    It is (soft, alpha, beta), the sums of x(1 − x), x and 1 − x; by default (0, 1, 1), a reward of
    0 and one of 1. On rewards of 0 and 1 it is the Bernoulli family. `concentration` is that of the
    Beta distributions from which a simulation draws rewards (as tables of 64 atoms); a belief never
    reads it. `belman.problems.bounded` draws from any other. `moments=1` keeps the mean alone, as
    if rewards were coins, to compare with.

    `atoms=65` keeps how often rewards lay at 0, 1/64, …, 1, from 9 to 65 points; others are shared
    by the two beside them. The belief is then the Dirichlet distribution of their chances, d is
    K_inf, and Thompson sampling is NPTS; a turn costs more, and every arm has as many numbers.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default (0, 1, 1).
    concentration
        That of the Beta distributions from which a simulation draws rewards; a belief never reads
        it.
    moments
        How many moments of rewards are kept, 1 or 2.
    atoms
        How many points of the range have counts of their own, from 9 to 65; 0 keeps moments.

    >>> arm = Bounded()
    >>> belief = arm.prior
    >>> for rating in (0.2, 0.4, 0.6):
    ...     belief = arm.update(belief, rating)
    >>> [round(float(x), 2) for x in belief]
    [0.64, 2.2, 2.8]
    >>> round(arm.reward_divergence(0.44, 0.7, arm.spread(belief)), 6)
    0.233315
    """

    concentration: float = 2.0
    moments: int = 2
    atoms: int = 0

    name = "bounded"
    support = "numbers from 0 to 1"
    no_joint = "the normaliser E[exp(X/τ)] of rewards of any distribution is not known"
    parameters = tables.NUMBERS
    conjugate = False
    plays_for_spread = 1.0
    positive = ("concentration",)
    reward_range = (0.0, 1.0)

    def __post_init__(self) -> None:
        self._check_positive()
        if self.moments not in (1, 2):
            raise FamilyError(f"moments={self.moments!r} is not valid: give 1 or 2")
        if type(self.atoms) is not int or not (self.atoms == 0 or FEWEST <= self.atoms <= MOST):
            allowed = f"0 for none, or a whole number from {FEWEST} to {MOST}"
            raise FamilyError(f"atoms={self.atoms!r} is not valid: give {allowed}")
        if self.atoms and self.moments == 1:
            raise FamilyError("a grid of atoms says more than the mean: leave out moments=1")
        super().__post_init__()

    @property
    def kernels(self) -> FamilyKernels:  # type: ignore[override]
        """By atoms, or by two moments."""
        return bounded_atoms.KERNELS if self.atoms else two_moments.KERNELS

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        """The sums, or the counts of the atoms by their values."""
        if not self.atoms:
            return ("soft", "alpha", "beta")
        return tuple(f"at {value:g}" for value in np.linspace(0.0, 1.0, self.atoms))

    @property
    def constants(self) -> Floats:
        if self.atoms:
            return bounded_atoms.distribution_of(self.prior)
        return np.array([float(self.moments == 2)])

    def default_prior(self) -> tuple[float, ...]:
        return bounded_atoms.prior_of(self.atoms, 1.0, 1.0) if self.atoms else (0.0, 1.0, 1.0)

    def completed(self, belief: tuple[float, ...]) -> tuple[float, ...]:
        """What is believed of coins, (alpha, beta), is (0, alpha, beta), or at the end atoms.

        >>> Bounded().check_belief((2, 3))
        (0.0, 2.0, 3.0)
        """
        if len(belief) != 2:
            return belief
        if self.atoms:
            return bounded_atoms.prior_of(self.atoms, *belief)
        return (0.0, *belief)

    def as_coin(self, belief: ArrayLike) -> Floats:
        """Reduce a belief to that on coins with the same means as the rewards.

        Parameters
        ----------
        belief
            The coordinates of a belief.

        Returns
        -------
        ndarray
            The belief on the chance of such a coin, (alpha, beta).

        >>> Bounded().as_coin((0.64, 2.2, 2.8)).tolist()
        [2.2, 2.8]
        """
        sums = self._row(belief)
        if not self.atoms:
            return sums[1:]
        values = np.linspace(0.0, 1.0, self.atoms)
        return np.array([sums @ values, sums @ (1.0 - values)])

    def proper(self, belief: Sequence[float]) -> bool:
        if self.atoms:
            return super().proper(belief)
        soft, alpha, beta = belief
        if not (alpha > 0.0 and beta > 0.0):
            return False
        return -alpha * beta < soft <= _softest(alpha, beta) * (1.0 + _ROUNDED)

    def check_prior(self, prior: ArrayLike) -> tuple[float, ...]:
        """Refuses also what says that rewards do not vary: sums of many may, by rounding alone."""
        values = super().check_prior(prior)
        if not self.atoms and not values[0] < _softest(*values[1:]):
            raise self._refused(prior, "is not proper")
        return values

    @property
    def least(self) -> tuple[float, ...]:
        if self.atoms:
            return (LEAST * bounded_atoms.GRAIN,) * self.atoms
        return (ANY, LEAST, LEAST)

    def _proper_words(self) -> str:
        if self.atoms:
            return "all positive; or (alpha, beta), which lie at the ends"
        return "alpha and beta positive and soft from 0 to less than alpha·beta/(alpha + beta)"

    def supports(self, reward: float) -> bool:
        return 0.0 <= reward <= 1.0

    @property
    def foretells(self) -> bool:
        """By two moments, as coins are foretold of which a reward is worth so many; not by atoms,
        whose prior gives next to nothing to rewards between the ends.
        """
        return not self.atoms

    @property
    def adds_up(self) -> bool:
        """True: the belief itself is made of sums."""
        return True

    def additive(self, belief: ArrayLike) -> Floats:
        """The sums that the belief is.

        >>> Bounded().additive((0.2, 1.5, 2.5)).tolist()
        [0.2, 1.5, 2.5]
        """
        return self._row(belief).copy()

    def from_additive(self, sums: ArrayLike) -> Floats:
        """The belief with these sums."""
        return self._row(sums).copy()

    def update_many(
        self, belief: ArrayLike, plays: int, total: float, squares: float | None = None
    ) -> Floats:
        """After `plays` rewards of that sum and sum of squares; without these, as if of coins.

        >>> Bounded().update_many((0.0, 1.0, 1.0), 3, 1.2, 0.56).round(2).tolist()
        [0.64, 2.2, 2.8]
        """
        square = total if squares is None else squares
        slack = 1e-9 * plays
        possible = -slack <= total <= plays + slack
        if not possible or not total * total / plays - slack <= square <= total + slack:
            what = f"{plays} rewards cannot have the sum {total!r} and that of squares {squares!r}"
            raise RewardError(f"{what}: {self.name} rewards are {self.support}")
        inside = min(max(total, 0.0), float(plays))
        soft = max(total - square, 0.0) if self.moments == 2 else 0.0
        sums = np.array([soft, inside, plays - inside])
        learned = bounded_atoms.with_sums(self.atoms, *sums) if self.atoms else sums
        after = self._row(belief) + learned
        if (why := self.beyond_reach(after)) is not None:
            raise RewardError(f"{plays} rewards of sum {total!r} are too much: {why}")
        return after

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return tables.beta(self._mean_between(mean, 0.0, 1.0), self.concentration)

    def spread_of(self, theta: Sequence[float]) -> float:
        return tables.variance(theta)
