"""Thompson sampling for arms that share a belief: exact, by Laplace, and TS-UCB.

What arms are worth under many draws of θ: for policies that integrate by drawing.

Thompson sampling with a shared belief: one draw of θ, and the arm that is best under it.

Thompson sampling with Laplace's belief (Chapelle and Li 2011): the mode, no moments.

TS-UCB (Baek and Farias 2023): the least (R̂ − η)/sd, R̂ the average best value of some draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.models.logistic import Logistic
from belman.models.model import Model
from belman.models.poisson_log import PoissonLog
from belman.models.shared import dot, draw
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import MOST_DRAWS, is_between, is_whole, require


@kernel
def draw_values(model, law, belief, features, mind, theta, value):
    """The value of every arm under a draw of θ, into `value` (K), and which is the best."""
    draw(model, law, belief, mind, 1.0, theta)
    best = 0
    for a in range(value.size):
        value[a] = dot(features[a], theta)
        best = a if value[a] > value[best] else best
    return best


class LinTSMemory(NamedTuple):
    """Room for a draw."""

    theta_scratch: Floats  # (d)


@kernel
def lin_ts_indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    draw(model, law, belief, mind, params[0], memory.theta_scratch)
    for a in range(index.size):
        index[a] = dot(features[a], memory.theta_scratch)


LIN_TS_KERNELS = DependentKernels(lin_ts_indices)


@dataclass(frozen=True)
class LinTS(DependentPolicy):
    """Play the best arm of a draw of θ; exact, or inflated (Agrawal and Goyal) by a factor.

    >>> LinTS()
    LinTS(inflation=1.0)
    """

    inflation: float = 1.0

    name = "lin-ts"
    by_chance = True
    kernels = LIN_TS_KERNELS

    def __post_init__(self) -> None:
        require(self, "inflation", is_between(self.inflation, 0.0, 1e6), "a number from 0 up")

    def memory(self, arms: int, features: int) -> LinTSMemory:
        return LinTSMemory(np.zeros(features))


@dataclass(frozen=True)
class LaplaceTS(LinTS):
    """Play the best arm of a draw of θ from the normal approximation, renewed by every reward.

    >>> LaplaceTS().believing(Logistic()).laplace
    True
    """

    name = "laplace-ts"
    by_chance = True

    def believing(self, model: Model) -> Model:
        if isinstance(model, (Logistic, PoissonLog)):
            return replace(model, laplace=True)
        return model


class LinTSUCBMemory(NamedTuple):
    """Room for draws."""

    theta_scratch: Floats  # (d)
    value_scratch: Floats  # (K)


@kernel
def lin_ts_ucb_indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    highest, value = 0.0, memory.value_scratch
    for _ in range(int(params[0])):
        best = draw_values(model, law, belief, features, mind, memory.theta_scratch, value)
        highest += value[best] / params[0]
    for a in range(index.size):
        gap = sight.eta[a] - highest
        index[a] = gap / math.sqrt(max(sight.variance[a], 1e-300))


LIN_TS_UCB_KERNELS = DependentKernels(lin_ts_ucb_indices)


@dataclass(frozen=True)
class LinTSUCB(DependentPolicy):
    """Play the arm that is fewest standard deviations below what the best is expected to be.

    >>> LinTSUCB()
    LinTSUCB(draws=20)
    """

    draws: int = 20

    name = "lin-ts-ucb"
    by_chance = True
    kernels = LIN_TS_UCB_KERNELS

    def __post_init__(self) -> None:
        fits = is_whole(self.draws, 1, MOST_DRAWS)
        require(self, "draws", fits, "a whole number from 1 to a million")

    def memory(self, arms: int, features: int) -> LinTSUCBMemory:
        return LinTSUCBMemory(np.zeros(features), np.zeros(arms))
