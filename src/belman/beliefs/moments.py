"""The belief on the mean of a distribution on [0, 1], given two moments of its rewards.

Coordinates are (s, α, β): α and β add up the rewards x and 1 − x, s what coins lack, x(1 − x). A
distribution drawn from the Dirichlet process of these sums, ν = α + β and m = α/ν, has a mean of
expectation m and variance v/(ν + 1), v = m(1 − m) − s/ν; the belief on it is the Beta distribution
with that mean and variance, Beta(mc, (1 − m)c) with c + 1 = (ν + 1) m(1 − m)/v. For coins s = 0 and
c = ν. Beside it stands, independent of the mean, the share λ ~ Beta(ν, 1) that the first weight of
the process leaves to the others: it knows ν. η = (ν, mc, (1 − m)c), S = (ln λ, ln μ, ln(1 − μ)).
"""

from __future__ import annotations

import math

from belman.beliefs import beta
from belman.beliefs.belief import BeliefKernels
from belman.engine import kernel
from belman.special import log_beta, log_power, ratio_excess, trigamma

_LARGEST = 1e15  # the sharpest Beta distribution
_SHARPEST = 1e-12  # the least share of a coin's variance
_ROUNDING = 1e-15


@kernel
def of_mean(belief):
    """The parameters (mc, (1 − m)c) of the Beta distribution of the mean, exactly (α, β) for
    coins.
    """
    return of_sums(belief[0], belief[1], belief[2])


@kernel
def of_sums(soft, alpha, beyond):
    """The same from the three sums."""
    if soft == 0.0:
        return alpha, beyond
    worth = alpha + beyond
    left = 1.0 - soft / alpha * (worth / beyond)  # of a coin's variance
    left = max(left, _SHARPEST, (worth + 1.0) / _LARGEST)
    sharper = max((worth + 1.0) / left - 1.0, 1e-300) / worth
    return alpha * sharper, beyond * sharper


@kernel
def natural(constants, belief, out):
    worth = belief[1] + belief[2]
    first, second = of_mean(belief)
    out[0] = worth
    out[1] = first
    out[2] = second


@kernel
def from_natural(constants, eta, out):
    """s = m(1 − m) ν (c − ν)/(c + 1)."""
    worth, first, second = eta[0], eta[1], eta[2]
    count = first + second
    excess = count - worth
    if abs(excess) <= _ROUNDING * worth:
        out[0], out[1], out[2] = 0.0, first, second
    else:
        mean, rest = first / count, second / count
        out[0] = mean * rest * worth * (excess / (count + 1.0))
        out[1] = worth * mean
        out[2] = worth * rest


@kernel
def blend(constants, belief, other, weight):
    """Sums fade as those of rewards that count less: what is blended is the coordinates."""
    for i in range(3):
        belief[i] = weight * belief[i] + (1.0 - weight) * other[i]


@kernel
def log_partition(constants, belief):
    first, second = of_mean(belief)
    return log_beta(first, second) - math.log(belief[1] + belief[2])


@kernel
def mean_parameters(constants, belief, out):
    worth = belief[1] + belief[2]
    first, second = of_mean(belief)
    out[1] = first
    out[2] = second
    beta.mean_parameters(constants, out[1:], out[1:])
    out[0] = -1.0 / worth


@kernel
def solve(constants, target, belief):
    """Newton for the Beta distribution of the mean, from the guess if it is proper; ν in closed
    form.
    """
    first, second = 1.0, 1.0
    if min(belief[1], belief[2]) > 0.0:
        first, second = of_mean(belief)
    belief[1] = first
    belief[2] = second
    beta.solve(constants, target[1:], belief[1:])
    belief[0] = -1.0 / target[0]
    from_natural(constants, belief, belief)


@kernel
def metric(constants, belief, out):
    worth = belief[1] + belief[2]
    first, second = of_mean(belief)
    total = trigamma(first + second)
    for i in range(3):
        out[0, i] = 0.0
        out[i, 0] = 0.0
    out[0, 0] = 1.0 / (worth * worth)
    out[1, 1] = trigamma(first) - total
    out[2, 2] = trigamma(second) - total
    out[1, 2] = -total
    out[2, 1] = -total


@kernel
def divergence(constants, belief, other):
    first, second = of_mean(belief)
    new_first, new_second = of_mean(other)
    worth, new_worth = belief[1] + belief[2], other[1] + other[2]
    means = beta.divergence_between(first, second, new_first, new_second)
    return means + ratio_excess(new_worth, worth, new_worth - worth)


@kernel
def log_density(constants, belief, theta):
    """Of (μ, λ), which head θ, over dμ dλ."""
    first, second = of_mean(belief)
    worth = belief[1] + belief[2]
    share = math.log(worth) + log_power(worth - 1.0, theta[1])
    return beta.log_density_at(first, second, theta[0]) + share


KERNELS = BeliefKernels.of(globals())
