"""Beta(θ, b) rewards, b known: T = ln x, E[X] = θ/(θ + b). At b = 1 belief is Gamma(ν + 1, −χ)."""

from __future__ import annotations

import math

from belman.beliefs.quadrature import RewardDistribution
from belman.engine import kernel
from belman.families.generic import OneParameter
from belman.registry import register
from belman.special import beta_quantile, digamma_gap, log_beta

_LEAST, _LARGEST = 1e-300, 1.0 - 2.0**-53


@kernel
def statistic(constants, x):
    return math.log(x)


@kernel
def log_partition(constants, theta):
    return log_beta(theta, constants.b)


@kernel
def slope(constants, theta):
    """ψ(θ) − ψ(θ + b)."""
    total = theta + constants.b
    log_share = math.log(theta / total) if theta < constants.b else math.log1p(-constants.b / total)
    return log_share - digamma_gap(theta) + digamma_gap(total)


@kernel
def mean(constants, theta):
    return theta / (theta + constants.b)


@kernel
def parameter(constants, mean):
    return constants.b * mean / max(1.0 - mean, _LEAST)


@kernel
def floor(constants):
    """The belief falls as θ^ν at 0, and where χ is small as θ^(bν) for a long way."""
    return -1.0 / max(1.0, constants.b)


@kernel
def quantile(constants, theta, uniform):
    """Strictly inside (0, 1), although small θ and b come as near to the ends as numbers do."""
    return min(max(beta_quantile(theta, constants.b, uniform), _LEAST), _LARGEST)


@register
class BetaRewards(OneParameter):
    """Rewards in (0, 1), Beta(θ, b); the belief is ∝ exp(χθ) B(θ, b)^(−ν), proper for ν > 0, χ < 0.

    The default prior (−1, 1) is worth one reward of 1/e.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default (−1, 1).
    b
        The second parameter of the rewards' Beta distribution.

    >>> arm = BetaRewards(b=2.0)
    >>> [round(float(x), 3) for x in arm.update(arm.prior, 0.5)]
    [-1.693, 2.0]
    """

    b: float = 1.0

    name = "beta"
    support = "numbers strictly between 0 and 1"
    reward_distribution = RewardDistribution(
        statistic, log_partition, mean, quantile, slope, parameter, floor
    )
    range = (0.0, math.inf)
    statistic_range = (-math.inf, 0.0)
    mean_range = reward_range = (0.0, 1.0)
    positive = ("b",)

    def supports(self, reward: float) -> bool:
        return 0.0 < reward < 1.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        inside = self._mean_between(mean, *self.mean_range)
        return (self.b * inside / (1.0 - inside),)
