"""Gaussian rewards, mean and variance unknown: a Normal-gamma(m, κ, α, β) belief."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from belman import chance
from belman.beliefs import normal_gamma
from belman.engine import kernel
from belman.families.family import ANY, LARGEST, LARGEST_REWARD, LEAST, Family
from belman.families.family_kernels import FamilyKernels
from belman.families.gaussian import Gaussian
from belman.registry import register
from belman.special import normal_quantile, student_cdf, student_quantile

_HALVINGS = 60


@kernel
def update(constants, belief, reward):
    shift = reward - belief[0]
    belief[3] += 0.5 * shift * shift * belief[1] / (belief[1] + 1.0)
    belief[1] += 1.0
    belief[0] += shift / belief[1]
    belief[2] += 0.5


@kernel
def expected_reward(constants, belief):
    return belief[0]


@kernel
def worth(constants, belief):
    return belief[1]


@kernel
def imagine(constants, belief):
    """E[X] = m, E[X²] = m² + the predictive variance (1/E[λ] while E[1/λ] is infinite)."""
    shape = belief[2] - 1.0 if belief[2] > 1.0 else belief[2]
    belief[3] += 0.5 * belief[3] / shape * (belief[1] + 1.0) / belief[1]
    belief[1] += 1.0
    belief[2] += 0.5


@kernel
def spread(constants, belief):
    return belief[3] / belief[2]


@kernel
def scale(belief):
    """Of the Student distribution of the mean, which has 2α degrees of freedom."""
    return math.sqrt(belief[3] / (belief[2] * belief[1]))


@kernel
def mean_cdf(constants, belief, x):
    return student_cdf(2.0 * belief[2], (x - belief[0]) / scale(belief))


@kernel
def mean_quantile(constants, belief, level, upper):
    score = student_quantile(2.0 * belief[2], level) * scale(belief)
    return belief[0] - score if upper else belief[0] + score


@kernel
def sample(constants, belief, rng, theta):
    """θ = (mean, precision)."""
    theta[1] = max(chance.gamma(rng, belief[2]) / belief[3], 1e-300)
    theta[0] = belief[0] + chance.normal(rng) / math.sqrt(theta[1] * belief[1])


@kernel
def sample_mean(constants, belief, rng):
    log_rate = chance.log_gamma_draw(rng, belief[2])
    normal = chance.normal(rng)
    wide = math.exp(min(-0.5 * log_rate, 700.0))
    return belief[0] + normal * math.sqrt(belief[3] / belief[1]) * wide


@kernel
def reward(constants, theta, uniform):
    return theta[0] + normal_quantile(uniform) / math.sqrt(theta[1])


@kernel
def d(constants, mean, other, spread):
    """½ ln(1 + (μ − μ′)²/s²): the least KL over the rival's variance, s² the arm's own."""
    shift = mean - other
    return 0.5 * math.log1p(shift * shift / spread)


@kernel
def terms(constants, mean, spread, out):
    out[0] = mean
    out[1] = 1.0 / max(spread, 1e-300)


@kernel
def weights(constants, mean, out):
    out[0] = mean


@kernel
def evidence(terms, arm, weights):
    shift = terms[0, arm] - weights[0]
    return 0.5 * math.log1p(shift * shift * terms[1, arm])


@kernel
def _pull(u, weight, spread, other_weight, other_spread):
    """The slope, a cubic, of w d + v d′ at share u between the means, up to a positive factor."""
    back = 1.0 - u
    return weight * u * (other_spread + back * back) - other_weight * back * (spread + u * u)


@kernel
def _zero_between(low, high, weight, spread, other_weight, other_spread):
    """Where the slope, of one sign at `low` and another at `high`, is zero."""
    rising = _pull(high, weight, spread, other_weight, other_spread) > 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if (_pull(middle, weight, spread, other_weight, other_spread) > 0.0) == rising:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@kernel
def common_mean(constants, weight, mean, spread, other_weight, other, other_spread):
    """The better of two minima of w d + v d′: its cubic slope turns where a quadratic is 0."""
    gap = other - mean
    if gap == 0.0:
        return mean
    near, far = spread / (gap * gap), other_spread / (gap * gap)
    total = weight + other_weight
    # slope(u) = total u³ − (2w + v) u² + (w(1 + far) + v near) u − v near
    bend = -(2.0 * weight + other_weight) / total
    tilt = (weight * (1.0 + far) + other_weight * near) / total
    inner = bend * bend - 3.0 * tilt
    first = second = 0.5
    if inner > 0.0:
        root = math.sqrt(inner)
        first = min(max((-bend - root) / 3.0, 0.0), 1.0)
        second = min(max((-bend + root) / 3.0, 0.0), 1.0)
    left = right = -1.0
    if _pull(first, weight, near, other_weight, far) > 0.0:
        left = _zero_between(0.0, first, weight, near, other_weight, far)
    if _pull(second, weight, near, other_weight, far) <= 0.0:
        right = _zero_between(second, 1.0, weight, near, other_weight, far)
    left = mean + gap * left if left >= 0.0 else math.nan
    right = mean + gap * right if right >= 0.0 else math.nan
    if math.isnan(left) or math.isnan(right):
        return right if math.isnan(left) else left
    at_left = weight * d(constants, mean, left, spread) + other_weight * d(
        constants, other, left, other_spread
    )
    mine, theirs = d(constants, mean, right, spread), d(constants, other, right, other_spread)
    return left if at_left <= weight * mine + other_weight * theirs else right


KERNELS = FamilyKernels.of(normal_gamma.KERNELS, globals())


@dataclass(frozen=True)
class OfTwoParameters(Family):
    """A family with a Normal-gamma belief, on a location and a precision."""

    coordinates = ("mean", "kappa", "alpha", "beta")
    parameters = 2

    def proper(self, belief: Sequence[float]) -> bool:
        return all(value > 0.0 for value in belief[1:])

    def _proper_words(self) -> str:
        return "the last three positive"


@register
class GaussianUnknown(OfTwoParameters):
    """Rewards of unknown mean and variance; the belief is Normal-gamma(mean, kappa, alpha, beta).

    The default prior (0, 0.01, 1, 1) is weak in the mean and expects a variance near 1: give your
    own for another scale. `sigma` is the standard deviation of the rewards that a simulation draws;
    a belief never reads it.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default (0, 0.01, 1, 1).
    sigma
        The standard deviation of the rewards that a simulation draws; a belief never reads it.

    >>> arm = GaussianUnknown(prior=(0.0, 1.0, 1.0, 1.0))
    >>> [float(x) for x in arm.update(arm.prior, 2.0)]
    [1.0, 2.0, 1.5, 2.0]
    """

    sigma: float = 1.0

    name = "gaussian-unknown"
    support = "finite numbers"
    kernels = KERNELS
    no_joint = Gaussian.no_joint
    positive = ("sigma",)
    #: Its scale is learnt, so a mean may be large; squares of rewards must not overflow.
    reach = (LARGEST_REWARD, LARGEST, LARGEST, LARGEST_REWARD**2 * LARGEST)
    least = (ANY, LEAST, LEAST, LEAST / LARGEST_REWARD**2)

    def default_prior(self) -> tuple[float, ...]:
        return (0.0, 0.01, 1.0, 1.0)

    def supports(self, reward: float) -> bool:
        return True

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return (self._mean_between(mean, -math.inf, math.inf), self.sigma**-2)

    def spread_of(self, theta: Sequence[float]) -> float:
        return 1.0 / float(theta[1])
