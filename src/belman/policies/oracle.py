"""Oracle: play an arm with the largest true mean, which the lab tells; regret starts here."""

from __future__ import annotations

from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.policy import Policy, PolicyKernels, choose_by_index, no_refresh, share_of_ties


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Params: the true means (K), or one placeholder."""
    for a in range(index.size):
        index[a] = params[min(a, params.size - 1)]


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Oracle(Policy):
    """Play the arm that is the best in truth; for simulations only.

    >>> Oracle().sees_truth
    True
    """

    name = "oracle"
    kernels = KERNELS
    sees_truth = True
