"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002): argmax_a μ̂_a + sqrt(2 ln t / n_a)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.averages import average, known
from belman.policies.bounded import Bounded
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties


class Memory(NamedTuple):
    """The average of every arm, infinite before its first play, and (high − low)/sqrt(n) (K)."""

    mean: Floats
    width: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    memory.width[arm] = params[0] / math.sqrt(ledger.plays[arm]) if played else 0.0


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.mean[a] + turn_value * memory.width[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class UCB1(Bounded):
    """Play the largest upper confidence bound that Hoeffding's inequality gives.

    `range` is that of the rewards; None takes the family's own.

    >>> UCB1(range=(0, 10))
    UCB1(range=(0.0, 10.0))
    """

    name = "ucb1"
    kernels = KERNELS

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(2 ln t)."""
        return np.sqrt(2.0 * np.log(turns))
