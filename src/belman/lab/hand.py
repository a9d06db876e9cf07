"""A policy at its arrays, as a loop sees it: code and a desk at two addresses.

So a loop is compiled once for a family, whoever plays, and a policy once for a family, wherever it plays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.bound import Bound, bind, call_bound
from belman.compile import inlined_kernel, kernel
from belman.families.family import Family
from belman.policies.policy import Floats, Ledger, Policy

#: What a loop can ask of a hand: renew the memory of an arm; choose an arm, or fill all indices, at a turn under a dial …
REFRESH, CHOOSE = 0, 1
#: … and, of one that advises, fill the scores of a recommendation, or say whether it has had enough.
RECOMMEND, FINISHED = 0, 1


@inlined_kernel
def choosing(policy, family, law, params, ledger, memory, mind, index, what, number, dial):
    """For loops in which the policy chooses."""
    if what == REFRESH:
        policy.refresh(family, law, params, ledger, memory, number)
        return number
    arm, _ = policy.choose(policy, family, law, params, ledger, memory, number, dial, mind, index)
    return arm


@inlined_kernel
def weighing(policy, family, law, params, ledger, memory, mind, index, what, number, dial):
    """For loops in which the indices of the policy are weights of a matching."""
    if what == REFRESH:
        policy.refresh(family, law, params, ledger, memory, number)
    else:
        policy.indices(family, law, params, ledger, memory, number, dial, mind, index)
    return number


@inlined_kernel
def advising(policy, family, law, params, ledger, memory, mind, index, what, number, dial):
    """For loops that ask what the policy recommends, and whether it has had enough."""
    if what == FINISHED:
        return 1 if policy.finished(family, law, params, ledger, memory) else 0
    policy.recommend(family, law, params, ledger, memory, index)
    return number


def deal(
    template: Callable[..., Any],
    policy: Policy,
    family: Family,
    params: Floats,
    ledger: Ledger,
    memory: Any,
    mind: NDArray[Any],
    index: Floats,
) -> Bound:
    """A hand: one of the templates above for a policy, on these arrays. Keep it while a loop plays it."""
    bundles = {
        "policy": (policy.kernels, type(policy).__module__),
        "family": (family.kernels, type(family).__module__),
    }
    law, params = np.ascontiguousarray(family.law), np.ascontiguousarray(params)
    return bind(
        template, bundles, {"law": law, "params": params, "ledger": ledger, "memory": memory, "mind": mind, "index": index}
    )


@kernel
def reset(hand, prior, ledger, block, blank):
    """Beliefs at the prior and memory as it was made, then refreshed arm by arm."""
    for i in range(block.size):
        block[i] = blank[i]
    for a in range(ledger.plays.size):
        for i in range(prior.size):
            ledger.beliefs[a, i] = prior[i]
        ledger.plays[a] = 0.0
        ledger.sums[a] = 0.0
        ledger.squares[a] = 0.0
    for a in range(ledger.plays.size):
        call_bound(hand, REFRESH, a, 0.0)
