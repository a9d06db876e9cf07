"""Poisson(θ) rewards with a Gamma(α, β) belief on θ."""

from __future__ import annotations

import math

from belman import chance
from belman.beliefs import gamma
from belman.engine import kernel
from belman.families.family import Family
from belman.families.family_kernels import FamilyKernels
from belman.families.gamma_known_shape import rate_quantile
from belman.registry import register
from belman.special import entropy_excess, gamma_cdf, gamma_survival, normal_quantile


@kernel
def update(constants, belief, reward):
    belief[0] += reward
    belief[1] += 1.0


@kernel
def expected_reward(constants, belief):
    return belief[0] / belief[1]


@kernel
def worth(constants, belief):
    return belief[1]


@kernel
def mean_cdf(constants, belief, x):
    return gamma_cdf(belief[0], belief[1] * x) if x > 0.0 else 0.0


@kernel
def mean_quantile(constants, belief, level, upper):
    return rate_quantile(belief, level, upper)


@kernel
def sample_mean(constants, belief, rng):
    return chance.gamma(rng, belief[0]) / belief[1]


@kernel
def reward(constants, theta, uniform):
    """The smallest count whose distribution function reaches `uniform`."""
    rate = theta[0]
    if rate <= 0.0:
        return 0.0
    if rate < 20.0:
        count, mass = 0.0, math.exp(-rate)
        total = mass
        while total < uniform and mass > 1e-300:
            count += 1.0
            mass *= rate / count
            total += mass
        return count
    # P(X ≤ n) = Q(n + 1, θ): walk from the normal approximation
    count = max(0.0, math.floor(rate + math.sqrt(rate) * normal_quantile(uniform)))
    while count > 0.0 and gamma_survival(count, rate) >= uniform:
        count -= 1.0
    while gamma_survival(count + 1.0, rate) < uniform:
        count += 1.0
    return count


@kernel
def d(constants, mean, other, spread):
    """μ ln(μ/μ′) − μ + μ′."""
    if other <= 0.0:
        return 0.0 if mean == other else math.inf
    return other * entropy_excess(mean / other, (mean - other) / other)


@kernel
def terms(constants, mean, spread, out):
    out[0] = mean * math.log(mean) - mean if mean > 0.0 else 0.0
    out[1] = mean


@kernel
def weights(constants, mean, out):
    inside = max(mean, 1e-300)
    out[0] = -math.log(inside)
    out[1] = inside


KERNELS = FamilyKernels.of(gamma.KERNELS, globals())


@register
class Poisson(Family):
    """Counts 0, 1, 2, … of unknown rate; the belief on it is Gamma(α, β), by default Gamma(1, 1).

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Gamma(1, 1).

    >>> arm = Poisson()
    >>> arm.expected_reward(arm.update(arm.prior, 4))
    2.5
    """

    name = "poisson"
    summed = True
    mean_range = (0.0, math.inf)
    coordinates = ("alpha", "beta")
    support = "whole numbers from 0 up"
    kernels = KERNELS
    no_joint = (
        "the normaliser of Poisson rewards turns the focal term round: it would seek the worst arm"
    )

    def supports(self, reward: float) -> bool:
        return reward >= 0.0 and reward == math.floor(reward)

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        if mean == 0.0:
            return (0.0,)
        return (self._mean_between(mean, *self.mean_range),)
