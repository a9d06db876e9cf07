"""A chance and, independent of it, something else: Beta(α, β) beside another belief.

Coordinates and natural parameters are those of the Beta law and then those of the other; whatever
geometry asks is asked of both, and added.
"""

from __future__ import annotations

from belman.beliefs import beta
from belman.beliefs.belief import BeliefKernels
from belman.engine import factory, kernel


@factory
def beside_chance(other: BeliefKernels, parameters: int) -> BeliefKernels:
    """The belief on (p, θ), p ~ Beta and θ by `other`, a law of one parameter or of more."""
    one = parameters == 1

    @kernel
    def natural(law, belief, out):
        beta.natural(law, belief[:2], out[:2])
        other.natural(law, belief[2:], out[2:])

    @kernel
    def from_natural(law, eta, out):
        beta.natural(law, eta[:2], out[:2])
        other.from_natural(law, eta[2:], out[2:])

    @kernel
    def blend(law, belief, rival, weight):
        beta.blend(law, belief[:2], rival[:2], weight)
        other.blend(law, belief[2:], rival[2:], weight)

    @kernel
    def log_partition(law, belief):
        return beta.log_partition(law, belief[:2]) + other.log_partition(law, belief[2:])

    @kernel
    def mean_parameters(law, belief, out):
        beta.mean_parameters(law, belief[:2], out[:2])
        other.mean_parameters(law, belief[2:], out[2:])

    @kernel
    def solve(law, target, belief):
        beta.solve(law, target[:2], belief[:2])
        other.solve(law, target[2:], belief[2:])

    @kernel
    def metric(law, belief, out):
        for i in range(2):
            for j in range(2, belief.size):
                out[i, j] = 0.0
                out[j, i] = 0.0
        beta.metric(law, belief[:2], out[:2, :2])
        other.metric(law, belief[2:], out[2:, 2:])

    @kernel
    def divergence(law, belief, rival):
        chances = beta.divergence(law, belief[:2], rival[:2])
        return chances + other.divergence(law, belief[2:], rival[2:])

    if one:

        @kernel
        def log_density(law, belief, theta):
            chance = beta.log_density(law, belief[:2], theta[0])
            return chance + other.log_density(law, belief[2:], theta[1])

    else:

        @kernel
        def log_density(law, belief, theta):
            chance = beta.log_density(law, belief[:2], theta[0])
            return chance + other.log_density(law, belief[2:], theta[1:])

    return BeliefKernels.of(locals())
