"""Non-parametric Thompson sampling (Riou and Honda, 2020): Dirichlet weights on what was seen.

Each reward so far, and one at the upper end of the range, gets a weight of a uniform Dirichlet
distribution; the arm with the largest weighted average is played. Rewards lie on a grid
(`empirical.py`). Cost: a gamma draw per arm and point of the grid that was seen, 0.35 of Thompson's
turns at 20 arms with coins; memory: 65 counts an arm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.empirical import CELLS, Empirical, learn, refresh
from belman.policies.policy import PolicyKernels, choose_by_index, to_be_integrated


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        if memory.seen[0, a] == 0.0:
            index[a] = np.inf
            continue
        total = chance.gamma(mind, 1.0)
        drawn = total
        for i in range(CELLS + 1):
            if memory.counts[a, i] > 0.0:
                weight = chance.gamma(mind, memory.counts[a, i])
                total += weight
                drawn += weight * i / CELLS
        index[a] = params[0] + params[1] * drawn / total


KERNELS = PolicyKernels(refresh, indices, choose_by_index, to_be_integrated, learn=learn)


@dataclass(frozen=True)
class NPTS(Empirical):
    """Thompson sampling for any rewards in a range.

    >>> NPTS(range=(0, 10))
    NPTS(range=(0.0, 10.0))
    """

    name = "npts"
    draws_from_beliefs = False
    kernels = KERNELS
