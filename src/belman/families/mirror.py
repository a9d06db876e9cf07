"""Costs: a family's rewards negated, so that least cost is largest reward for every policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from belman.engine import factory, kernel
from belman.families.family import Family, FamilyKernels, Floats


@factory
def mirrored(base: FamilyKernels) -> FamilyKernels:
    """The kernels of the family whose rewards are the negatives of another's."""

    @kernel
    def update(law, belief, reward):
        base.update(law, belief, -reward)

    @kernel
    def expected_reward(law, belief):
        """Infinite stays plus infinity: an unknown arm is tried first, be it cost or reward."""
        expected = base.expected_reward(law, belief)
        return -expected if math.isfinite(expected) else math.inf

    @kernel
    def mean_cdf(law, belief, x):
        return 1.0 - base.mean_cdf(law, belief, -x)

    @kernel
    def mean_quantile(law, belief, level, upper):
        return -base.mean_quantile(law, belief, level, not upper)

    @kernel
    def sample_mean(law, belief, mind):
        return -base.sample_mean(law, belief, mind)

    @kernel
    def mean(law, theta):
        return -base.mean(law, theta)

    @kernel
    def reward(law, theta, uniform):
        return -base.reward(law, theta, 1.0 - uniform)

    @kernel
    def d(law, mean, other, spread):
        return base.d(law, -mean, -other, spread)

    @kernel
    def terms(law, mean, spread, out):
        base.terms(law, base.reflected(law, -mean), spread, out)

    @kernel
    def terms_of(family, law, belief, worth, mean, spread, mirrored, out):
        reflected = base.reflected(law, -mean)
        base.terms_of(base, law, belief, worth, reflected, spread, not mirrored, out)

    @kernel
    def weights(law, mean, out):
        base.weights(law, base.reflected(law, -mean), out)

    @kernel
    def moved(law, spread, mean, to):
        return base.moved(law, spread, -mean, -to)

    @kernel
    def pooled(law, beliefs, prior_mean, prior_worth, prior_spread, pool):
        return base.pooled(law, beliefs, -prior_mean, prior_worth, prior_spread, pool)

    @kernel
    def sharpness(law, mean, spread):
        return base.sharpness(law, -mean, spread)

    @kernel
    def coins(law, prior, plays, total, squares):
        return base.coins(law, prior, plays, -total, squares)

    @kernel
    def told(family, law, belief, reward, coins):
        base.told(base, law, belief, -reward, coins)

    @kernel
    def foretells(family, law, belief):
        return base.foretells(base, law, belief)

    @kernel
    def common_mean(law, weight, mean, spread, other_weight, other, other_spread):
        return -base.common_mean(law, weight, -mean, spread, other_weight, -other, other_spread)

    return FamilyKernels.of(base.belief, {**vars(base), "tilted": None, **locals()})


@dataclass(frozen=True)
class Mirror(Family):
    """The family of −X, for costs X of another family.

    >>> from belman.families import Exponential
    >>> waiting = Mirror(Exponential(prior=(2.0, 6.0)))
    >>> later = waiting.update(waiting.prior, -3.0)
    >>> waiting.expected_reward(waiting.prior), waiting.expected_reward(later)
    (-6.0, -4.5)
    """

    of: Family

    no_joint = "costs are mirrored rewards, for which no tilted log-partition is offered"

    def __init__(self, of: Family) -> None:
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "prior", of.prior)

    @property
    def kernels(self) -> FamilyKernels:  # type: ignore[override]
        return mirrored(self.of.kernels)

    @property
    def closed_form(self) -> bool:  # type: ignore[override]
        return self.of.closed_form

    @property
    def mean_exists(self) -> bool:  # type: ignore[override]
        return self.of.mean_exists

    @property
    def conjugate(self) -> bool:  # type: ignore[override]
        return self.of.conjugate

    @property
    def foretells(self) -> bool:
        return self.of.foretells

    @property
    def adds_up(self) -> bool:
        return self.of.adds_up

    def additive(self, belief: ArrayLike) -> Floats:
        return self.of.additive(belief)

    def from_additive(self, sums: ArrayLike) -> Floats:
        return self.of.from_additive(sums)

    @property
    def plays_for_spread(self) -> float:  # type: ignore[override]
        return self.of.plays_for_spread

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"mirrored {self.of.name}"

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.of.coordinates

    @property
    def summed(self) -> bool:  # type: ignore[override]
        return self.of.summed

    @property
    def support(self) -> str:  # type: ignore[override]
        return f"the negatives of {self.of.support}"

    @property
    def parameters(self) -> int:  # type: ignore[override]
        return self.of.parameters

    @property
    def reach(self) -> tuple[float, ...]:
        return self.of.reach

    @property
    def least(self) -> tuple[float, ...]:
        return self.of.least

    @property
    def law(self) -> Floats:
        return self.of.law

    @property
    def reward_range(self) -> tuple[float, float] | None:
        ends = self.of.reward_range
        return None if ends is None else (-ends[1], -ends[0])

    @property
    def mean_range(self) -> tuple[float, float]:
        low, high = self.of.mean_range
        return (-high, -low)

    @property
    def bregman(self) -> bool:
        return self.of.bregman

    def default_prior(self) -> tuple[float, ...]:
        return self.of.default_prior()

    def supports(self, reward: float) -> bool:
        return self.of.supports(-reward)

    def completed(self, belief: tuple[float, ...]) -> tuple[float, ...]:
        return self.of.completed(belief)

    def proper(self, belief: Sequence[float]) -> bool:
        return self.of.proper(belief)

    def check_prior(self, prior: ArrayLike) -> tuple[float, ...]:
        return self.of.check_prior(prior)

    def _proper_words(self) -> str:
        return self.of._proper_words()

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return self.of.parameter_of(-mean)

    def spread_of(self, theta: Sequence[float]) -> float:
        return self.of.spread_of(theta)
