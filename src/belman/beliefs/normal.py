"""Normal(m, precision κ): S(θ) = (θ, −θ²/2), η = (κm, κ), A = η₁²/(2η₂) − ½ ln η₂."""

from __future__ import annotations

import math

from belman.beliefs.belief import BeliefKernels
from belman.engine import kernel
from belman.special import ratio_excess


@kernel
def natural(constants, belief, out):
    out[0] = belief[1] * belief[0]
    out[1] = belief[1]


@kernel
def from_natural(constants, eta, out):
    out[0] = eta[0] / eta[1]
    out[1] = eta[1]


@kernel
def blend(constants, belief, other, weight):
    precision = weight * belief[1] + (1.0 - weight) * other[1]
    belief[0] = (weight * belief[1] * belief[0] + (1.0 - weight) * other[1] * other[0]) / precision
    belief[1] = precision


@kernel
def log_partition(constants, belief):
    return 0.5 * belief[1] * belief[0] * belief[0] - 0.5 * math.log(belief[1])


@kernel
def mean_parameters(constants, belief, out):
    out[0] = belief[0]
    out[1] = -0.5 * (belief[0] * belief[0] + 1.0 / belief[1])


@kernel
def solve(constants, target, belief):
    """Closed form: the mean is the first target, the variance what remains of the second."""
    belief[0] = target[0]
    # far from 0 the difference is rounding: no variance below that, and so no NaN
    square = target[0] * target[0]
    belief[1] = 1.0 / max(-2.0 * target[1] - square, 1e-16 * square + 1e-300)


@kernel
def metric(constants, belief, out):
    mean, variance = belief[0], 1.0 / belief[1]
    out[0, 0] = variance
    out[0, 1] = -mean * variance
    out[1, 0] = -mean * variance
    out[1, 1] = 0.5 * variance * variance + mean * mean * variance


@kernel
def divergence(constants, belief, other):
    shift = belief[0] - other[0]
    width = 0.5 * ratio_excess(other[1], belief[1], other[1] - belief[1])
    return width + 0.5 * other[1] * shift * shift


@kernel
def log_density(constants, belief, theta):
    shift = theta - belief[0]
    return 0.5 * math.log(belief[1] / (2.0 * math.pi)) - 0.5 * belief[1] * shift * shift


KERNELS = BeliefKernels.of(globals())
