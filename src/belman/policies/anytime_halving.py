"""Anytime Sequential Halving (Sagers, Winands and Soemers, 2024): halving that needs no budget.

A pass plays every arm once, then the better half twice as often, and so on down to two arms, by
averages over all passes; then the next pass begins. Stopped at any time, plays are spread as
Sequential Halving spreads a budget. Cost: a sort of the arms once a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.elimination import value
from belman.policies.policy import (
    Floats,
    Policy,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    share_of_ties,
)


class Memory(NamedTuple):
    """What is left to play in the round (K), and how many arms are in it."""

    left: Floats
    size: Floats


@kernel
def _next_round(ledger, memory):
    """Half of the arms in the round (all, after two) get as many plays as all arms together."""
    arms, size = memory.left.size, int(memory.size[0])
    stays = arms if size <= 2 else (size + 1) // 2
    each = max(arms // stays, 1)
    for a in range(arms):
        above = 0
        for b in range(arms):
            ahead = value(ledger, b) > value(ledger, a)
            above += ahead or (value(ledger, b) == value(ledger, a) and b < a)
        memory.left[a] = each if above < stays else 0.0
    memory.size[0] = stays


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Arms never played, then the one with most left of the round, which is counted at once."""
    unknown, waiting = 0, 0.0
    for a in range(index.size):
        if index[a] == index[a]:
            unknown += ledger.plays[a] == 0.0
            waiting += memory.left[a]
    if unknown == 0 and waiting == 0.0:
        _next_round(ledger, memory)
    best = -1
    for a in range(index.size):
        closed = index[a] != index[a]
        index[a] = np.inf if ledger.plays[a] == 0.0 else memory.left[a]
        if not closed and (best < 0 or memory.left[a] > memory.left[best]):
            best = a
    if unknown == 0:
        index[best] += 0.5
        memory.left[best] = max(memory.left[best] - 1.0, 0.0)


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class AnytimeHalving(Policy):
    """Sequential Halving in passes, to be stopped at any time.

    >>> AnytimeHalving()
    AnytimeHalving()
    """

    name = "anytime-halving"
    kernels = KERNELS

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(1))

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"left": (0, arms), "size": (0, arms)}
