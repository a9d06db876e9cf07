"""Widest belief: argmax_a q_a(¾) − q_a(¼), the arm known least by the quartiles of its belief.

It is BelMan's pure exploration without the location term: KL(b_a ‖ b̄) weighs how narrow a belief
is and how far it lies from the others, and here only its width counts, on the scale of the expected
reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index, share_of_ties

_TAIL = 0.25


class Memory(NamedTuple):
    """The width of the belief about the expected reward of every arm (K)."""

    width: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    belief = ledger.beliefs[arm]
    low = family.mean_quantile(law, belief, _TAIL, False)
    memory.width[arm] = family.mean_quantile(law, belief, _TAIL, True) - low


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.width[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class WidestBelief(Policy):
    """Play the arm known least: exploration that is not led astray by where beliefs lie.

    >>> WidestBelief()
    WidestBelief()
    """

    name = "widest-belief"
    kernels = KERNELS

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms))
