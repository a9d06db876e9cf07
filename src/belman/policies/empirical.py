"""Rewards in a range as they came: counts on a grid, and K_inf, the least KL to a law of that mean.

A reward between two points of the grid is shared by them so that its mean is kept, so memory is
bounded. K_inf(F, μ) = max over 0 ≤ λ ≤ 1/(1 − μ) of E ln(1 − λ(X − μ)) (Honda and Takemura, 2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.bounded import Bounded, ends_of_rewards
from belman.policies.policy import Floats, no_refresh, rearranged

CELLS = 64
_STEPS = 60
_CLOSE = 1e-10

refresh = no_refresh


class Memory(NamedTuple):
    """What was seen of K arms."""

    counts: Floats  # (K, CELLS + 1) at 0, 1/CELLS, …, 1
    seen: Floats  # (2, K) how many rewards, and their sum on the scale from 0 to 1


class Empirical(Bounded):
    """A policy that keeps the rewards of every arm on a grid over their range."""

    def params(self, family: Family) -> Floats:
        low, high = ends_of_rewards(self.name, self.range, family)
        return np.array([low, high - low])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros((arms, CELLS + 1)), np.zeros((2, arms)))

    def resettled(self, memory: Memory, fresh: Memory, places: Sequence[int]) -> Memory:
        counts = rearranged(memory.counts, fresh.counts, 0, places)
        return Memory(counts, rearranged(memory.seen, fresh.seen, 1, places))

    def forget(self, memory: Memory, arm: int) -> None:
        """A grid cannot be made from a belief: it begins anew."""
        memory.counts[arm] = 0.0
        memory.seen[:, arm] = 0.0


@kernel
def learn(family, law, params, ledger, memory, arm, reward):
    """Share a reward between the two points beside it."""
    inside = min(max((reward - params[0]) / params[1], 0.0), 1.0)
    place = min(int(inside * CELLS), CELLS - 1)
    above = inside * CELLS - place
    memory.counts[arm, place] += 1.0 - above
    memory.counts[arm, place + 1] += above
    memory.seen[0, arm] += 1.0
    memory.seen[1, arm] += inside


@kernel
def slope_at(counts, mean, tilt):
    """The slope in λ of Σ c ln(1 − λ(x − μ)), and its bend."""
    slope, bend = 0.0, 0.0
    for i in range(counts.size):
        if counts[i] > 0.0:
            apart = i / CELLS - mean
            share = apart / (1.0 - tilt * apart)
            slope -= counts[i] * share
            bend -= counts[i] * share * share
    return slope, bend


@kernel
def k_inf(counts, mean):
    """n·K_inf of an arm against a mean, by Newton's method in a bracket."""
    if mean >= 1.0:
        return np.inf if counts.sum() > counts[CELLS] else 0.0
    low, high = 0.0, 1.0 / (1.0 - mean)
    if slope_at(counts, mean, 0.0)[0] <= 0.0:
        return 0.0
    tilt = high
    if counts[CELLS] > 0.0 or slope_at(counts, mean, high)[0] < 0.0:
        tilt = 0.5 * high
        for _ in range(_STEPS):
            slope, bend = slope_at(counts, mean, tilt)
            if slope > 0.0:
                low = tilt
            else:
                high = tilt
            new = tilt - slope / bend
            if not low < new < high:
                new = 0.5 * (low + high)
            done = abs(new - tilt) <= _CLOSE * high
            tilt = new
            if done:
                break
    total = 0.0
    for i in range(counts.size):
        if counts[i] > 0.0:
            total += counts[i] * math.log(max(1.0 - tilt * (i / CELLS - mean), 1e-300))
    return max(total, 0.0)
