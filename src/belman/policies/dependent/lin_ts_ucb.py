"""TS-UCB (Baek and Farias 2023): the least (R̂ − η)/sd, R̂ the average best value of some draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.dependent.draws import draw_values
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import MOST_DRAWS, is_whole, require


class Memory(NamedTuple):
    """Room for draws."""

    theta_scratch: Floats  # (d)
    value_scratch: Floats  # (K)


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    highest, value = 0.0, memory.value_scratch
    for _ in range(int(params[0])):
        best = draw_values(model, law, belief, features, mind, memory.theta_scratch, value)
        highest += value[best] / params[0]
    for a in range(index.size):
        gap = sight.eta[a] - highest
        index[a] = gap / math.sqrt(max(sight.variance[a], 1e-300))


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinTSUCB(DependentPolicy):
    """Play the arm that is fewest standard deviations below what the best is expected to be.

    >>> LinTSUCB()
    LinTSUCB(draws=20)
    """

    draws: int = 20

    name = "lin-ts-ucb"
    by_chance = True
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_whole(self.draws, 1, MOST_DRAWS)
        require(self, "draws", fits, "a whole number from 1 to a million")

    @property
    def params(self) -> Floats:
        return np.array([float(self.draws)])

    def memory(self, arms: int, features: int) -> Memory:
        return Memory(np.zeros(features), np.zeros(arms))
