"""Empirical KL-UCB (Cappé et al., 2013): argmax_a max{μ : n_a K_inf(F̂_a, μ) ≤ ln t}.

Cost: a search over K_inf an arm and turn, 0.02 of Thompson's turns at 20 arms; memory: 65 counts an
arm (`empirical.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.empirical import Empirical, k_inf, learn, refresh
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties

_HALVINGS = 30


@kernel
def bound(counts, low, level):
    """The largest mean from `low` up that the rewards do not refute at this level."""
    high = 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if k_inf(counts, middle) <= level:
            low = middle
        else:
            high = middle
    return low


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
