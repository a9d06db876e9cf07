"""Log-normal rewards: their logarithms are Gaussian, with a Normal-gamma(m, κ, α, β) belief.

The mean of a reward, exp(μ + 1/(2λ)), has no expectation under any Normal-gamma distribution: the
chance of a tiny precision λ falls too slowly. The expected reward is therefore the mean at the
belief's median of 1/λ, exp(m + s²/2) with s² = β/(α − 1/3), next to the median of the distribution
of the mean. All chances, quantiles and draws are those of the exact distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from belman import chance
from belman.beliefs import normal_gamma
from belman.beliefs.stretched import STEP, gamma_fall, gamma_reach, half_length, position
from belman.engine import kernel
from belman.families import gaussian_unknown
from belman.families.family import ANY, LEAST
from belman.families.family_kernels import FamilyKernels
from belman.families.searches import searched, searched_quantile
from belman.registry import register
from belman.special import log_excess, log_ratio, normal_cdf, normal_quantile

#: The default belief on the variance of the logarithms: Gamma(3, 4) on its inverse, so half of it
#: lies between 1 and 2.3; and the weight of the typical reward, in rewards.
PRIOR_SHAPE, PRIOR_RATE, PRIOR_WEIGHT = 3.0, 4.0, 0.05

_LEAST_VARIANCE = 1e-12  # of logarithms, also of an arm without terms
_LARGEST = 690.0  # of a logarithm, so that squares and sums of few are numbers too


@kernel
def bounded_exp(x):
    return math.exp(min(max(x, -_LARGEST), _LARGEST))


@kernel
def update(constants, belief, reward):
    gaussian_unknown.update(constants, belief, math.log(reward))


@kernel
def log_variance(belief):
    """Near the median of 1/λ, which is β/(α − 1/3) for all but small α."""
    return belief[3] / (belief[2] - 1.0 / 3.0 if belief[2] > 1.0 else 2.0 / 3.0 * belief[2])


@kernel
def expected_reward(constants, belief):
    return bounded_exp(belief[0] + 0.5 * log_variance(belief))


@kernel
def relative_variance(constants, belief):
    """Of a reward, over the square of its mean."""
    return math.expm1(min(log_variance(belief), 0.5 * _LARGEST))


@kernel
def spread(constants, belief):
    mean = min(max(expected_reward(constants, belief), 1e-75), 1e75)
    return mean * mean * relative_variance(constants, belief)


@kernel
def mean_cdf(constants, belief, x):
    """E[Φ(√(κλ)(ln x − m − 1/(2λ)))] over λ ~ Gamma(α, β)."""
    if x <= 0.0:
        return 0.0
    far = math.log(x) - belief[0]
    shape = belief[2]
    left, right = gamma_reach(shape, -1.0), gamma_reach(shape, 1.0)
    length = half_length(left, right)
    count = math.ceil(length / STEP)
    below, total = 0.0, 0.0
    for k in range(-count, count + 1):
        w, weight = position(left, right, length, k * STEP)
        weight *= math.exp(-gamma_fall(shape, w))
        rate = shape / belief[3] * bounded_exp(w)
        total += weight
        below += weight * normal_cdf(math.sqrt(belief[1] * rate) * (far - 0.5 / rate))
    return below / total


@kernel
def sample_mean(constants, belief, rng):
    log_rate = chance.log_gamma_draw(rng, belief[2]) - math.log(belief[3])
    normal = chance.normal(rng)
    wide = normal / math.sqrt(belief[1]) * bounded_exp(-0.5 * log_rate)
    return bounded_exp(belief[0] + wide + 0.5 * bounded_exp(-log_rate))


@kernel
def mean(constants, theta):
    return bounded_exp(theta[0] + 0.5 / theta[1])


@kernel
def reward(constants, theta, uniform):
    return bounded_exp(theta[0] + normal_quantile(uniform) / math.sqrt(theta[1]))


@kernel
def _log_variance_of(mean, spread):
    return math.log1p(max(spread / max(mean * mean, 1e-300), _LEAST_VARIANCE))


@kernel
def _least(gap, variance):
    """The least KL to log-normal distributions whose mean is e^gap times as large, over their
    variance.

    y, the rival's location less our own, solves y² + (2 + σ² + 2Δ)y + 2Δ = 0 up to its sign.
    """
    half = 1.0 + 0.5 * variance + gap
    root = math.hypot(gap + 0.5 * variance, math.sqrt(1.0 + variance))
    shift = -2.0 * gap / (half + root) if half > 0.0 else root - half
    rise = 2.0 * (shift + gap)  # of the variance
    rival = variance + rise
    return 0.5 * (log_excess(variance / rival, -rise / rival) + shift * shift / rival)


@kernel
def d(constants, mean, other, spread):
    """The least KL over the rival's variance of logarithms, the arm's own from mean and spread."""
    if not other > 0.0:
        return math.inf
    return _least(log_ratio(other, mean), _log_variance_of(mean, spread))


@kernel
def terms(constants, mean, spread, out):
    out[0] = math.log(max(mean, 1e-300))
    out[1] = _log_variance_of(mean, spread)


@kernel
def weights(constants, mean, out):
    out[0] = math.log(max(mean, 1e-300))


@kernel
def evidence(terms, arm, weights):
    return _least(weights[0] - terms[0, arm], max(terms[1, arm], _LEAST_VARIANCE))


imagine, worth, sample = gaussian_unknown.imagine, gaussian_unknown.worth, gaussian_unknown.sample
mean_quantile, common_mean = searched_quantile(mean_cdf, expected_reward), searched(d)
KERNELS = FamilyKernels.of(normal_gamma.KERNELS, globals())


@register
class LogNormal(gaussian_unknown.OfTwoParameters):
    """Rewards above 0 with Gaussian logarithms; the belief on those is Normal-gamma.

    `typical` is about what a reward brings, to a factor of some hundreds: the weak default prior
    is (ln typical, 0.05, 3, 4). `sigma` is the deviation of the logarithms that a simulation draws;
    a belief never reads it.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default (ln typical, 0.05, 3, 4).
    typical
        About what a reward brings, to a factor of some hundreds.
    sigma
        The standard deviation of the logarithms that a simulation draws; a belief never reads it.

    >>> arm = LogNormal(typical=30.0)
    >>> belief = arm.update(arm.update(arm.prior, 20.0), 60.0)
    >>> round(arm.expected_reward(belief), 1)
    62.1
    """

    typical: float = 1.0
    sigma: float = 1.0

    name = "log-normal"
    mean_range = (0.0, math.inf)
    support = "numbers above 0"
    kernels = KERNELS
    closed_form = False
    mean_exists = False
    no_joint = "the normaliser E[exp(X/τ)] of rewards with log-normal tails is infinite"
    positive = ("typical", "sigma")
    least = (ANY, LEAST, LEAST, LEAST)

    def default_prior(self) -> tuple[float, ...]:
        return (math.log(self.typical), PRIOR_WEIGHT, PRIOR_SHAPE, PRIOR_RATE)

    def supports(self, reward: float) -> bool:
        return reward > 0.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        inside = self._mean_between(mean, *self.mean_range)
        return (math.log(inside) - 0.5 * self.sigma**2, self.sigma**-2)

    def spread_of(self, theta: Sequence[float]) -> float:
        return self.mean_of(theta) ** 2 * math.expm1(1.0 / theta[1])
