"""Thompson sampling: draw an expected reward from each belief and play the largest draw."""

from __future__ import annotations

from dataclasses import dataclass

from belman.engine import inlined_kernel
from belman.policies.policy import (
    Policy,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    to_be_integrated,
)


@inlined_kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = family.sample_mean(law, ledger.beliefs[a], mind)


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, to_be_integrated)


@dataclass(frozen=True)
class Thompson(Policy):
    """Play each arm with the chance that it is the best one.

    >>> Thompson()
    Thompson()
    """

    name = "thompson"
    kernels = KERNELS
