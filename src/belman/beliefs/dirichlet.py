"""The Dirichlet distribution of the chances of a grid of atoms, with any number of them.

Coordinates are the counts α_i of the atoms, which are the natural parameters η; S = ln w_i. Atom
after atom, the share of an atom in what is left has the distribution Beta(α_i, Σ_{j>i} α_j), so
divergences are sums of those between Beta distributions.
"""

from __future__ import annotations

import math

from belman.beliefs import beta
from belman.beliefs.belief import BeliefKernels
from belman.engine import kernel
from belman.special import digamma_gap, digamma_gap_trigamma, log_gamma, trigamma

_STEPS = 200
_TINY = 1e-300


@kernel
def total(belief):
    """ν = Σ α_i; by four at a time, which need not wait for one another."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    whole = belief.size - belief.size % 4
    for i in range(0, whole, 4):
        one += belief[i]
        two += belief[i + 1]
        three += belief[i + 2]
        four += belief[i + 3]
    for i in range(whole, belief.size):
        one += belief[i]
    return (one + two) + (three + four)


@kernel
def natural(constants, belief, out):
    for i in range(belief.size):
        out[i] = belief[i]


@kernel
def blend(constants, belief, other, weight):
    for i in range(belief.size):
        belief[i] = weight * belief[i] + (1.0 - weight) * other[i]


@kernel
def log_partition(constants, belief):
    result = -log_gamma(total(belief))
    for i in range(belief.size):
        result += log_gamma(belief[i])
    return result


@kernel
def mean_parameters(constants, belief, out):
    """ψ(α_i) − ψ(ν), as ln(α_i/ν) and two small terms."""
    whole = total(belief)
    gap = digamma_gap(whole)
    for i in range(belief.size):
        out[i] = math.log(belief[i] / whole) - digamma_gap(belief[i]) + gap


@kernel
def solve(constants, target, belief):
    """Newton on the convex A(η) − ⟨η, target⟩: a diagonal less a constant is inverted at once."""
    size, noise = belief.size, 0.0
    for i in range(size):
        noise += 1e-15 * (1.0 + abs(target[i]))
    for _ in range(_STEPS):
        whole = total(belief)
        gap, bend = digamma_gap_trigamma(whole)
        pulls, bends, off = 0.0, 0.0, 0.0
        for i in range(size):
            own_gap, own_bend = digamma_gap_trigamma(belief[i])
            away = math.log(belief[i] / whole) - own_gap + gap - target[i]
            pulls += away / own_bend
            bends += 1.0 / own_bend
            off += abs(away)
        common = pulls / (bends - 1.0 / bend)
        largest, shrink = 0.0, 1.0
        for i in range(size):
            step = _step(belief[i], whole, gap, target[i], common)
            largest = max(largest, abs(step) / belief[i])
            if step * shrink < -0.8 * belief[i]:
                shrink = -0.8 * belief[i] / step
        for i in range(size):
            step = _step(belief[i], whole, gap, target[i], common)
            belief[i] = max(belief[i] + shrink * step, _TINY)
        if largest < 2e-6 or off <= noise or not largest < math.inf:
            break


@kernel
def _step(count, whole, gap, target, common):
    own_gap, own_bend = digamma_gap_trigamma(count)
    away = math.log(count / whole) - own_gap + gap - target
    return (common - away) / own_bend


@kernel
def metric(constants, belief, out):
    shared = trigamma(total(belief))
    for i in range(belief.size):
        for j in range(belief.size):
            out[i, j] = -shared
        out[i, i] = trigamma(belief[i]) - shared


@kernel
def divergence(constants, belief, other):
    result = 0.0
    left, new_left = belief[belief.size - 1], other[belief.size - 1]
    for k in range(belief.size - 1):
        i = belief.size - 2 - k
        result += beta.divergence_between(belief[i], left, other[i], new_left)
        left += belief[i]
        new_left += other[i]
    return result


@kernel
def log_density(constants, belief, theta):
    """Of the chances w, over dw_1 … dw_{D−1}; θ has their partial sums from its third number on."""
    result, before = -log_partition(constants, belief), 0.0
    for i in range(belief.size):
        result += (belief[i] - 1.0) * math.log(max(theta[2 + i] - before, _TINY))
        before = theta[2 + i]
    return result


KERNELS = BeliefKernels.of(globals())
