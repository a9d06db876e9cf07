"""Geometric(θ) rewards 1, 2, … (trials to a success of chance θ), a Beta(α, β) belief on θ."""

from __future__ import annotations

import math

from belman.beliefs import beta
from belman.engine import kernel
from belman.families import bernoulli
from belman.families.family import Family
from belman.families.family_kernels import FamilyKernels
from belman.registry import register
from belman.special import beta_cdf, beta_survival

_FAR = 1e4
_TINY = 1e-300
_LONG = 2.0**53  # from where every float is a whole number


@kernel
def update(constants, belief, reward):
    belief[0] += 1.0
    belief[1] += reward - 1.0


@kernel
def expected_reward(constants, belief):
    """(α + β − 1)/(α − 1) = E[1/θ]."""
    return (belief[0] + belief[1] - 1.0) / (belief[0] - 1.0) if belief[0] > 1.0 else math.inf


@kernel
def worth(constants, belief):
    """α − 1, or 0 while E[X] is infinite."""
    return max(belief[0] - 1.0, 0.0)


@kernel
def imagine(constants, belief):
    """At the expected reward, or at 1/E[θ] while that is infinite."""
    shape = belief[0] - 1.0 if belief[0] > 1.0 else belief[0]
    update(constants, belief, 1.0 + belief[1] / shape)


@kernel
def mean_cdf(constants, belief, x):
    """P(θ ≥ 1/x), asked of 1 − θ where 1 − 1/x is exact enough: several times faster there."""
    if x <= 1.0:
        return 0.0
    if x < _FAR:
        return beta_cdf(belief[1], belief[0], (x - 1.0) / x)
    return beta_survival(belief[0], belief[1], 1.0 / x)


@kernel
def mean_quantile(constants, belief, level, upper):
    chance = bernoulli.chance_quantile(belief[0], belief[1], level, not upper)
    return 1.0 / chance if chance > 0.0 else math.inf


@kernel
def sample_mean(constants, belief, rng):
    return 1.0 / max(bernoulli.sample_mean(constants, belief, rng), 1e-300)


@kernel
def mean(constants, theta):
    return 1.0 / theta[0]


@kernel
def reward(constants, theta, uniform):
    if theta[0] >= 1.0:
        return 1.0
    turns = math.log1p(-uniform) / min(math.log1p(-theta[0]), -_TINY)
    return turns if turns > _LONG else max(1.0, math.ceil(turns))


@kernel
def d(constants, mean, other, spread):
    """μ times the KL between the chances 1/μ and 1/μ′ of the trials."""
    return mean * bernoulli.d(constants, 1.0 / mean, 1.0 / other, spread)


@kernel
def terms(constants, mean, spread, out):
    rest = mean - 1.0
    tail = rest * math.log(rest) if rest > 0.0 else 0.0
    out[0] = tail - mean * math.log(mean)
    out[1] = mean


@kernel
def weights(constants, mean, out):
    rest = max(mean - 1.0, 1e-16)
    out[0] = math.log(mean / rest)
    out[1] = math.log(rest)


KERNELS = FamilyKernels.of(beta.KERNELS, {**globals(), "sample": bernoulli.KERNELS.sample})


@register
class Geometric(Family):
    """Trials to a first success, 1, 2, …; the belief on its chance is Beta(α, β), else Beta(1, 1).

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Beta(1, 1).

    >>> arm = Geometric()
    >>> arm.expected_reward(arm.update(arm.prior, 3))
    4.0
    """

    name = "geometric"
    summed = True
    mean_range = (1.0, math.inf)
    coordinates = ("alpha", "beta")
    support = "whole numbers from 1 up"
    kernels = KERNELS
    no_joint = "the normaliser E[exp(X/τ)] of unbounded rewards with geometric tails is infinite"

    def supports(self, reward: float) -> bool:
        return reward >= 1.0 and reward == math.floor(reward)

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        if mean == 1.0:
            return (1.0,)
        return (1.0 / self._mean_between(mean, *self.mean_range),)
