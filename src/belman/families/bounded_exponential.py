"""Exponential rewards cut at a bound, min(X, M), with a Gamma(α, β) belief on the rate θ of X.

A reward at the bound says only that X was larger, so it adds its length to β and nothing to α.
"""

from __future__ import annotations

import math

import numpy as np

from belman import chance
from belman.beliefs import gamma
from belman.engine import kernel
from belman.families.family import SUM_LEAST, SUM_REACH, Family
from belman.families.family_kernels import FamilyKernels
from belman.families.gamma_known_shape import exponential_reward as uncut_reward
from belman.families.gamma_known_shape import rate_quantile
from belman.families.gamma_known_shape import sample as sample_rate
from belman.registry import register
from belman.special import digamma_gap, gamma_survival, log_excess, log_gamma, trigamma

_STEPS = 60
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_HALVINGS = 36
_NOTHING = 60.0  # nats below the largest value of an integrand


@kernel
def mean_of_rate(rate, bound):
    """(1 − e^(−θM))/θ."""
    if rate * bound > 1e-12:
        return -math.expm1(-rate * bound) / rate
    return bound * (1.0 - 0.5 * rate * bound)


@kernel
def rate_of_mean(mean, bound):
    """The inverse of `mean_of_rate`: Newton on logarithms, nearly straight, from a series."""
    share = min(max(mean / bound, 1e-150), 1.0 - 1e-16)
    rest = 1.0 - share
    x = (
        rest * (2.0 + rest * (4.0 / 3.0 + rest * 10.0 / 9.0))
        if share > 0.5
        else -math.expm1(-1.0 / share) / share
    )
    for _ in range(_STEPS):
        value = mean_of_rate(x, 1.0)
        slope = (math.exp(-x) - value) / x
        step = math.log(share / value) * value / (slope * x)
        x *= math.exp(min(max(step, -2.0), 2.0))
        if abs(step) < 1e-8:
            break
    return x / bound


@kernel
def update(constants, belief, reward):
    if reward < constants[0]:
        belief[0] += 1.0
    belief[1] += reward


@kernel
def expected_reward(constants, belief):
    """β/(α − 1)·(1 − (β/(β + M))^(α − 1)), and its limit β ln(1 + M/β) at α = 1: always finite."""
    order = belief[0] - 1.0
    log_gain = math.log1p(constants[0] / belief[1])
    if abs(order * log_gain) < 1e-9:
        return belief[1] * log_gain * (1.0 - 0.5 * order * log_gain)
    return -belief[1] / order * math.expm1(-order * log_gain)


@kernel
def worth(constants, belief):
    """α over the chance of a reward below the bound, since one at the bound adds nothing to α."""
    return belief[0] / -math.expm1(-belief[0] * math.log1p(constants[0] / belief[1]))


@kernel
def imagine(constants, belief):
    expected = expected_reward(constants, belief)
    belief[0] += -math.expm1(-belief[0] * math.log1p(constants[0] / belief[1]))
    belief[1] += expected


@kernel
def mean_cdf(constants, belief, x):
    if x <= 0.0:
        return 0.0
    if x >= constants[0]:
        return 1.0
    return gamma_survival(belief[0], belief[1] * rate_of_mean(x, constants[0]))


@kernel
def mean_quantile(constants, belief, level, upper):
    return mean_of_rate(rate_quantile(belief, level, not upper), constants[0])


@kernel
def sample_mean(constants, belief, rng):
    return mean_of_rate(chance.gamma(rng, belief[0]) / belief[1], constants[0])


@kernel
def mean(constants, theta):
    return mean_of_rate(theta[0], constants[0])


@kernel
def reward(constants, theta, uniform):
    return min(uncut_reward(constants, theta, uniform), constants[0])


@kernel
def d(constants, mean, other, spread):
    """(1 − e^(−θM))·(θ′/θ − 1 − ln(θ′/θ)) for the rates θ, θ′ of the two means."""
    rate, rival = rate_of_mean(mean, constants[0]), rate_of_mean(other, constants[0])
    ratio = rival / rate
    return -math.expm1(-rate * constants[0]) * log_excess(ratio, (rival - rate) / rate)


@kernel
def terms(constants, mean, spread, out):
    """P ln θ − P, P and μ, with P = 1 − e^(−θM) the chance of a reward below the bound."""
    rate = rate_of_mean(mean, constants[0])
    below = -math.expm1(-rate * constants[0])
    out[0] = below * math.log(rate) - below
    out[1] = below
    out[2] = mean


@kernel
def weights(constants, mean, out):
    rate = rate_of_mean(mean, constants[0])
    out[0] = -math.log(rate)
    out[1] = rate


@kernel
def evidence(terms, arm, weights):
    return terms[0, arm] + weights[0] * terms[1, arm] + weights[1] * terms[2, arm]


@kernel
def common_mean(constants, weight, mean, spread, other_weight, other, other_spread):
    """At the rate (wP + vP′)/(wμ + vμ′): rewards below the bound per length of all rewards."""
    below = -math.expm1(-rate_of_mean(mean, constants[0]) * constants[0])
    other_below = -math.expm1(-rate_of_mean(other, constants[0]) * constants[0])
    total = weight * mean + other_weight * other
    return mean_of_rate((weight * below + other_weight * other_below) / total, constants[0])


@kernel
def _panel(low, high, pull, a, b, peak):
    """∫ g = e^(pull·x − peak)(b/(b + x))^a from low to high, with two derivatives in a and b.

    u = −ln(1 + x/b) and v = ax/(b(b + x)) are the derivatives of ln g.
    """
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    one, in_a, in_b, in_aa, in_ab, in_bb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(_NODES.size):
        x = middle + half * _NODES[k]
        u = -math.log1p(x / b)
        share = x / (b * (b + x))
        v = a * share
        mass = half * _WEIGHTS[k] * math.exp(pull * x + a * u - peak)
        one += mass
        in_a += mass * u
        in_b += mass * v
        in_aa += mass * u * u
        in_ab += mass * (u * v + share)
        in_bb += mass * (v * v - v * (1.0 / b + 1.0 / (b + x)))
    return one, in_a, in_b, in_aa, in_ab, in_bb


@kernel
def tilted(constants, a, b, pull):
    """A + ln Z̄, Z̄ = 1 + s ∫₀ᴹ e^(sx) (β/(β + x))^α dx, on a mesh fine at both ends.

    ln of the integrand is convex, so that between ends it is below both: panels that add nothing
    are left out, and no panel is halved on which it is nearly straight.
    """
    bound = constants[0]
    peak = max(0.0, pull * bound - a * math.log1p(bound / b))
    one, in_a, in_b, in_aa, in_ab, in_bb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for end in (0.0, bound):
        far, ahead = 0.5 * bound, abs(end - 0.5 * bound)
        steep = max(pull, a / (b + 0.5 * end), 2.0 / (b + end))
        height = pull * ahead - a * math.log1p(ahead / b)
        for k in range(_HALVINGS):
            far = 0.5 * far if k < _HALVINGS - 1 and steep * far > 1.0 else 0.0
            before, below = ahead, height
            ahead = abs(end - far)
            height = pull * ahead - a * math.log1p(ahead / b)
            if max(height, below) > peak - _NOTHING:
                low, high = min(ahead, before), max(ahead, before)
                panel = _panel(low, high, pull, a, b, peak)
                one += panel[0]
                in_a += panel[1]
                in_b += panel[2]
                in_aa += panel[3]
                in_ab += panel[4]
                in_bb += panel[5]
            if far == 0.0:
                break
    scale = pull / (math.exp(-peak) + pull * one)
    slope_a, slope_b = scale * in_a, scale * in_b
    value = log_gamma(a) - a * math.log(b) + peak + math.log(math.exp(-peak) + pull * one)
    return (
        value,
        math.log(a / b) - digamma_gap(a) + slope_a,
        -a / b + slope_b,
        trigamma(a) + scale * in_aa - slope_a * slope_a,
        -1.0 / b + scale * in_ab - slope_a * slope_b,
        a / (b * b) + scale * in_bb - slope_b * slope_b,
    )


KERNELS = FamilyKernels.of(gamma.KERNELS, {**globals(), "sample": sample_rate})


@register
class BoundedExponential(Family):
    """Exponential rewards cut at a bound; the belief on the rate is Gamma(α, β), else Gamma(1, 1).

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Gamma(1, 1).
    bound
        The largest reward, at which longer ones are cut.

    >>> arm = BoundedExponential(bound=10.0)
    >>> [float(x) for x in arm.update(arm.update(arm.prior, 4.0), 10.0)]
    [2.0, 15.0]
    """

    bound: float = 1.0

    name = "bounded-exponential"
    coordinates = ("alpha", "beta")
    kernels = KERNELS
    positive = ("bound",)
    reach = SUM_REACH  # the sum of rewards has a scale of its own
    least = SUM_LEAST

    @property
    def support(self) -> str:  # type: ignore[override]
        """Which rewards can be, in words."""
        return f"numbers from 0 to the bound {self.bound:g}"

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, self.bound)

    def supports(self, reward: float) -> bool:
        return 0.0 <= reward <= self.bound

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        """The rate of the uncut distribution with that mean."""
        return (1.0 / self._mean_between(mean, 0.0, math.inf),)
