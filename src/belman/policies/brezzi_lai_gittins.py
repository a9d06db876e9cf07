"""Gittins indices in closed form (Brezzi and Lai, 2002), by normal beliefs: E[X] + s ψ(1/(c n)).

s is the deviation of the belief about the mean, n the rewards that it is worth, c = −ln of the
discount, and ψ their approximation of the boundary of a stopping problem of Brownian motion:
sqrt(x/2) up to 0.2, then 0.49 − 0.11/sqrt(x) up to 1, 0.63 − 0.26/sqrt(x) up to 5, 0.77 −
0.58/sqrt(x) up to 15, and sqrt(2 ln x − ln ln x − ln 16π) beyond. As published: it jumps where
pieces meet, and is up to 0.75 deviations from what `gittins-normal` computes (discount 0.999).
Cost: two quantiles a reward, nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.discounted import Discounted
from belman.policies.gittins import Memory, indices
from belman.policies.normal_gittins import normal_belief
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties


@kernel
def boundary(x):
    """ψ: how many deviations above its expected reward an arm's index lies."""
    if x <= 0.2:
        return math.sqrt(x / 2.0)
    root = math.sqrt(x)
    if x <= 1.0:
        return 0.49 - 0.11 / root
    if x <= 5.0:
        return 0.63 - 0.26 / root
    if x <= 15.0:
        return 0.77 - 0.58 / root
    log = math.log(x)
    return math.sqrt(2.0 * log - math.log(log) - math.log(16.0 * math.pi))


@kernel
def refresh(family, law, params, ledger, memory, arm):
    expected, width, worth = normal_belief(family, law, ledger.beliefs[arm])
    memory.held[arm] = np.inf
    if worth > 0.0:
        memory.held[arm] = expected + width * boundary(1.0 / (params[0] * worth))


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class BrezziLaiGittins(Discounted):
    """Play the largest index of Brezzi and Lai's closed form, under a `discount`, for any family.

    >>> BrezziLaiGittins(discount=0.95)
    BrezziLaiGittins(discount=0.95, horizon=None)
    """

    name = "gittins-brezzi-lai"
    kernels = KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([-math.log(self.rate)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms))
