"""Random: every arm with the same chance."""

from __future__ import annotations

from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.policy import Policy, PolicyKernels, choose_by_index, no_refresh, share_of_ties


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = 0.0


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Random(Policy):
    """Play an arm drawn uniformly, whatever was learnt.

    >>> Random()
    Random()
    """

    name = "random"
    kernels = KERNELS

    leaves_all_a_chance = True
