"""Track-and-stop (Garivier and Kaufmann, 2016): plays follow the best proportions so far.

An arm with fewer than sqrt(t) − K/2 plays comes first; otherwise argmax_a t w*_a(μ̂) − n_a. With
Chernoff's stopping rule it needs T*(μ) ln(1/δ) turns as δ → 0, which no rule can better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known, plays_needed, variance
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.proportions import solve


class Memory(NamedTuple):
    """Averages and variances; the leader of the last turn, and where the search for w* ended."""

    mean: Floats  # (K) −∞ before the arm is known
    spread: Floats  # (K)
    ratios: Floats  # (K) w_a/w_*
    level: Floats  # (1) y, as a share of the most it can be
    leader: Floats  # (1)


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.mean[arm] = -np.inf
    if known(ledger, arm, params[0]):
        memory.mean[arm] = average(ledger, arm)
        memory.spread[arm] = max(variance(ledger, arm), 1e-300) if params[0] > 0.0 else 1.0


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """t w*_a − n_a, arms that lag behind above all; the fewest plays while no arm leads alone."""
    leader, ties, fewest, total = 0, 0, np.inf, 0.0
    for a in range(index.size):
        fewest = min(fewest, ledger.plays[a] if memory.mean[a] > -np.inf else -np.inf)
        total += ledger.plays[a]
        if memory.mean[a] > memory.mean[leader]:
            leader, ties = a, 0
        ties += memory.mean[a] == memory.mean[leader]
    if ties > 1 or fewest < turn_value - 0.5 * index.size or index.size == 1:
        for a in range(index.size):
            index[a] = -ledger.plays[a] if memory.mean[a] > -np.inf else np.inf
        return
    if memory.leader[0] != leader:
        memory.leader[0], memory.level[0] = leader, 0.0
        for a in range(index.size):
            memory.ratios[a] = 1.0
    level = solve(family, law, memory.mean, memory.spread, leader, memory.level[0], memory.ratios)
    memory.level[0] = level
    memory.ratios[leader] = 1.0
    weight = 0.0
    if np.isnan(level):  # means that no arm of the family has, as imagined rewards may give
        memory.level[0] = 0.0
        for a in range(index.size):
            memory.ratios[a] = 1.0
    for a in range(index.size):
        weight += memory.ratios[a]
    for a in range(index.size):
        index[a] = total * memory.ratios[a] / weight - ledger.plays[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class TrackAndStop(Policy):
    """Play the arm that lags most behind the proportions that tell the best arm soonest.

    >>> TrackAndStop()
    TrackAndStop()
    """

    name = "track-and-stop"
    kernels = KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(
            np.full(arms, -np.inf), np.ones(arms), np.ones(arms), np.zeros(1), np.full(1, -1.0)
        )

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"leader": (-1, arms - 1)}

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(t)."""
        return np.sqrt(turns)
