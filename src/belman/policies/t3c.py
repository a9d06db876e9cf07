"""T3C (Shang et al., 2020): a Thompson draw leads, the least transport cost challenges.

Where top-two Thompson draws again until another arm wins, which takes ever longer, the challenger
is the arm that is hardest to tell from the leader. Cost: a draw and a transport cost an arm and
turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.policy import to_be_integrated
from belman.policies.top_two import TopTwo, bundle_with, least_transport


@kernel
def largest_draw(family, law, params, ledger, memory, turn_value, mind, index):
    best, found = -np.inf, -1
    for a in range(index.size):
        if index[a] == index[a]:
            drawn = family.sample_mean(law, ledger.beliefs[a], mind)
            if found < 0 or drawn > best:
                best, found = drawn, a
    return found


KERNELS = bundle_with(largest_draw, least_transport, False, to_be_integrated)


@dataclass(frozen=True)
class T3C(TopTwo):
    """Play the largest of a Thompson draw with chance β, else the arm hardest to tell from it.

    >>> T3C()
    T3C(beta=0.5)
    """

    name = "t3c"
    draws_from_beliefs = False  # the challenger of every possible leader is not kept
    kernels = KERNELS
