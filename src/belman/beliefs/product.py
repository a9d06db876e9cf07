"""A chance and, independent of it, something else: Beta(α, β) beside another belief.

Coordinates and natural parameters are those of the Beta distribution and then those of the other;
whatever geometry asks is asked of both, and added.
"""

from __future__ import annotations

from belman.beliefs import beta
from belman.beliefs.belief import BeliefKernels
from belman.engine import factory, kernel


@factory
def beside_chance(other: BeliefKernels, parameters: int) -> BeliefKernels:
    """The belief on (p, θ), p ~ Beta and θ by `other`, a distribution of one parameter or of
    more.
    """
    one = parameters == 1

    @kernel
    def natural(constants, belief, out):
        beta.natural(constants, belief[:2], out[:2])
        other.natural(constants, belief[2:], out[2:])

    @kernel
    def from_natural(constants, eta, out):
        beta.natural(constants, eta[:2], out[:2])
        other.from_natural(constants, eta[2:], out[2:])

    @kernel
    def blend(constants, belief, rival, weight):
        beta.blend(constants, belief[:2], rival[:2], weight)
        other.blend(constants, belief[2:], rival[2:], weight)

    @kernel
    def log_partition(constants, belief):
        return beta.log_partition(constants, belief[:2]) + other.log_partition(
            constants, belief[2:]
        )

    @kernel
    def mean_parameters(constants, belief, out):
        beta.mean_parameters(constants, belief[:2], out[:2])
        other.mean_parameters(constants, belief[2:], out[2:])

    @kernel
    def solve(constants, target, belief):
        beta.solve(constants, target[:2], belief[:2])
        other.solve(constants, target[2:], belief[2:])

    @kernel
    def metric(constants, belief, out):
        for i in range(2):
            for j in range(2, belief.size):
                out[i, j] = 0.0
                out[j, i] = 0.0
        beta.metric(constants, belief[:2], out[:2, :2])
        other.metric(constants, belief[2:], out[2:, 2:])

    @kernel
    def divergence(constants, belief, rival):
        chances = beta.divergence(constants, belief[:2], rival[:2])
        return chances + other.divergence(constants, belief[2:], rival[2:])

    if one:

        @kernel
        def log_density(constants, belief, theta):
            chance = beta.log_density(constants, belief[:2], theta[0])
            return chance + other.log_density(constants, belief[2:], theta[1])

    else:

        @kernel
        def log_density(constants, belief, theta):
            chance = beta.log_density(constants, belief[:2], theta[0])
            return chance + other.log_density(constants, belief[2:], theta[1:])

    return BeliefKernels.of(locals())
