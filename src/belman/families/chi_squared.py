"""Chi-squared rewards, k degrees of freedom: θ = k/2, T(x) = ln(x/2), B(θ) = ln Γ(θ), E[X] = k."""

from __future__ import annotations

import math

from belman.beliefs.quadrature import RewardDistribution
from belman.engine import kernel
from belman.families.gamma_known_shape import GammaKnownShape
from belman.families.generic import OneParameter
from belman.registry import register
from belman.special import digamma, gamma_quantile, log_gamma

_LEAST = 1e-300


@kernel
def statistic(constants, x):
    return math.log(0.5 * x)


@kernel
def log_partition(constants, theta):
    return log_gamma(theta)


@kernel
def slope(constants, theta):
    return digamma(theta)


@kernel
def mean(constants, theta):
    return 2.0 * theta


@kernel
def parameter(constants, mean):
    return 0.5 * mean


@kernel
def quantile(constants, theta, uniform):
    """Never 0, the logarithm of which is no statistic, although small θ come that near to it."""
    return max(2.0 * gamma_quantile(theta, uniform), _LEAST)


@register
class ChiSquared(OneParameter):
    """Chi-squared rewards; the belief on θ = k/2 is ∝ exp(χθ) Γ(θ)^(−ν), proper for ν > 0, all χ.

    The default prior (0, 1) is worth one reward of 2.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default (0, 1).

    >>> arm = ChiSquared()
    >>> [round(float(x), 3) for x in arm.update(arm.prior, 6.0)]
    [1.099, 2.0]
    """

    name = "chi-squared"
    support = "positive numbers"
    reward_distribution = RewardDistribution(
        statistic, log_partition, mean, quantile, slope, parameter
    )
    no_joint = GammaKnownShape.no_joint
    range = (0.0, math.inf)
    mean_range = (0.0, math.inf)

    def supports(self, reward: float) -> bool:
        return reward > 0.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return (0.5 * self._mean_between(mean, *self.mean_range),)
