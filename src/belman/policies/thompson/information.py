"""What it would say of each arm if another were the best, for information-directed sampling.

With p_b the probability that arm b is best and M_ab the expected reward of arm a then, p_b and p_b
M_ab are integrals over the level x of the best arm for Beta beliefs, on a mesh whose columns change
one at a time, and shares of posterior draws for others. From them come the expected regret Δ_a of
each arm and its information gain g_a.
"""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel
from belman.special import beta_cdf, log_beta

_EVEN = 101  # nodes from 0 to 1 …
_CLOSE = 65  # … and around the leader, over …
_REACH = 5.0  # … so many standard deviations on either side
NODES = _EVEN + _CLOSE
_COARSE = 0.03  # a standard deviation that the even nodes resolve
NEGLIGIBLE = 1e-14  # probability
_FRESH = 8  # rows of draws that are renewed at each turn
_LARGEST = 1e150  # of a draw, whose square is finite


@kernel
def _lay(memory, centre, width):
    """Merge the even nodes with those around the leader."""
    memory.leader[0], memory.leader[1] = centre, width
    even, close = 0, 0
    for k in range(NODES):
        x = even / (_EVEN - 1.0)
        near = min(max(centre + width * _REACH * (2.0 * close / (_CLOSE - 1.0) - 1.0), 0.0), 1.0)
        if close < _CLOSE and near < x:
            x = near
            close += 1
        else:
            even += 1
        memory.mesh[0, k] = x
        memory.mesh[1, k] = math.log(x) if x > 0.0 else -np.inf
        memory.mesh[2, k] = math.log1p(-x) if x < 1.0 else -np.inf


@kernel
def _column(memory, belief, arm):
    """F and E[θ | θ ≤ x] = μ − u/((α + β) F), with u = x^α (1 − x)^β/B(α, β).

    A success lowers F by u/α, a failure raises it by u/β; F is computed afresh after any other
    change of the belief.
    """
    a, b = memory.seen[arm, 0], memory.seen[arm, 1]
    won, lost = belief[0] - a == 1.0 and belief[1] == b, belief[0] == a and belief[1] - b == 1.0
    if won or lost:
        scale = -log_beta(a, b) - math.log(a if won else b)
    else:
        a, b = belief[0], belief[1]
        scale = -log_beta(a, b)
    total = belief[0] + belief[1]
    for k in range(NODES):
        x = memory.mesh[0, k]
        u = math.exp(a * memory.mesh[1, k] + b * memory.mesh[2, k] + scale)
        if won:
            memory.columns[k, arm] -= u
            u *= x * (a + b)
        elif lost:
            memory.columns[k, arm] += u
            u *= (1.0 - x) * (a + b)
        else:
            memory.columns[k, arm] = beta_cdf(a, b, x)
        below = min(max(memory.columns[k, arm], 1e-300), 1.0)
        memory.columns[NODES + k, arm] = math.log(below)
        memory.columns[2 * NODES + k, arm] = min(max((belief[0] - u / below) / total, 0.0), x)
    memory.seen[arm, 0], memory.seen[arm, 1] = belief[0], belief[1]


@kernel
def renew_columns(beliefs, memory):
    """Bring the columns up to date, on a new mesh if the leader has left or outgrown the old."""
    highest, centre, width = -np.inf, 0.0, 0.0
    for a in range(beliefs.shape[0]):
        mean = beliefs[a, 0] / (beliefs[a, 0] + beliefs[a, 1])
        sigma = math.sqrt(mean * (1.0 - mean) / (beliefs[a, 0] + beliefs[a, 1] + 1.0))
        if mean - 2.0 * sigma > highest:
            highest, centre, width = mean - 2.0 * sigma, mean, max(sigma, 1e-12)
    laid = memory.leader[1]
    lost = width < 0.5 * laid or abs(centre - memory.leader[0]) > 1.5 * laid
    if laid == 0.0 or (width < _COARSE and lost):
        _lay(memory, centre, min(width, _COARSE))
        for a in range(beliefs.shape[0]):
            memory.stale[a] = 1.0
            memory.seen[a, 0], memory.seen[a, 1] = 0.0, 0.0
    for a in range(beliefs.shape[0]):
        if memory.stale[a] > 0.0:
            _column(memory, beliefs[a], a)
            memory.stale[a] = 0.0


@kernel
def integrate(memory):
    """p_b and p_b M_ab: b is best between nodes with chance ΔH Δln F_b/Δln H, where H = Π F."""
    arms = memory.share.size
    logs, means = memory.columns[NODES : 2 * NODES], memory.columns[2 * NODES : 3 * NODES]
    before, chance_before = 0.0, 0.0
    for k in range(NODES):
        level = 0.0
        for a in range(arms):
            level += logs[k, a]
        chance_below = math.exp(level)
        rise = chance_below - chance_before
        if k > 0 and rise > NEGLIGIBLE:
            for a in range(arms):
                memory.middle[a] = 0.5 * (means[k - 1, a] + means[k, a])
            for b in range(arms):
                mass = rise / (level - before) * (logs[k, b] - logs[k - 1, b])
                if mass > NEGLIGIBLE:
                    memory.share[b] += mass
                    for a in range(arms):
                        memory.joint[b, a] += mass * memory.middle[a]
                    memory.joint[b, b] += mass * (
                        0.5 * (memory.mesh[0, k - 1] + memory.mesh[0, k]) - memory.middle[b]
                    )
        before, chance_before = level, chance_below


@kernel
def renew_draws(family, constants, draws, turn, beliefs, memory, rng):
    """Draw the means of arms that changed, and of a few others, so that no draw lasts for ever."""
    for a in range(beliefs.shape[0]):
        whole = memory.stale[a] > 0.0
        memory.stale[a] = 0.0
        for i in range(draws if whole else min(_FRESH, draws)):
            row = i if whole else (turn * _FRESH + i) % draws
            drawn = family.sample_mean(constants, beliefs[a], rng)
            memory.columns[row, a] = min(max(drawn, -_LARGEST), _LARGEST)


@kernel
def count(draws, memory):
    """p_b and p_b M_ab as shares of the draws."""
    for row in range(draws):
        best = 0
        for a in range(1, memory.share.size):
            best = a if memory.columns[row, a] > memory.columns[row, best] else best
        memory.share[best] += 1.0 / draws
        for a in range(memory.share.size):
            memory.joint[best, a] += memory.columns[row, a] / draws


@kernel
def _information(given, mean):
    """d(M, μ) of Bernoulli distributions, by its series where they are close."""
    apart = given - mean
    variance = mean * (1.0 - mean)
    if variance <= 0.0:
        return 0.0
    if abs(apart) < 1e-3 * variance:
        return (
            apart * apart / (2.0 * variance) * (1.0 - apart * (1.0 - 2.0 * mean) / (3.0 * variance))
        )
    win = given * math.log(given / mean) if given > 0.0 else 0.0
    lose = (1.0 - given) * math.log((1.0 - given) / (1.0 - mean)) if given < 1.0 else 0.0
    return win + lose


@kernel
def weigh(exact, memory):
    """Δ and g of every arm, from p_b and p_b M_ab."""
    arms = memory.share.size
    ideal, total = 0.0, 0.0
    memory.middle[:] = 0.0
    memory.gain[:] = 0.0
    for b in range(arms):
        ideal += memory.joint[b, b]
        total += memory.share[b]
        for a in range(arms):
            memory.middle[a] += memory.joint[b, a]
    for b in range(arms):
        share = memory.share[b]
        if share > NEGLIGIBLE:
            for a in range(arms):
                given, mean = memory.joint[b, a] / share, memory.middle[a] / total
                memory.gain[a] += share * (
                    _information(given, mean) if exact else (given - mean) * (given - mean)
                )
    for a in range(arms):
        memory.regret[a] = max(ideal - memory.middle[a], 0.0)
