"""Greedy: the largest mean; the sceptic's baseline where contexts change by themselves."""

from __future__ import annotations

from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    for a in range(index.size):
        index[a] = sight.eta[a]


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinGreedy(DependentPolicy):
    """Play the arm that is expected to be best.

    >>> LinGreedy()
    LinGreedy()
    """

    name = "lin-greedy"
    kernels = KERNELS
