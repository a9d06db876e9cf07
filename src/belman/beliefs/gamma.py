"""Gamma(α, rate β): the belief on a rate. S(θ) = (ln θ, −θ), η = (α, β), A = ln Γ(α) − α ln β."""

from __future__ import annotations

import math

from belman.beliefs import beta
from belman.beliefs.belief import BeliefKernels
from belman.engine import kernel
from belman.special import (
    digamma_gap,
    digamma_gap_trigamma,
    lift_count,
    lift_excess,
    log_excess,
    log_gamma,
    log_power,
    ratio_excess,
    stirling_excess,
    trigamma,
)

_STEPS = 200


@kernel
def log_partition(constants, belief):
    return log_gamma(belief[0]) - belief[0] * math.log(belief[1])


@kernel
def mean_parameters(constants, belief, out):
    out[0] = math.log(belief[0] / belief[1]) - digamma_gap(belief[0])
    out[1] = -belief[0] / belief[1]


@kernel
def metric(constants, belief, out):
    out[0, 0] = trigamma(belief[0])
    out[1, 1] = belief[0] / (belief[1] * belief[1])
    out[0, 1] = -1.0 / belief[1]
    out[1, 0] = out[0, 1]


@kernel
def solve_shape(gap, guess):
    """The α with ln α − ψ(α) = gap > 0: Newton in 1/α, where it is nearly straight at both ends."""
    if not guess > 0.0:
        guess = (3.0 - gap + math.sqrt((gap - 3.0) * (gap - 3.0) + 24.0 * gap)) / (12.0 * gap)
    inverse = 1.0 / guess
    for _ in range(_STEPS):
        shape = 1.0 / inverse
        result, tri = digamma_gap_trigamma(shape)
        slope = (tri * shape - 1.0) * shape
        step = (gap - result) / slope
        inverse += max(step, -0.8 * inverse)
        if abs(step) < 1e-7 * inverse or not abs(step) < math.inf:
            break
    return 1.0 / inverse


@kernel
def solve(constants, target, belief):
    """One equation, ψ(α) − ln α = E[ln θ] − ln E[θ], then β = α/E[θ]."""
    mean = -target[1]
    gap = max(math.log(mean) - target[0], 1e-17)
    belief[0] = solve_shape(gap, belief[0])
    belief[1] = belief[0] / mean


@kernel
def divergence(constants, belief, other):
    """KL between Gamma distributions as a sum of terms that do not cancel (see beta.divergence)."""
    a, new_a = belief[0], other[0]
    count = lift_count(min(a, new_a))
    x, new_x = a + count, new_a + count
    step = new_a - a
    turn = other[1] - belief[1]
    scale = (other[1] / belief[1]) * (x / new_x)
    near = (turn / belief[1] - step / x) * (x / new_x)
    leading = new_x * log_excess(scale, near if abs(near) < 0.3 else scale - 1.0)
    shape = 0.5 * ratio_excess(new_x, x, step) + stirling_excess(new_x, x, step)
    shape += lift_excess(new_a, a, step, count)
    return max(0.0, leading + shape - count * ratio_excess(other[1], belief[1], turn))


@kernel
def log_density(constants, belief, theta):
    return log_power(belief[0] - 1.0, theta) - belief[1] * theta - log_partition(constants, belief)


KERNELS = BeliefKernels.of({**globals(), "natural": beta.natural, "blend": beta.blend})
