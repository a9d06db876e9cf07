"""UGapE (Gabillon, Ghavamzadeh and Lazaric, 2012): unify the gap, play the less known of two.

B_a = max_{b≠a} U_b − L_a bounds what arm a lacks, with bounds μ̂ ± σ sqrt(2 ln(4K (t − 1)³/δ)/n):
UGapEc with Hoeffding's c = ½ for rewards in a range, whose σ is half of it. The arm with the least
B is held against the largest U of the others, and the one with fewer plays is played, until the
least B is at most ε: wrong by more than ε with a chance of at most δ. Cost: a root an arm and turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.policy import (
    Floats,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    share_of_ties,
)
from belman.policies.settings import is_number, require
from belman.policies.subgaussian import SubGaussian


class Memory(NamedTuple):
    """What each arm may lack, B (K), and the least of these."""

    lack: Floats
    least: Floats


@kernel
def _bounds(params, ledger, arm, level):
    width = params[0] * math.sqrt(2.0 * level / ledger.plays[arm])
    return average(ledger, arm) - width, average(ledger, arm) + width


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Arms never played first; then 2 for the arm to play and 1 for the other of the two."""
    memory.least[0] = np.inf
    first, second, unknown, holder = -np.inf, -np.inf, 0, -1
    for a in range(index.size):
        memory.lack[a] = np.inf
        if index[a] == index[a]:
            if not known(ledger, a, 0.0):
                unknown += 1
                continue
            upper = _bounds(params, ledger, a, turn_value)[1]
            if upper > first:
                first, second, holder = upper, first, a
            else:
                second = max(second, upper)
    held, rival, largest = -1, -1, -np.inf
    for a in range(index.size):
        if index[a] == index[a] and unknown == 0:
            other = second if a == holder else first
            memory.lack[a] = other - _bounds(params, ledger, a, turn_value)[0]
            if held < 0 or memory.lack[a] < memory.least[0]:
                memory.least[0], held = memory.lack[a], a
    for a in range(index.size):
        if index[a] == index[a] and unknown == 0 and a != held:
            upper = _bounds(params, ledger, a, turn_value)[1]
            if rival < 0 or upper > largest:
                largest, rival = upper, a
    for a in range(index.size):
        index[a] = 0.0 if known(ledger, a, 0.0) else np.inf
    if held >= 0:
        follows = rival < 0 or ledger.plays[held] <= ledger.plays[rival]
        index[held] = 2.0 if follows else 1.0
        if rival >= 0:
            index[rival] = 1.0 if follows else 2.0


@kernel
def _recommend(family, law, params, ledger, memory, score):
    """The arm that lacks least; by averages before all are known."""
    for a in range(score.size):
        score[a] = -memory.lack[a]
        if memory.least[0] == np.inf:
            score[a] = average(ledger, a) if known(ledger, a, 0.0) else -np.inf


@kernel
def _finished(family, law, params, ledger, memory):
    return memory.least[0] <= params[1]


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, share_of_ties, _recommend, _finished)


@dataclass(frozen=True)
class UGapE(SubGaussian):
    """Find an arm within `epsilon` of the best, wrong with a chance of at most `delta`.

    >>> UGapE(epsilon=0.05)
    UGapE(sigma=None, delta=0.1, epsilon=0.05)
    """

    delta: float = 0.1
    epsilon: float = 0.0

    name = "ugape"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.delta) and 0.0 < self.delta < 1.0
        require(self, "delta", fits, "strictly between 0 and 1")
        fits = is_number(self.epsilon) and self.epsilon >= 0.0
        require(self, "epsilon", fits, "a number from 0 up")

    def params(self, family: Family) -> Floats:
        return np.array([self.deviation(family), float(self.epsilon)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.full(arms, np.inf), np.full(1, np.inf))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln(4K (t − 1)³/δ)."""
        plays = np.maximum(turns - 1.0, 1.0)
        return math.log(4.0 * arms / self.delta) + 3.0 * np.log(plays)
