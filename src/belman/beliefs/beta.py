"""Beta(α, β), belief on a chance: S(θ) = (ln θ, ln(1 − θ)), η = (α, β), A = ln B(α, β)."""

from __future__ import annotations

import math

from belman.beliefs.belief import BeliefKernels
from belman.engine import kernel
from belman.special import (
    digamma_gap,
    digamma_gap_trigamma,
    entropy_excess,
    lift_count,
    lift_excess,
    log_beta,
    log_power,
    ratio_excess,
    stirling_excess,
    trigamma,
)

_STEPS = 200
_TINY = 1e-300


@kernel
def natural(constants, belief, out):
    out[0] = belief[0]
    out[1] = belief[1]


@kernel
def blend(constants, belief, other, weight):
    belief[0] = weight * belief[0] + (1.0 - weight) * other[0]
    belief[1] = weight * belief[1] + (1.0 - weight) * other[1]


@kernel
def log_partition(constants, belief):
    return log_beta(belief[0], belief[1])


@kernel
def mean_parameters(constants, belief, out):
    total = belief[0] + belief[1]
    gap = digamma_gap(total)
    out[0] = math.log(belief[0] / total) - digamma_gap(belief[0]) + gap
    out[1] = math.log(belief[1] / total) - digamma_gap(belief[1]) + gap


@kernel
def metric(constants, belief, out):
    total = trigamma(belief[0] + belief[1])
    out[0, 0] = trigamma(belief[0]) - total
    out[1, 1] = trigamma(belief[1]) - total
    out[0, 1] = -total
    out[1, 0] = -total


@kernel
def solve(constants, target, belief):
    """Newton on the convex A(η) − ⟨η, target⟩ in (α, β), with steps kept inside the domain."""
    a, b = belief[0], belief[1]
    noise = 1e-15 * (1.0 + abs(target[0]) + abs(target[1]))
    for _ in range(_STEPS):
        c = a + b
        gap_a, tri_a = digamma_gap_trigamma(a)
        gap_b, tri_b = digamma_gap_trigamma(b)
        gap_c, tri_c = digamma_gap_trigamma(c)
        off_a = math.log(a / c) - gap_a + gap_c - target[0]
        off_b = math.log(b / c) - gap_b + gap_c - target[1]
        determinant = tri_a * tri_b - tri_c * (tri_a + tri_b)
        step_a = -(off_a * (tri_b - tri_c) + off_b * tri_c) / determinant
        step_b = -(off_b * (tri_a - tri_c) + off_a * tri_c) / determinant
        size = max(abs(step_a) / a, abs(step_b) / b)
        shrink = 1.0
        if step_a < -0.8 * a:
            shrink = -0.8 * a / step_a
        if step_b * shrink < -0.8 * b:
            shrink = -0.8 * b / step_b
        a = max(a + shrink * step_a, _TINY)
        b = max(b + shrink * step_b, _TINY)
        if size < 2e-6 or abs(off_a) + abs(off_b) <= noise or not size < math.inf:
            break
    belief[0] = a
    belief[1] = b


@kernel
def divergence(constants, belief, other):
    return divergence_between(belief[0], belief[1], other[0], other[1])


@kernel
def divergence_between(a, b, new_a, new_b):
    """KL between Beta distributions as a sum of terms that do not cancel: small arguments are
    lifted.

    The leading order is a Bernoulli KL.
    """
    count_a, count_b = lift_count(min(a, new_a)), lift_count(min(b, new_b))
    x, y, new_x, new_y = a + count_a, b + count_b, new_a + count_a, new_b + count_b
    z, new_z = x + y, new_x + new_y
    step_a, step_b = new_a - a, new_b - b
    step = step_a + step_b
    # p̄ − p of the success chances x/z, from exact differences
    shift = (step_a * y - step_b * x) / (z * new_z)
    success = x / z * entropy_excess((new_x / new_z) / (x / z), shift * z / x)
    failure = y / z * entropy_excess((new_y / new_z) / (y / z), -shift * z / y)
    half = ratio_excess(new_x, x, step_a) + ratio_excess(new_y, y, step_b)
    half -= ratio_excess(new_z, z, step)
    small = stirling_excess(new_x, x, step_a) + stirling_excess(new_y, y, step_b)
    small -= stirling_excess(new_z, z, step)
    lifted = lift_excess(new_a, a, step_a, count_a) + lift_excess(new_b, b, step_b, count_b)
    lifted -= lift_excess(new_a + new_b, a + b, step, count_a + count_b)
    return max(0.0, new_z * (success + failure) + 0.5 * half + small + lifted)


@kernel
def log_density(constants, belief, theta):
    return log_density_at(belief[0], belief[1], theta)


@kernel
def log_density_at(a, b, theta):
    power = b - 1.0
    failure = power * math.log1p(-theta) if theta < 1.0 else log_power(power, 0.0)
    return log_power(a - 1.0, theta) + failure - log_beta(a, b)


KERNELS = BeliefKernels.of(globals())
