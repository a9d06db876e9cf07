"""Gamma rewards of known shape k and unknown rate θ, with a Gamma(α, β) belief on the rate.

Exponential rewards are those of shape 1: E[X] is β/(α − 1); the paper's α/β is E[θ].
Erlang waiting times (whole k) and scaled chi-squared rewards (k = ν/2 for ν degrees of freedom) are
of this family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from belman import chance
from belman.beliefs import gamma
from belman.engine import kernel
from belman.families.family import SUM_LEAST, SUM_REACH, Family, Floats
from belman.families.family_kernels import FamilyKernels
from belman.registry import register
from belman.special import gamma_quantile, gamma_survival, gamma_upper_quantile, ratio_excess


@kernel
def update(constants, belief, reward):
    belief[0] += constants[0]
    belief[1] += reward


@kernel
def expected_reward(constants, belief):
    """kβ/(α − 1), which is E[k/θ], not k/E[θ]."""
    return constants[0] * belief[1] / (belief[0] - 1.0) if belief[0] > 1.0 else math.inf


@kernel
def worth(constants, belief):
    """(α − 1)/k, or 0 while E[X] is infinite."""
    return max(belief[0] - 1.0, 0.0) / constants[0]


@kernel
def imagine(constants, belief):
    """At the expected reward, or at k/E[θ] while that is infinite."""
    shape = belief[0] - 1.0 if belief[0] > 1.0 else belief[0]
    belief[1] += constants[0] * belief[1] / shape
    belief[0] += constants[0]


@kernel
def rate_quantile(belief, level, upper):
    if upper:
        return gamma_upper_quantile(belief[0], level) / belief[1]
    return gamma_quantile(belief[0], level) / belief[1]


@kernel
def mean_cdf(constants, belief, x):
    return gamma_survival(belief[0], belief[1] * constants[0] / x) if x > 0.0 else 0.0


@kernel
def mean_quantile(constants, belief, level, upper):
    rate = rate_quantile(belief, level, not upper)
    return constants[0] / rate if rate > 0.0 else math.inf


@kernel
def sample(constants, belief, rng, theta):
    theta[0] = chance.gamma(rng, belief[0]) / belief[1]


@kernel
def sample_mean(constants, belief, rng):
    return constants[0] * belief[1] * math.exp(min(-chance.log_gamma_draw(rng, belief[0]), 700.0))


@kernel
def mean(constants, theta):
    return constants[0] / theta[0]


@kernel
def reward(constants, theta, uniform):
    return gamma_quantile(constants[0], uniform) / theta[0]


@kernel
def d(constants, mean, other, spread):
    """k (μ/μ′ − 1 − ln(μ/μ′))."""
    return constants[0] * ratio_excess(mean, other, mean - other)


@kernel
def terms(constants, mean, spread, out):
    out[0] = -constants[0] * (math.log(max(mean, 1e-300)) + 1.0)
    out[1] = constants[0] * mean


@kernel
def weights(constants, mean, out):
    inside = max(mean, 1e-300)
    out[0] = 1.0 / inside
    out[1] = constants[0] * math.log(inside)


KERNELS = FamilyKernels.of(gamma.KERNELS, globals())


@dataclass(frozen=True)
class OfRate(Family):
    """Rewards from 0 up, with a Gamma(α, β) belief on their rate.

    The sum of rewards has a scale of its own, and only must not overflow.
    """

    summed = True
    mean_range = (0.0, math.inf)
    coordinates = ("alpha", "beta")
    support = "numbers from 0 up"
    reach = SUM_REACH
    least = SUM_LEAST
    no_joint = "the normaliser E[exp(X/τ)] of unbounded rewards with gamma tails is infinite"

    def supports(self, reward: float) -> bool:
        return reward >= 0.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return (float(self.constants[0]) / self._mean_between(mean, *self.mean_range),)


@register
class GammaKnownShape(OfRate):
    """Gamma rewards with known shape k; the belief on their rate is Gamma(α, β), else Gamma(1, 1).

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Gamma(1, 1).
    shape
        The shape k of the rewards' Gamma distribution.

    >>> erlang = GammaKnownShape(shape=2.0)
    >>> [float(x) for x in erlang.update(erlang.prior, 3.0)]
    [3.0, 4.0]
    """

    shape: float = 1.0

    name = "gamma"
    kernels = KERNELS
    positive = ("shape",)


@kernel
def exponential_reward(constants, theta, uniform):
    return -math.log1p(-uniform) / theta[0]


@register
class Exponential(OfRate):
    """Exponential rewards; the belief on their rate is Gamma(α, β), by default Gamma(1, 1).

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Gamma(1, 1).

    >>> arm = Exponential()
    >>> arm.expected_reward(arm.prior), arm.expected_reward(arm.update(arm.prior, 3.0))
    (inf, 4.0)
    """

    name = "exponential"
    kernels = replace(KERNELS, reward=exponential_reward)

    @property
    def constants(self) -> Floats:
        return np.ones(1)
