"""Gittins indices of a finite horizon, by normal beliefs (Lattimore, 2016, analyses them).

With k turns left and a belief worth n rewards, the index is E[X] + s (h(k/n) − 0.583/sqrt(n +
0.18)), s the deviation of the belief about the mean: h is the boundary of the stopping problem of
Brownian motion, computed (`gittins-lattimore` has a closed form), the other term Chernoff's
correction for rewards that come one by one. For normal rewards and n from 1 up it is within 0.06
deviations of the index by backward induction for k up to 300, and 0.12 for k = 1000. Beyond k/n =
125 h² goes on straight in ln(k/n). Cost: two quantiles a reward, a look into a table and a root an
arm and turn.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies import normal_gittins_table
from belman.policies.kept_table import kept_table
from belman.policies.normal_gittins import between, keep_normal_belief
from belman.policies.normal_gittins_table import NODES, STEP
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_whole, require

_SMALL = 0.18  # of a reward, in the correction: from beliefs worth less than one


class Memory(NamedTuple):
    """What is believed of each arm, as a normal distribution (K)."""

    expected: Floats  # infinite before there is a belief
    width: Floats
    log_worth: Floats
    step: Floats  # the correction for rewards that come one by one


@functools.lru_cache(maxsize=1)
def _table() -> Floats:
    def make() -> Floats:
        ratios, lifts = normal_gittins_table.finite()
        squares = lifts * lifts
        slope = (squares[-1] - np.interp(ratios[-1] / 4.0, ratios, squares)) / math.log(4.0)
        return np.concatenate([[slope], normal_gittins_table.on_nodes(ratios, squares)])

    return kept_table("finite-gittins", normal_gittins_table, "squares", [], NODES + 3, make)


@kernel
def lift(params, ratio, step):
    """How many deviations above its expected reward an arm's index lies, at a ratio ln(k/n).

    Params: the slope beyond the table of h², and the table.
    """
    square = between(params[1:], ratio)
    beyond = ratio - params[1] - params[2] * (NODES - 1)
    square += params[0] * max(beyond, 0.0)
    if ratio < params[1]:
        square *= math.exp(ratio - params[1])
    return max(math.sqrt(square) - step, 0.0)


@kernel
def correction(worth):
    """What rewards that come one by one take from the boundary."""
    return STEP / math.sqrt(worth + _SMALL)


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.step[arm] = correction(keep_normal_belief(family, law, ledger, memory, arm))


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """The value of the turn is the logarithm of the turns that are left, this one included."""
    for a in range(index.size):
        index[a] = memory.expected[a]
        if turn_value > 0.0 and index[a] < np.inf:
            ratio = turn_value - memory.log_worth[a]
            index[a] += memory.width[a] * lift(params, ratio, memory.step[a])


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class FiniteGittins(Policy):
    """Play the largest Gittins index for the turns that are left of a known horizon.

    >>> FiniteGittins(1_000)
    FiniteGittins(horizon=1000)
    """

    horizon: int

    name = "gittins-finite"
    kernels = KERNELS

    def __post_init__(self) -> None:
        require(self, "horizon", is_whole(self.horizon, 1), "a whole number of turns from 1 up")

    def params(self, family: Family) -> Floats:
        return _table()

    def memory(self, arms: int, dimension: int) -> Any:
        return Memory(np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln of how many turns are left, this one included."""
        return np.log(np.maximum(self.horizon - turns + 1.0, 1.0))
