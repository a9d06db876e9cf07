"""BESA, best empirical sampled average (Baransi, Maillard and Mannor, 2014): fair duels.

Of two arms the one with more rewards is represented by a random sub-sample of as many as the other
has; the larger mean wins, then fewer plays. More than two arms play a knock-out tournament in
random order. The paper keeps all rewards and needs no bounds; here they lie on a grid between two
(`empirical.py`). Cost: K − 1 hypergeometric draws per point of the grid that was seen, 0.2 of
Thompson's turns at 20 arms with coins; memory: 65 counts an arm, however long it plays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.memory import Floats, part
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.resampling.empirical import CELLS, SEEN, SUM, sub_sample_mean, whole_grid_learn
from belman.policies.scale import Bounded
from belman.registry import register


class Memory(NamedTuple):
    """What was seen of K arms, and who is still in the tournament."""

    counts: Floats = part("K", CELLS + 1, told=True)
    seen: Floats = part(3, "K", told=True)
    order: Floats = part("K")


@kernel
def _mean(memory, arm, size, rng):
    plays = memory.seen[SEEN, arm]
    if plays <= size:
        return memory.seen[SUM, arm] / plays
    return sub_sample_mean(rng, memory.counts[arm], plays, size)


@kernel
def duel(memory, a, b, rng):
    """Who of two arms wins."""
    size = min(memory.seen[SEEN, a], memory.seen[SEEN, b])
    ours, theirs = _mean(memory, a, size, rng), _mean(memory, b, size, rng)
    if ours == theirs:
        ours, theirs = -memory.seen[SEEN, a], -memory.seen[SEEN, b]
    if ours == theirs:
        return a if chance.uniform(rng) < 0.5 else b
    return a if ours > theirs else b


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Duels won in the tournament of the arms that are open; arms never played come first."""
    left = 0
    for a in range(index.size):
        closed = index[a] != index[a]
        unseen = memory.seen[SEEN, a] == 0.0
        index[a] = np.inf if unseen else 0.0
        if not closed and not unseen:
            position = chance.below(rng, left + 1)
            memory.order[left] = memory.order[position]
            memory.order[position] = a
            left += 1
    while left > 1:
        for pair in range(left // 2):
            a, b = int(memory.order[2 * pair]), int(memory.order[2 * pair + 1])
            winner = duel(memory, a, b, rng)
            index[winner] += 1.0
            memory.order[pair] = winner
        if left % 2 == 1:
            memory.order[left // 2] = memory.order[left - 1]
            index[int(memory.order[left - 1])] += 1.0
        left = (left + 1) // 2


@register
class BESA(Bounded):
    """Play the winner of duels between averages over equally many rewards, for rewards in a range.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.

    >>> BESA()
    BESA(range=None)
    """

    name = "besa"
    draws_from_beliefs = False
    kernels = PolicyKernels(indices, propensity=to_be_integrated, learn=whole_grid_learn)
    remembers = Memory
