"""Finite-horizon Gittins indices in closed form (Lattimore, 2016), by normal beliefs.

With k turns left and a belief worth n rewards, E[X] + s sqrt(2 ln⁺(c min{k/ln₊(k)^(3/2),
(k/n)/sqrt(ln₊(k/n))})), with s the deviation of the belief about the mean, ln₊ at least 1 and ln⁺
at least 0. The bounds of the paper are of this shape for unknown c; c = ¼ is near the index that
`gittins-finite` computes for hundreds of turns and more, and greedy in the last twenty.
Cost: a logarithm and a root an arm and turn, and two quantiles a reward, which hold it to 0.47 of
Thompson's turns at 20 yes-or-no arms.
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
def most(log_left, log_scale):
    """ln of c k/ln₊(k)^(3/2), the same for all arms, from ln k and ln c."""
    return log_left - 1.5 * math.log(max(log_left, 1.0)) + log_scale


@kernel
def lift(ratio, log_scale, ceiling):
    """How many deviations above its expected reward an arm's index lies, at a ratio ln(k/n)."""
    own = ratio - 0.5 * math.log(max(ratio, 1.0)) + log_scale
    return math.sqrt(2.0 * max(min(own, ceiling), 0.0))


@kernel
def refresh(family, law, params, ledger, memory, arm):
    keep_normal_belief(family, law, ledger, memory, arm)


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """The value of the turn is the logarithm of the turns that are left, this one included."""
    ceiling = most(turn_value, params[0])
    for a in range(index.size):
        index[a] = memory.expected[a]
        if ceiling > 0.0 and index[a] < np.inf:
            ratio = turn_value - memory.log_worth[a]
            index[a] += memory.width[a] * lift(ratio, params[0], ceiling)


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
