"""Positive rewards without a distribution: their mean by moments, with a Normal-gamma belief on its
log.

ln M | τ ~ Normal(ln x̄, precision κτ), τ ~ Gamma(α, β): the central limit theorem for the average x̄
on the scale of logarithms, where it is skewed to the right as averages of positive numbers are.
1/τ is the variance of a reward over the square of its mean. It is learnt from one-step-ahead
errors, e² = ((x − x̄)/x̄)² with the average *before* x: for long tails these are larger than
deviations from the average of all, by about as much as the average of few is too small. An error
above the average counts 1 + e/n times among n rewards: where one brings about as much as all before
it, larger ones are still to come. The first reward is weighed against the typical one on the scale
of logarithms. ln M has Student's distribution, and M no expectation under it; the expected reward
is its median, x̄.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from belman.beliefs import normal_gamma
from belman.engine import kernel
from belman.families import gaussian_unknown
from belman.families.family_kernels import FamilyKernels
from belman.families.log_normal import LogNormal, bounded_exp
from belman.families.searches import searched
from belman.registry import register
from belman.special import normal_quantile, ratio_excess

#: The default belief on 1/τ, and the weight of the typical reward, in rewards.
PRIOR_SHAPE, PRIOR_RATE, PRIOR_WEIGHT = 1.0, 3.0, 0.15

_LARGEST_ERROR = 4.0  # times the rewards so far: after a tiny first reward every other is huge
#: The largest mean whose square is far from overflow.
FAR = 1e150
_FARTHEST = 200.0  # a larger ratio of a reward to the average counts as e to this power


@kernel
def update(constants, belief, reward):
    apart = min(math.log(reward) - belief[0], _FARTHEST)
    if belief[1] < 1.0:
        gaussian_unknown.update(constants, belief, belief[0] + apart)
        return
    error = math.expm1(apart)
    bounded = min(error, _LARGEST_ERROR * (belief[1] + 1.0))
    unseen = 1.0 + max(bounded, 0.0) / (belief[1] + 1.0)
    belief[3] += 0.5 * bounded * bounded * unseen * belief[1] / (belief[1] + 1.0)
    belief[1] += 1.0
    belief[0] += math.log1p(error / belief[1])
    belief[2] += 0.5


@kernel
def imagine(constants, belief):
    """A reward of the mean, with the error that the belief expects."""
    shape = belief[2] - 1.0 if belief[2] > 1.0 else belief[2]
    belief[3] += 0.5 * belief[3] / shape * belief[1] / (belief[1] + 1.0)
    belief[1] += 1.0
    belief[2] += 0.5


@kernel
def expected_reward(constants, belief):
    return bounded_exp(belief[0])


@kernel
def relative_variance(constants, belief):
    return belief[3] / belief[2]


@kernel
def spread(constants, belief):
    mean = min(max(expected_reward(constants, belief), 1e-75), 1e75)
    return mean * mean * relative_variance(constants, belief)


@kernel
def mean_cdf(constants, belief, x):
    return gaussian_unknown.mean_cdf(constants, belief, math.log(x)) if x > 0.0 else 0.0


@kernel
def mean_quantile(constants, belief, level, upper):
    score = gaussian_unknown.mean_quantile(constants, belief, level, upper)
    if score > 705.0:
        return math.inf
    return math.exp(score) if score > -705.0 else 0.0


@kernel
def sample_mean(constants, belief, rng):
    return bounded_exp(gaussian_unknown.sample_mean(constants, belief, rng))


@kernel
def mean(constants, theta):
    return bounded_exp(theta[0])


@kernel
def reward(constants, theta, uniform):
    """Simulations draw log-normal rewards of that mean and relative variance."""
    variance = math.log1p(1.0 / theta[1])
    return bounded_exp(theta[0] - 0.5 * variance + normal_quantile(uniform) * math.sqrt(variance))


@kernel
def shape_of(mean, spread):
    """k = μ²/s², the shape of the gamma distribution with that mean and variance."""
    if mean > FAR:
        return 1.0 / max(spread / mean / mean, 1e-12)
    return mean * mean / max(spread, 1e-12 * mean * mean + 1e-300)


@kernel
def d(constants, mean, other, spread):
    """k (μ/μ′ − 1 − ln(μ/μ′)): of gamma distributions with the arm's own mean and variance, k =
    μ²/s².
    """
    return shape_of(mean, spread) * ratio_excess(mean, other, mean - other)


@kernel
def terms(constants, mean, spread, out):
    shape = shape_of(mean, spread)
    out[0] = -shape * (math.log(max(mean, 1e-300)) + 1.0)
    out[1] = shape * mean
    out[2] = shape


@kernel
def weights(constants, mean, out):
    inside = max(mean, 1e-300)
    out[0] = 1.0 / inside
    out[1] = math.log(inside)


@kernel
def evidence(terms, arm, weights):
    return terms[0, arm] + weights[0] * terms[1, arm] + weights[1] * terms[2, arm]


worth, sample = gaussian_unknown.worth, gaussian_unknown.sample
common_mean = searched(d)
KERNELS = FamilyKernels.of(normal_gamma.KERNELS, globals())


@register
class Positive(LogNormal):
    """Rewards above 0 of any distribution; the belief on the log of their mean is Normal-gamma.

    `typical` is about what a reward brings: the weak default prior is (ln typical, 0.15, 1, 3).
    `sigma` is the deviation of the logarithms of rewards that a simulation draws, log-normal ones;
    a belief never reads it. Beliefs are by moments, and Bayes' only where there are many rewards.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default (ln typical, 0.15, 1, 3).
    typical
        About what a reward brings.
    sigma
        The standard deviation of the logarithms of rewards in a simulation; a belief never reads
        it.

    >>> arm = Positive(typical=30.0)
    >>> belief = arm.update(arm.update(arm.prior, 20.0), 60.0)
    >>> round(arm.expected_reward(belief), 1)
    39.2
    """

    name = "positive"
    kernels = KERNELS
    closed_form = True
    conjugate = False
    no_joint = "the normaliser E[exp(X/τ)] of rewards of any distribution is not known"

    def default_prior(self) -> tuple[float, ...]:
        return (math.log(self.typical), PRIOR_WEIGHT, PRIOR_SHAPE, PRIOR_RATE)

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        inside = self._mean_between(mean, *self.mean_range)
        return (math.log(inside), 1.0 / math.expm1(self.sigma**2))

    def spread_of(self, theta: Sequence[float]) -> float:
        return self.mean_of(theta) ** 2 / float(theta[1])
