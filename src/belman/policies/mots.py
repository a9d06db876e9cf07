"""MOTS, minimax optimal Thompson sampling (Jin, Xu, Shi, Xiao and Gu, 2021): clipped draws.

An arm draws θ from N(μ̂, σ²/(ρ n)), cut at μ̂ + σ sqrt(α ln⁺(T/(K n))/n), and the largest is played.
The theorem has ρ in (½, 1), and for each a large α; the defaults are this library's, with ρ next to
the 1 of Thompson sampling. Cost: a normal draw an arm and turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, to_be_integrated
from belman.policies.settings import is_number, is_whole, require
from belman.policies.subgaussian import SubGaussian

#: Where params have their numbers.
SIGMA, HORIZON, RHO, ALPHA = 0, 1, 2, 3


class Memory(NamedTuple):
    """Per arm: the average (infinite before its first play), deviation and cap of its draws."""

    mean: Floats
    width: Floats
    cap: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.mean[arm] = np.inf
    if known(ledger, arm, 0.0):
        plays = ledger.plays[arm]
        level = max(math.log(params[HORIZON] / (ledger.plays.size * plays)), 0.0)
        memory.mean[arm] = average(ledger, arm)
        memory.width[arm] = params[SIGMA] / math.sqrt(params[RHO] * plays)
        reach = math.sqrt(params[ALPHA] * level / plays)
        memory.cap[arm] = memory.mean[arm] + params[SIGMA] * reach


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.mean[a]
        if index[a] < np.inf:
            index[a] = min(index[a] + memory.width[a] * chance.normal(mind), memory.cap[a])


KERNELS = PolicyKernels(refresh, indices, choose_by_index, to_be_integrated)


@dataclass(frozen=True)
class MOTS(SubGaussian):
    """Thompson sampling with normal draws that are clipped from above, for a known horizon.

    >>> MOTS(1_000)
    MOTS(sigma=None, horizon=1000, rho=0.9999, alpha=2.0)
    """

    horizon: int
    rho: float = 0.9999
    alpha: float = 2.0

    name = "mots"
    draws_from_beliefs = False
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "horizon", is_whole(self.horizon, 1), "a whole number of turns from 1 up")
        fits = is_number(self.rho) and 0.0 < self.rho <= 1.0
        require(self, "rho", fits, "above 0 and at most 1")
        require(self, "alpha", is_number(self.alpha) and self.alpha > 0.0, "a positive number")

    def params(self, family: Family) -> Floats:
        return np.array([self.deviation(family), float(self.horizon), self.rho, self.alpha])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms), np.zeros(arms))
