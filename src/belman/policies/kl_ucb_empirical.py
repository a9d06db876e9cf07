"""Empirical KL-UCB (Cappé et al., 2013): argmax_a max{μ : n_a K_inf(F̂_a, μ) ≤ ln t}.

Cost: a search over K_inf an arm and turn, 0.1 of Thompson's turns at 20 arms; memory: 65 counts an
arm (`empirical.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.empirical import CELLS, Empirical, k_inf, learn, refresh
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties

_STEPS = 60
_CLOSE = 1e-10
_NEAREST = -345.0  # the least ln(c − 1): the bound is then 1 to the last bit


@kernel
def on_the_curve(counts, n, beyond):
    """At c = 1 + `beyond`: h = E[1/(c − X)], n·K = n ln h + Σ ln(c − X), and the slope of n·K in
    ln(c − 1).
    """
    inverse, square, logs = 0.0, 0.0, 0.0
    for i in range(counts.size):
        if counts[i] > 0.0:
            near = 1.0 / (beyond + (1.0 - i / CELLS))
            inverse += counts[i] * near
            square += counts[i] * near * near
            logs -= counts[i] * math.log(near)
    return inverse / n, n * math.log(inverse / n) + logs, beyond * (inverse - n * square / inverse)


@kernel
def bound(counts, low, level):
    """The largest mean from `low` up that the rewards do not refute at this level.

    K_inf and its mean are a curve in c ≥ 1 (`families/bounded_atoms.py`). K falls as c grows, and
    beyond the mean of c = 1, which there is if no reward was 1, it grows like −ln(1 − μ). Elsewhere
    c is found by Newton's method on ln K over ln(c − 1), in a bracket, from the right: by
    Hoeffding's lemma K ≤ 1/(8 (c − 1)²).
    """
    n = counts.sum()
    if level <= _CLOSE or low >= 1.0:
        return low
    if counts[CELLS] == 0.0:
        h, refuted, _ = on_the_curve(counts, n, 0.0)
        if refuted <= level:
            return max(low, 1.0 - math.exp((refuted - level) / n) / h)
    left, right = _NEAREST, 0.5 * math.log(n / (8.0 * level))
    place = right
    for _ in range(_STEPS):
        h, refuted, slope = on_the_curve(counts, n, math.exp(place))
        if refuted > level:
            left = place
        else:
            right = place
        new = 0.5 * (left + right)
        if refuted > 0.0 > slope:  # else rounding hides them
            newton = place + refuted / slope * math.log(level / refuted)
            new = newton if left <= newton <= right else new
        done = abs(new - place) <= _CLOSE
        place = new
        if done:
            break
    beyond = math.exp(place)
    return max(low, 1.0 + beyond - 1.0 / on_the_curve(counts, n, beyond)[0])


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Only an arm that is not refuted at the best bound so far has its own searched."""
    best = -np.inf
    for a in range(index.size):
        plays, closed = memory.seen[0, a], index[a] != index[a]
        if closed:
            continue
        if plays == 0.0:
            index[a] = np.inf
            continue
        mean = memory.seen[1, a] / plays
        start = max(mean, best)
        index[a] = -np.inf
        if start == mean or k_inf(memory.counts[a], start) <= turn_value:
            best = bound(memory.counts[a], start, turn_value)
            index[a] = params[0] + params[1] * best


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties, learn=learn)


@dataclass(frozen=True)
class KLUCBEmpirical(Empirical):
    """KL-UCB by the rewards themselves, for rewards in a range.

    >>> KLUCBEmpirical()
    KLUCBEmpirical(range=None)
    """

    name = "kl-ucb-empirical"
    kernels = KERNELS

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t."""
        return np.log(turns)
