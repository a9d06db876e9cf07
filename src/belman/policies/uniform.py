"""Uniform exploration: every arm in turn, argmin_a n_a."""

from __future__ import annotations

from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.policy import Policy, PolicyKernels, choose_by_index, no_refresh, share_of_ties


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = -ledger.plays[a]


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Uniform(Policy):
    """Play the arm with the fewest plays: the plain way to explore.

    >>> Uniform()
    Uniform()
    """

    name = "uniform"
    kernels = KERNELS
