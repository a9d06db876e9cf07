"""Greedy: argmax_a E_a[X], the largest expected reward under the beliefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index, share_of_ties


class Memory(NamedTuple):
    """The expected reward of every arm (K)."""

    expected: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.expected[arm] = family.expected_reward(law, ledger.beliefs[arm])


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.expected[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Greedy(Policy):
    """Play the arm with the largest expected reward, arms of infinite expectation first.

    A sceptic's baseline: with many arms and a short horizon it is hard to beat, and in the long run
    it is stuck.

    >>> Greedy()
    Greedy()
    """

    name = "greedy"
    kernels = KERNELS

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms))
