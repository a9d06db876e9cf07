"""Costs: a family's rewards negated, so that least cost is largest reward for every policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter

from belman.engine import factory, kernel
from belman.families.family import Family
from belman.families.family_kernels import FamilyKernels


@factory
def mirrored(base: FamilyKernels) -> FamilyKernels:
    """The kernels of the family whose rewards are the negatives of another's."""

    @kernel
    def update(constants, belief, reward):
        base.update(constants, belief, -reward)

    @kernel
    def expected_reward(constants, belief):
        """Infinite stays plus infinity: an unknown arm is tried first, be it cost or reward."""
        expected = base.expected_reward(constants, belief)
        return -expected if math.isfinite(expected) else math.inf

    @kernel
    def mean_cdf(constants, belief, x):
        return 1.0 - base.mean_cdf(constants, belief, -x)

    @kernel
    def mean_quantile(constants, belief, level, upper):
        return -base.mean_quantile(constants, belief, level, not upper)

    @kernel
    def sample_mean(constants, belief, rng):
        return -base.sample_mean(constants, belief, rng)

    @kernel
    def mean(constants, theta):
        return -base.mean(constants, theta)

    @kernel
    def reward(constants, theta, uniform):
        return -base.reward(constants, theta, 1.0 - uniform)

    @kernel
    def d(constants, mean, other, spread):
        return base.d(constants, -mean, -other, spread)

    @kernel
    def terms(constants, mean, spread, out):
        base.terms(constants, base.reflected(constants, -mean), spread, out)

    @kernel
    def terms_of(family, constants, belief, worth, mean, spread, mirrored, out):
        reflected = base.reflected(constants, -mean)
        base.terms_of(base, constants, belief, worth, reflected, spread, not mirrored, out)

    @kernel
    def weights(constants, mean, out):
        base.weights(constants, base.reflected(constants, -mean), out)

    @kernel
    def moved(constants, spread, mean, to):
        return base.moved(constants, spread, -mean, -to)

    @kernel
    def pooled(constants, beliefs, prior_mean, prior_worth, prior_spread, pool):
        return base.pooled(constants, beliefs, -prior_mean, prior_worth, prior_spread, pool)

    @kernel
    def sharpness(constants, mean, spread):
        return base.sharpness(constants, -mean, spread)

    @kernel
    def coins(constants, prior, plays, total, squares):
        return base.coins(constants, prior, plays, -total, squares)

    @kernel
    def told(family, constants, belief, reward, coins):
        base.told(base, constants, belief, -reward, coins)

    @kernel
    def foretells(family, constants, belief):
        return base.foretells(base, constants, belief)

    @kernel
    def common_mean(constants, weight, mean, spread, other_weight, other, other_spread):
        return -base.common_mean(
            constants, weight, -mean, spread, other_weight, -other, other_spread
        )

    return FamilyKernels.of(base.belief, {**vars(base), "tilted": None, **locals()})


#: What costs have in common with the rewards that they mirror.
_SAME = (
    "closed_form", "mean_exists", "conjugate", "foretells", "adds_up", "additive", "from_additive",
    "plays_for_spread", "coordinates", "summed", "parameters", "reach", "least", "constants",
    "bregman",
    "default_prior", "completed", "proper", "check_prior", "spread_of", "_proper_words",
)  # fmt: skip


def _forwarded(kind: type[Mirror]) -> type[Mirror]:
    """Let members be those of the family behind it; a decorator."""
    for name in _SAME:
        setattr(kind, name, property(attrgetter(f"of.{name}")))
    return kind


@dataclass(frozen=True)
@_forwarded
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
        """Those of the family, with rewards counted from the other end."""
        return mirrored(self.of.kernels)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"mirrored {self.of.name}"

    @property
    def support(self) -> str:  # type: ignore[override]
        return f"the negatives of {self.of.support}"

    @property
    def reward_range(self) -> tuple[float, float] | None:
        ends = self.of.reward_range
        return None if ends is None else (-ends[1], -ends[0])

    @property
    def mean_range(self) -> tuple[float, float]:
        low, high = self.of.mean_range
        return (-high, -low)

    def supports(self, reward: float) -> bool:
        return self.of.supports(-reward)

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return self.of.parameter_of(-mean)
