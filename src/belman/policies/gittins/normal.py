"""Gittins indices by normal beliefs, for every family: E[X] + s v(n)·sqrt(n) under a discount.

For Gaussian rewards of known variance this is the Gittins index, from a table with one parameter,
n, the rewards that the belief is worth (good to 1e-3; beyond 500 rewards by the approximation of
Chick and Gans, 2009). For other families the belief about the mean is taken for a normal one with
the same quartiles, s their distance over 1.349: an approximation. `gittins` has the exact index of
Bernoulli rewards. Cost: two quantiles a reward, nothing else.

Gittins indices in closed form (Brezzi and Lai, 2002), by normal beliefs: E[X] + s ψ(1/(c n)).

s is the deviation of the belief about the mean, n the rewards that it is worth, c = −ln of the
discount, and ψ their approximation of the boundary of a stopping problem of Brownian motion:
sqrt(x/2) up to 0.2, then 0.49 − 0.11/sqrt(x) up to 1, 0.63 − 0.26/sqrt(x) up to 5, 0.77 −
0.58/sqrt(x) up to 15, and sqrt(2 ln x − ln ln x − ln 16π) beyond. As published: it jumps where
pieces meet, and is up to 0.75 deviations from what `gittins-normal` computes (discount 0.999).
Cost: two quantiles a reward, nothing else.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.gittins import normal_table
from belman.policies.gittins.gittins import Discounted, fade
from belman.policies.gittins.normal_table import NODES
from belman.policies.gittins.table import kept_table
from belman.policies.greedy import held_indices
from belman.policies.memory import Floats
from belman.policies.policy_kernels import PolicyKernels
from belman.registry import register

#: The distance of the quartiles of a normal distribution, in deviations.
_QUARTILES = 1.3489795003921634


@functools.lru_cache(maxsize=16)
def _table(discount: float) -> Floats:
    def make() -> Floats:
        return normal_table.on_nodes(*normal_table.discounted(discount))

    header = [-math.log(discount)]
    return kept_table("normal-gittins", normal_table, discount, header, NODES + 2, make)


@kernel
def between(table, x):
    """The value at x of a table headed by its first place and its step; its ends beyond them."""
    position = min(max((x - table[0]) / table[1], 0.0), NODES - 1.0)
    node = min(int(position), NODES - 2)
    share = position - node
    return (1.0 - share) * table[2 + node] + share * table[3 + node]


@kernel
def normal_belief(family, constants, belief):
    """Expected reward, deviation of the belief about it, and the rewards that it is worth."""
    expected = family.expected_reward(constants, belief)
    upper = family.mean_quantile(constants, belief, 0.25, True)
    width = (upper - family.mean_quantile(constants, belief, 0.25, False)) / _QUARTILES
    return expected, width, family.worth(constants, belief)


@kernel
def keep_normal_belief(family, constants, ledger, memory, arm):
    """Keep an arm's belief as a normal one, infinite before there is one, and tell its worth."""
    expected, width, worth = normal_belief(family, constants, ledger.beliefs[arm])
    memory.expected[arm], memory.width[arm] = expected if worth > 0.0 else np.inf, width
    memory.log_worth[arm] = math.log(max(worth, 1e-300))
    return worth


@kernel
def normal_gittins_refresh(family, constants, params, ledger, memory, arm):
    expected, width, worth = normal_belief(family, constants, ledger.beliefs[arm])
    lift, edge = (
        between(params[1:], math.log(max(worth, 1e-300))),
        params[1] + params[2] * (NODES - 1),
    )
    if worth > 0.0 and math.log(worth) > edge:
        last = math.exp(edge)
        faded = fade(1.0 / (params[0] * worth)) / fade(1.0 / (params[0] * last))
        lift *= faded * math.sqrt(worth / last)
    memory.held[arm] = expected + width * lift if worth > 0.0 else np.inf


@register
class NormalGittins(Discounted):
    """Play the largest Gittins index of normal beliefs, under a `discount` as `gittins` has it.

    Parameters
    ----------
    discount
        What a reward counts for a turn later, below 1; by default 1 − 1/`horizon`, or else 0.999.
    horizon
        The number of turns, from which a discount follows where none is given.

    >>> round(NormalGittins(discount=0.9).lift(1.0), 2)
    0.75
    """

    name = "gittins-normal"
    kernels = PolicyKernels(held_indices, normal_gittins_refresh)

    def lift(self, worth: float) -> float:
        """Compute how far the index of an arm lies above its expected reward.

        Parameters
        ----------
        worth
            The number of rewards that the belief is worth.

        Returns
        -------
        float
            The distance in standard deviations of the belief.
        """
        return float(between(_table(self.rate)[1:], math.log(worth)))

    def params(self, family: Family) -> Floats:
        return _table(self.rate)


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
def brezzi_lai_gittins_refresh(family, constants, params, ledger, memory, arm):
    expected, width, worth = normal_belief(family, constants, ledger.beliefs[arm])
    memory.held[arm] = np.inf
    if worth > 0.0:
        memory.held[arm] = expected + width * boundary(1.0 / (params[0] * worth))


@register
class BrezziLaiGittins(Discounted):
    """Play the largest index of Brezzi and Lai's closed form, under a `discount`, for any family.

    Parameters
    ----------
    discount
        What a reward counts for a turn later, below 1; by default 1 − 1/`horizon`, or else 0.999.
    horizon
        The number of turns, from which a discount follows where none is given.

    >>> BrezziLaiGittins(discount=0.95)
    BrezziLaiGittins(discount=0.95, horizon=None)
    """

    name = "gittins-brezzi-lai"
    kernels = PolicyKernels(held_indices, brezzi_lai_gittins_refresh)

    def params(self, family: Family) -> Floats:
        return np.array([-math.log(self.rate)])
