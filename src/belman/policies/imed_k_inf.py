"""IMED for any bounded rewards (Honda and Takemura, 2015): argmin_a n_a K_inf(F̂_a, μ̂*) + ln n_a.

Cost: K_inf of every arm behind the best average, 0.2 of Thompson's turns at 20 arms with coins;
memory: 65 counts an arm (`empirical.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.empirical import Empirical, k_inf, learn, refresh
from belman.policies.policy import PolicyKernels, choose_by_index, share_of_ties


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    leading = -np.inf
    for a in range(index.size):
        if memory.seen[0, a] > 0.0 and index[a] == index[a]:
            leading = max(leading, memory.seen[1, a] / memory.seen[0, a])
    for a in range(index.size):
        plays = memory.seen[0, a]
        if plays == 0.0:
            index[a] = np.inf
        else:
            against = 0.0
            if memory.seen[1, a] / plays < leading:
                against = k_inf(memory.counts[a], leading)
            index[a] = -(against + math.log(plays))


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties, learn=learn)


@dataclass(frozen=True)
class IMEDKinf(Empirical):
    """IMED by the rewards themselves, for rewards in a range.

    >>> IMEDKinf()
    IMEDKinf(range=None)
    """

    name = "imed-k-inf"
    kernels = KERNELS
