"""EXP3.S (Auer, Cesa-Bianchi, Freund and Schapire, 2002): weights that may follow any change.

Arm a is played with chance p_a = (1 − γ) w_a/Σw + γ/K. A reward x in [0, 1] of arm a multiplies w_a
by exp(γ x/(p_a K)); then each weight gets a share e α Σw/K of all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.bounded import Bounded, ends_of_rewards
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, no_refresh, rearranged
from belman.policies.settings import is_number, require

LOW, WIDTH, GAMMA, ALPHA = 0, 1, 2, 3


class Memory(NamedTuple):
    """Weights of K arms, which add up to 1 (all 0 at first: they are equal)."""

    weights: Floats  # (K)


@kernel
def share_of(params, weights, arm):
    """The chance with which an arm is played."""
    total = 0.0
    for a in range(weights.size):
        total += weights[a]
    even = 1.0 / weights.size
    own = weights[arm] / total if total > 0.0 else even
    return (1.0 - params[GAMMA]) * own + params[GAMMA] * even


@kernel
def learn(family, law, params, ledger, memory, arm, reward):
    """Weigh the reward by the chance of its arm, and share out a little of all weights."""
    weights, arms = memory.weights, memory.weights.size
    total = 0.0
    for a in range(arms):
        total += weights[a]
    if not total > 0.0:
        for a in range(arms):
            weights[a] = 1.0 / arms
    inside = min(max((reward - params[LOW]) / params[WIDTH], 0.0), 1.0)
    likely = share_of(params, weights, arm)
    gain = math.exp(params[GAMMA] * inside / (likely * arms))
    weights[arm] *= gain
    total = 0.0
    for a in range(arms):
        total += weights[a]
    for a in range(arms):
        weights[a] = (weights[a] / total + math.e * params[ALPHA] / arms) / (
            1.0 + math.e * params[ALPHA]
        )


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """One arm is drawn by its chance, among those that can be played."""
    total = 0.0
    for a in range(index.size):
        if index[a] == index[a]:
            total += share_of(params, memory.weights, a)
    left = chance.uniform(mind) * total
    drawn = False
    for a in range(index.size):
        if index[a] == index[a]:
            left -= share_of(params, memory.weights, a)
            index[a] = 1.0 if left < 0.0 and not drawn else 0.0
            drawn = drawn or left < 0.0


@kernel
def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
    total = 0.0
    for a in range(memory.weights.size):
        if not (closed.size > 0 and closed[a]):
            total += share_of(params, memory.weights, a)
    return share_of(params, memory.weights, arm) / total


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, propensity, learn=learn)


@dataclass(frozen=True)
class EXP3S(Bounded):
    """Weights for rewards in a `range` that any opponent may have chosen, and change.

    >>> EXP3S(gamma=0.1).gamma
    0.1
    """

    gamma: float = 0.1
    alpha: float = 1e-4

    name = "exp3-s"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gamma", "alpha"):
            value = getattr(self, name)
            fits = is_number(value) and 0.0 <= value <= 1.0
            require(self, name, fits and (value > 0.0 or name == "alpha"), "a share from 0 to 1")

    @property
    def leaves_all_a_chance(self) -> bool:
        return True

    def params(self, family: Family) -> Floats:
        low, high = ends_of_rewards(self.name, self.range, family)
        return np.array([low, high - low, float(self.gamma), float(self.alpha)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms))

    def resettled(self, memory: Memory, fresh: Memory, places: Sequence[int]) -> Memory:
        """A new arm has the average weight."""
        weights = rearranged(memory.weights, fresh.weights, 0, places)
        mean = float(memory.weights.mean())
        for new, old in enumerate(places):
            if old < 0:
                weights[new] = mean
        return Memory(weights)
