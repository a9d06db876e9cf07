"""MOSS-anytime (Degenne and Perchet, 2016): μ̂_a + sqrt((1 + α)/2 · max(0, ln(t/(K n_a)))/n_a)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.bounded import Bounded
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_number, require


class Memory(NamedTuple):
    """Per arm: average (infinite before its first play), (high − low)·sqrt((1 + α)/2n), ln n."""

    mean: Floats
    width: Floats
    log_plays: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    memory.width[arm] = params[0] / math.sqrt(ledger.plays[arm]) if played else 0.0
    memory.log_plays[arm] = math.log(ledger.plays[arm]) if played else 0.0


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        root = math.sqrt(max(turn_value - memory.log_plays[a], 0.0))
        index[a] = memory.mean[a] + memory.width[a] * root


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class MOSS(Bounded):
    """Play the largest bound of the minimax optimal strategy, in the form that needs no horizon.

    `range` is that of the rewards; None takes the family's own.

    >>> MOSS()
    MOSS(range=None, alpha=1.35)
    """

    alpha: float = 1.35

    name = "moss"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "alpha", is_number(self.alpha) and self.alpha >= 0.0, "a number from 0 up")

    def params(self, family: Family) -> Floats:
        return super().params(family) * math.sqrt(0.5 * (1.0 + self.alpha))

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln(t/K)."""
        return np.log(turns / arms)
