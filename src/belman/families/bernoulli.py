"""Bernoulli(θ) rewards with a Beta(α, β) belief; rewards in [0, 1] update pseudo-counts."""

from __future__ import annotations

import math

from belman import chance
from belman.beliefs import beta
from belman.engine import kernel
from belman.families.family import Family
from belman.families.family_kernels import FamilyKernels
from belman.registry import register
from belman.special import (
    beta_cdf,
    beta_quantile,
    beta_upper_quantile,
    digamma,
    entropy_excess,
    log_beta,
    trigamma,
)

_EDGE = 1e-16
_STRONGEST = 300.0  # a pull beyond which nothing changes but numbers that underflow


@kernel
def update(constants, belief, reward):
    belief[0] += reward
    belief[1] += 1.0 - reward


@kernel
def expected_reward(constants, belief):
    return belief[0] / (belief[0] + belief[1])


@kernel
def worth(constants, belief):
    return belief[0] + belief[1]


@kernel
def chance_below(a, b, x):
    """P(θ ≤ x) of θ ~ Beta(a, b)."""
    return beta_cdf(a, b, min(max(x, 0.0), 1.0))


@kernel
def chance_quantile(a, b, level, upper):
    """The quantile of θ ~ Beta(a, b) at a level, counted from above if `upper`."""
    return beta_upper_quantile(a, b, level) if upper else beta_quantile(a, b, level)


@kernel
def mean_cdf(constants, belief, x):
    return chance_below(belief[0], belief[1], x)


@kernel
def mean_quantile(constants, belief, level, upper):
    return chance_quantile(belief[0], belief[1], level, upper)


@kernel
def sample_mean(constants, belief, rng):
    return chance.beta(rng, belief[0], belief[1])


@kernel
def reward(constants, theta, uniform):
    return 1.0 if uniform >= 1.0 - theta[0] else 0.0


@kernel
def d(constants, mean, other, spread):
    """μ ln(μ/μ′) + (1 − μ) ln((1 − μ)/(1 − μ′))."""
    if other <= 0.0 or other >= 1.0:
        return 0.0 if mean == other else math.inf
    shift = mean - other
    win = other * entropy_excess(mean / other, shift / other)
    lost = 1.0 - other
    return win + lost * entropy_excess((1.0 - mean) / lost, -shift / lost)


@kernel
def terms(constants, mean, spread, out):
    win = mean * math.log(mean) if mean > 0.0 else 0.0
    lose = (1.0 - mean) * math.log1p(-mean) if mean < 1.0 else 0.0
    out[0] = win + lose
    out[1] = mean


@kernel
def weights(constants, mean, out):
    inside = min(max(mean, _EDGE), 1.0 - _EDGE)
    lose = math.log1p(-inside)
    out[0] = lose - math.log(inside)
    out[1] = -lose


@kernel
def tilted(constants, a, b, pull):
    """A_s = ln B(α, β) + ln(α eˢ + β) − ln(α + β), grouped for α → 0: ψ(α) + 1/α = ψ(1 + α)."""
    c = a + b
    fade = math.exp(-min(pull, _STRONGEST))
    e = b * fade
    heavy = a + e
    value = log_beta(a, b) + pull + math.log(heavy) - math.log(c)
    total = digamma(c) + 1.0 / c
    common = 1.0 / (c * c) - trigamma(c)
    slope_a = digamma(1.0 + a) - e / (a * heavy) - total
    slope_b = digamma(b) + fade / heavy - total
    bend_aa = trigamma(1.0 + a) + e / (a * heavy) * ((2.0 * a + e) / (a * heavy)) + common
    bend_ab = common - fade / (heavy * heavy)
    bend_bb = trigamma(b) - fade * fade / (heavy * heavy) + common
    return value, slope_a, slope_b, bend_aa, bend_ab, bend_bb


@kernel
def coins(constants, prior, plays, total, squares):
    return 1.0


KERNELS = FamilyKernels.of(beta.KERNELS, globals())


@register
class Bernoulli(Family):
    """Rewards 0 and 1 (or in between) of unknown chance θ; the belief is Beta(α, β), or Beta(1, 1).

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Beta(1, 1).

    >>> arm = Bernoulli()
    >>> belief = arm.update(arm.prior, 1)
    >>> [float(x) for x in belief], round(arm.expected_reward(belief), 3)
    ([2.0, 1.0], 0.667)
    """

    name = "bernoulli"
    summed = True
    coin = True
    coordinates = ("alpha", "beta")
    support = "numbers from 0 to 1"
    kernels = KERNELS
    reward_range = (0.0, 1.0)

    def supports(self, reward: float) -> bool:
        return 0.0 <= reward <= 1.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        if not 0.0 <= mean <= 1.0:
            self._mean_between(mean, 0.0, 1.0)
        return (float(mean),)
