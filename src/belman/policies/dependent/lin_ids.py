"""Variance-based information-directed sampling (Russo and Van Roy 2018), by draws of θ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.dependent.draws import draw_values
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.ids import best_pair
from belman.policies.settings import MOST_DRAWS, is_whole, require


class Memory(NamedTuple):
    """Room for draws, and for what follows from them."""

    theta_scratch: Floats  # (d)
    value_scratch: Floats  # (K)
    share_scratch: Floats  # (K) how often each arm was best
    given_scratch: Floats  # (K, K) Σ of the values of all arms where an arm was best
    mean_scratch: Floats  # (K)
    regret_scratch: Floats  # (K)
    gain_scratch: Floats  # (K)


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    arms, draws = index.size, int(params[0])
    share, given, mean = memory.share_scratch, memory.given_scratch, memory.mean_scratch
    value, regret, gain = memory.value_scratch, memory.regret_scratch, memory.gain_scratch
    for a in range(arms):
        share[a] = mean[a] = gain[a] = 0.0
        for b in range(arms):
            given[a, b] = 0.0
    highest = 0.0
    for _ in range(draws):
        best = draw_values(model, law, belief, features, mind, memory.theta_scratch, value)
        share[best] += 1.0
        highest += value[best] / draws
        for a in range(arms):
            given[best, a] += value[a]
            mean[a] += value[a] / draws
    for b in range(arms):
        if share[b] > 0.0:
            for a in range(arms):
                apart = given[b, a] / share[b] - mean[a]
                gain[a] += share[b] / draws * apart * apart
    for a in range(arms):
        regret[a] = max(highest - mean[a], 0.0)
    first, second, weight = best_pair(regret, gain)
    chosen = first if chance.uniform(mind) < weight else second
    for a in range(arms):
        index[a] = 1.0 if a == chosen else -regret[a] - math.sqrt(gain[a])


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinIDS(DependentPolicy):
    """Play the two arms with the least squared regret per variance that the best arm explains.

    >>> LinIDS()
    LinIDS(draws=200)
    """

    draws: int = 200

    name = "lin-ids"
    by_chance = True
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_whole(self.draws, 2, MOST_DRAWS)
        require(self, "draws", fits, "a whole number from 2 to a million")

    @property
    def params(self) -> Floats:
        return np.array([float(self.draws)])

    def memory(self, arms: int, features: int) -> Memory:
        columns = (np.zeros(arms) for _ in range(3))
        return Memory(
            np.zeros(features),
            np.zeros(arms),
            np.zeros(arms),
            np.zeros((arms, arms)),
            *columns,
        )
