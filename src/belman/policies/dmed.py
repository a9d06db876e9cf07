"""DMED, deterministic minimum empirical divergence (Honda and Takemura, 2010): a list of arms.

The next list holds the arms with n_a d(μ̂_a, μ̂*) ≤ ln(t/n_a), with μ̂* the best average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family, term_count
from belman.policies.averages import against, keep_standing, plays_needed
from belman.policies.policy import (
    Floats,
    Policy,
    PolicyKernels,
    choose_by_index,
    leader,
    share_of_ties,
)


class Memory(NamedTuple):
    """Per arm: average (−∞ before it is known), side of the evidence, whether listed, plays."""

    mean: Floats  # (K)
    terms: Floats  # (`term_count`, K)
    listed: Floats  # (K)
    plays: Floats  # (K)
    scratch: Floats  # (`term_count`)


@kernel
def refresh(family, law, params, ledger, memory, arm):
    """A played arm leaves the list. Fading counts fall strictly: one that has not was played."""
    if ledger.plays[arm] >= memory.plays[arm]:
        memory.listed[arm] = 0.0
    memory.plays[arm] = ledger.plays[arm]
    keep_standing(family, law, params[0], ledger, memory, arm)


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """∞ for arms not yet known, 1 on the list; others by the evidence, if the list is closed."""
    leading, unknown, waiting = leader(memory.mean, index), 0, 0.0
    for a in range(index.size):
        unknown += memory.mean[a] == -np.inf
        waiting += memory.listed[a]
    if leading > -np.inf:
        family.weights(law, leading, memory.scratch)
    renews = waiting == 0.0 or unknown > 0
    for a in range(index.size):
        if memory.mean[a] == -np.inf:
            index[a] = np.inf
            continue
        evidence = against(family, ledger, memory, a)
        if renews:
            spared = memory.mean[a] == leading or evidence <= turn_value - math.log(ledger.plays[a])
            memory.listed[a] = 1.0 if spared else 0.0
        index[a] = 1.0 if memory.listed[a] > 0.0 else -evidence


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class DMED(Policy):
    """Play, one after the other, the arms that the evidence has not refuted.

    >>> DMED()
    DMED()
    """

    name = "dmed"
    kernels = KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family)])

    def memory(self, arms: int, dimension: int) -> Memory:
        mean, listed, plays = (np.zeros(arms) for _ in range(3))
        terms = term_count(dimension)
        return Memory(mean, np.zeros((terms, arms)), listed, plays, np.zeros(terms))

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"listed": (0, 1)}

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t."""
        return np.log(turns)
