"""KL-UCB-switch (Garivier, Hadiji, Ménard and Stoltz, 2022): K_inf for few plays, MOSS for many.

The index of an arm with n ≤ (T/K)^⅕ plays is max{μ : n K_inf(F̂, μ) ≤ ln⁺(T/(K n))}, else that of
MOSS, μ̂ + sqrt(ln⁺(T/(K n))/(2n)). It is minimax and asymptotically optimal at once for rewards in
a range, whatever they are. Rewards lie on a grid (`empirical.py`). Cost: a search over K_inf for
few arms a turn, 0.6 of Thompson's turns at 20 arms; memory: 65 counts an arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.empirical import Empirical, k_inf, learn, refresh
from belman.policies.kl_ucb_empirical import bound
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_whole, require


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Only an arm that is not refuted at the best bound so far has its own searched."""
    share, best = params[2] / index.size, -np.inf
    for a in range(index.size):
        plays, closed = memory.seen[0, a], index[a] != index[a]
        if closed:
            continue
        if plays == 0.0:
            index[a] = np.inf
            continue
        mean, level = memory.seen[1, a] / plays, max(math.log(share / plays), 0.0)
        index[a] = -np.inf
        if plays > share**0.2:
            index[a] = params[0] + params[1] * (mean + math.sqrt(0.5 * level / plays))
        else:
            start = max(mean, best)
            if start == mean or k_inf(memory.counts[a], min(start, 1.0)) <= level:
                found = bound(memory.counts[a], min(start, 1.0), level)
                index[a] = params[0] + params[1] * found
        best = max(best, (index[a] - params[0]) / params[1])


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties, learn=learn)


@dataclass(frozen=True)
class KLUCBSwitch(Empirical):
    """Empirical KL-UCB that goes over to MOSS, for rewards in a range and a known horizon.

    >>> KLUCBSwitch(1_000)
    KLUCBSwitch(range=None, horizon=1000)
    """

    horizon: int

    name = "kl-ucb-switch"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "horizon", is_whole(self.horizon, 1), "a whole number of turns from 1 up")

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), float(self.horizon))
