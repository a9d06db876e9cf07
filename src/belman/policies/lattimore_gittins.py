"""Finite-horizon Gittins indices in closed form (Lattimore, 2016), by normal beliefs.

With k turns left and a belief worth n rewards, E[X] + s sqrt(2 ln⁺(c min{k/ln₊(k)^(3/2),
(k/n)/sqrt(ln₊(k/n))})), with s the deviation of the belief about the mean, ln₊ at least 1 and ln⁺
at least 0. The bounds of the paper are of this shape for unknown c; c = ¼ is near the index that
`gittins-finite` computes for hundreds of turns and more, and plays greedily for the last dozen.
Cost: two quantiles a reward, two logarithms and a root an arm and turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.finite_gittins import FiniteGittins
from belman.policies.normal_gittins import keep_normal_belief
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_number, require


class Memory(NamedTuple):
    """What is believed of each arm, as a normal distribution (K)."""

    expected: Floats  # infinite before there is a belief
    width: Floats
    log_worth: Floats


@kernel
def lift(log_left, log_worth, log_scale):
    """How many deviations above its expected reward an arm's index lies; ln k, ln n and ln c."""
    ratio = log_left - log_worth
    whole = log_left - 1.5 * math.log(max(log_left, 1.0))
    share = ratio - 0.5 * math.log(max(ratio, 1.0))
    return math.sqrt(2.0 * max(min(whole, share) + log_scale, 0.0))


@kernel
def refresh(family, law, params, ledger, memory, arm):
    keep_normal_belief(family, law, ledger, memory, arm)


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """The value of the turn is the logarithm of the turns that are left, this one included."""
    for a in range(index.size):
        index[a] = memory.expected[a]
        if index[a] < np.inf:
            index[a] += memory.width[a] * lift(turn_value, memory.log_worth[a], params[0])


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class LattimoreGittins(FiniteGittins):
    """Play the largest index of Lattimore's closed form for the turns left of a known horizon.

    >>> LattimoreGittins(1_000)
    LattimoreGittins(horizon=1000, c=0.25)
    """

    c: float = 0.25

    name = "gittins-lattimore"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "c", is_number(self.c) and self.c > 0.0, "a positive number")

    def params(self, family: Family) -> Floats:
        return np.array([math.log(self.c)])

    def memory(self, arms: int, dimension: int) -> Any:
        return Memory(np.zeros(arms), np.zeros(arms), np.zeros(arms))
