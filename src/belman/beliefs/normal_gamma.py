"""Normal-gamma(m, κ, α, β): the belief on a location μ and a precision λ.

S(μ, λ) = (ln λ, −λ, λμ, −λμ²/2), η = (α − ½, β + κm²/2, κm, κ), A = ln Γ(α) − α ln β − ½ ln κ.
"""

from __future__ import annotations

import math

from belman.beliefs import gamma
from belman.beliefs.belief import BeliefKernels
from belman.engine import kernel
from belman.special import digamma_gap, log_gamma, log_power, ratio_excess, trigamma


@kernel
def natural(constants, belief, out):
    mean, precision = belief[0], belief[1]
    out[0] = belief[2] - 0.5
    out[1] = belief[3] + 0.5 * precision * mean * mean
    out[2] = precision * mean
    out[3] = precision


@kernel
def from_natural(constants, eta, out):
    mean = eta[2] / eta[3]
    out[0] = mean
    out[1] = eta[3]
    out[2] = eta[0] + 0.5
    out[3] = max(eta[1] - 0.5 * eta[2] * mean, 1e-300)


@kernel
def blend(constants, belief, other, weight):
    kept, added = weight * belief[1], (1.0 - weight) * other[1]
    precision = kept + added
    shift = other[0] - belief[0]
    belief[0] += shift * added / precision
    belief[1] = precision
    belief[2] = weight * belief[2] + (1.0 - weight) * other[2]
    apart = 0.5 * kept * added / precision * shift * shift
    belief[3] = weight * belief[3] + (1.0 - weight) * other[3] + apart


@kernel
def log_partition(constants, belief):
    return log_gamma(belief[2]) - belief[2] * math.log(belief[3]) - 0.5 * math.log(belief[1])


@kernel
def mean_parameters(constants, belief, out):
    mean, rate = belief[0], belief[2] / belief[3]
    out[0] = math.log(rate) - digamma_gap(belief[2])
    out[1] = -rate
    out[2] = rate * mean
    out[3] = -0.5 * (1.0 / belief[1] + rate * mean * mean)


@kernel
def solve(constants, target, belief):
    """The Gamma recipe for (α, β), then the location and its precision in closed form."""
    rate = -target[1]
    gap = max(math.log(rate) - target[0], 1e-17)
    mean = target[2] / rate
    belief[0] = mean
    # far from 0 the difference is rounding: no spread below that, and so no NaN
    square = target[2] * mean
    belief[1] = 1.0 / max(-2.0 * target[3] - square, 1e-16 * square + 1e-300)
    belief[2] = gamma.solve_shape(gap, belief[2])
    belief[3] = belief[2] / rate


@kernel
def metric(constants, belief, out):
    mean, precision, shape, rate = belief[0], belief[1], belief[2], belief[3]
    lam, lam_variance = shape / rate, shape / (rate * rate)
    square = mean * mean
    out[0, 0] = trigamma(shape)
    out[0, 1] = -1.0 / rate
    out[0, 2] = mean / rate
    out[0, 3] = -0.5 * square / rate
    out[1, 1] = lam_variance
    out[1, 2] = -mean * lam_variance
    out[1, 3] = 0.5 * square * lam_variance
    out[2, 2] = lam / precision + square * lam_variance
    out[2, 3] = -mean * lam / precision - 0.5 * mean * square * lam_variance
    fourth = 0.25 * square * square * lam_variance
    out[3, 3] = 0.5 / (precision * precision) + square * lam / precision + fourth
    for i in range(4):
        for j in range(i):
            out[i, j] = out[j, i]


@kernel
def divergence(constants, belief, other):
    shift = belief[0] - other[0]
    location = 0.5 * ratio_excess(other[1], belief[1], other[1] - belief[1])
    moved = 0.5 * other[1] * belief[2] / belief[3] * shift * shift
    return gamma.divergence(constants, belief[2:], other[2:]) + location + moved


@kernel
def log_density(constants, belief, theta):
    """Of (μ, λ), over dμ dλ."""
    shift, lam = theta[0] - belief[0], theta[1]
    rate = belief[3] + 0.5 * belief[1] * shift * shift
    gamma_part = log_power(belief[2] - 0.5, lam) - lam * rate
    return gamma_part - 0.5 * math.log(2.0 * math.pi) - log_partition(constants, belief)


KERNELS = BeliefKernels.of(globals())
