"""Optimistic Gittins indices (Gutin and Farias, 2016), with a look-ahead of one play.

Before turn t the index is that of the discount 1 − 1/t for someone who learns the true mean θ of an
arm after one play: the λ with λ = E[X] + (t − 1) E(θ − λ)⁺. Newton's method finds it from below,
as the right side is convex in λ. Beta beliefs are taken as they are; those of other families for
normal ones, as by `gittins-normal`, which for Gaussian rewards of known variance they are. Cost: a
chance under a beta distribution an arm, turn and step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.gittins.normal import normal_belief
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.registry import register
from belman.special import beta_cdf, log_beta

_STEPS = 60
_CLOSE = 1e-12  # of a step, relative
_ROOT_TWO, _ROOT_TWO_PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)


class Memory(NamedTuple):
    """Expected reward of every arm, infinite before there is a belief, and a belief's width, or
    ln B(α, β); the index of an arm that was not refreshed since, and its turn.
    """

    expected: Floats = part("K")
    width: Floats = part("K")
    result: Floats = part("K")
    turn: Floats = part("K")


@kernel
def optimistic_refresh(family, constants, params, ledger, memory, arm):
    memory.turn[arm] = 0.0
    if params[0] > 0.0:
        memory.expected[arm] = family.expected_reward(constants, ledger.beliefs[arm])
        memory.width[arm] = log_beta(ledger.beliefs[arm, 0], ledger.beliefs[arm, 1])
    else:
        expected, width, worth = normal_belief(family, constants, ledger.beliefs[arm])
        memory.expected[arm] = expected if worth > 0.0 else np.inf
        memory.width[arm] = width


@kernel
def _hope(coin, belief, expected, width, level):
    """E(θ − λ)⁺ and P(θ > λ). P(θ > λ) of Beta(a + 1, b) is that of Beta(a, b) and λ^a (1 − λ)^b
    over a B(a, b) more.
    """
    if coin > 0.0:
        a, b = belief[0], belief[1]
        if level >= 1.0:
            return 0.0, 0.0
        above = 1.0 - beta_cdf(a, b, level)
        more = math.exp(a * math.log(level) + b * math.log1p(-level) - width) / a
        return max(expected * (above + more) - level * above, 0.0), above
    if width <= 0.0:
        return 0.0, 0.0
    z = (level - expected) / width
    above = 0.5 * math.erfc(z / _ROOT_TWO)
    return max(width * (math.exp(-0.5 * z * z) / _ROOT_TWO_PI - z * above), 0.0), above


@kernel
def optimistic_index(coin, belief, expected, width, before):
    """The index of an arm after `before` turns of all."""
    level = expected
    for _ in range(_STEPS):
        hope, above = _hope(coin, belief, expected, width, level)
        step = (expected + before * hope - level) / (1.0 + before * above)
        level += step
        if coin > 0.0:
            level = min(level, 1.0)
        if not step > _CLOSE * abs(level):
            break
    return level


@kernel
def optimistic_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        if memory.turn[a] != turn:
            memory.turn[a], memory.result[a] = turn, memory.expected[a]
            if memory.expected[a] < np.inf:
                memory.result[a] = optimistic_index(
                    params[0], ledger.beliefs[a], memory.expected[a], memory.width[a], turn - 1.0
                )
        index[a] = memory.result[a]


@register
class OptimisticGittins(Policy):
    """Play the largest optimistic Gittins index, under a discount that rises as 1 − 1/t.

    >>> OptimisticGittins()
    OptimisticGittins()
    """

    name = "gittins-optimistic"
    kernels = PolicyKernels(optimistic_indices, optimistic_refresh)
    remembers = Memory

    def about(self, family: Family) -> tuple[float, ...]:
        return (float(family.coin),)
