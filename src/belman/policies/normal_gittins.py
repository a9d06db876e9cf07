"""Gittins indices by normal beliefs, for every family: E[X] + s v(n)·sqrt(n) under a discount.

For Gaussian rewards of known variance this is the Gittins index, from a table with one parameter,
n, the rewards that the belief is worth (good to 1e-3; beyond 500 rewards by the approximation of
Chick and Gans, 2009). For other families the belief about the mean is taken for a normal one with
the same quartiles, s their distance over 1.349: an approximation. `gittins` has the exact index of
Bernoulli rewards. Cost: two quantiles a reward, nothing else.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies import normal_gittins_table
from belman.policies.discounted import Discounted
from belman.policies.gittins import Memory, fade, indices
from belman.policies.kept_table import kept_table
from belman.policies.normal_gittins_table import NODES
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties

#: The distance of the quartiles of a normal law, in deviations.
_QUARTILES = 1.3489795003921634


@functools.lru_cache(maxsize=16)
def _table(discount: float) -> Floats:
    def make() -> Floats:
        return normal_gittins_table.on_nodes(*normal_gittins_table.discounted(discount))

    header = [-math.log(discount)]
    return kept_table("normal-gittins", normal_gittins_table, discount, header, NODES + 2, make)


@kernel
def between(table, x):
    """The value at x of a table headed by its first place and its step; its ends beyond them."""
    place = min(max((x - table[0]) / table[1], 0.0), NODES - 1.0)
    node = min(int(place), NODES - 2)
    share = place - node
    return (1.0 - share) * table[2 + node] + share * table[3 + node]


@kernel
def normal_belief(family, law, belief):
    """Expected reward, deviation of the belief about it, and the rewards that it is worth."""
    expected = family.expected_reward(law, belief)
    upper = family.mean_quantile(law, belief, 0.25, True)
    width = (upper - family.mean_quantile(law, belief, 0.25, False)) / _QUARTILES
    return expected, width, family.worth(law, belief)


@kernel
def keep_normal_belief(family, law, ledger, memory, arm):
    """Keep an arm's belief as a normal one, infinite before there is one, and tell its worth."""
    expected, width, worth = normal_belief(family, law, ledger.beliefs[arm])
    memory.expected[arm], memory.width[arm] = expected if worth > 0.0 else np.inf, width
    memory.log_worth[arm] = math.log(max(worth, 1e-300))
    return worth


@kernel
def refresh(family, law, params, ledger, memory, arm):
    expected, width, worth = normal_belief(family, law, ledger.beliefs[arm])
    lift, edge = (
        between(params[1:], math.log(max(worth, 1e-300))),
        params[1] + params[2] * (NODES - 1),
    )
    if worth > 0.0 and math.log(worth) > edge:
        last = math.exp(edge)
        faded = fade(1.0 / (params[0] * worth)) / fade(1.0 / (params[0] * last))
        lift *= faded * math.sqrt(worth / last)
    memory.held[arm] = expected + width * lift if worth > 0.0 else np.inf


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class NormalGittins(Discounted):
    """Play the largest Gittins index of normal beliefs, under a `discount` as `gittins` has it.

    >>> round(NormalGittins(discount=0.9).lift(1.0), 2)
    0.75
    """

    name = "gittins-normal"
    kernels = KERNELS

    def lift(self, worth: float) -> float:
        """How many deviations of its belief the index of an arm lies above its expected reward."""
        return float(between(_table(self.rate)[1:], math.log(worth)))

    def params(self, family: Family) -> Floats:
        return _table(self.rate)

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms))
