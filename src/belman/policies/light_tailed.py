"""The light-tailed policy of Simchi-Levi, Zheng and Zhu (2022): safety against heavy-tailed regret.

argmax_a μ̂_a + σ sqrt(η T ln T/K)/n_a: a bonus ∝ 1/n where UCB has 1/sqrt(n), so that a regret of x
has a chance of exp(−Ω(x/sqrt(KT))), and regret is of order sqrt(KT ln T) on average, for any η > 0.
Policies that are optimal on average have tails like 1/x. Cost: that of UCB1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_number, is_whole, require
from belman.policies.subgaussian import SubGaussian
from belman.policies.ucb1 import Memory


@kernel
def refresh(family, law, params, ledger, memory, arm):
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    bonus = params[0] / math.sqrt(ledger.plays.size)
    memory.width[arm] = bonus / ledger.plays[arm] if played else 0.0


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.mean[a] + memory.width[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class LightTailed(SubGaussian):
    """Upper bounds whose width falls with 1/n, for a known horizon: large regrets are rare.

    >>> LightTailed(10_000)
    LightTailed(sigma=None, horizon=10000, eta=0.1)
    """

    horizon: int
    eta: float = 0.1

    name = "light-tailed"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "horizon", is_whole(self.horizon, 1), "a whole number of turns from 1 up")
        require(self, "eta", is_number(self.eta) and self.eta > 0.0, "a positive number")

    def params(self, family: Family) -> Floats:
        reach = self.eta * self.horizon * math.log(self.horizon)
        return np.array([self.deviation(family) * math.sqrt(reach)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms))
