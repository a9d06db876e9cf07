"""OSSB, optimal sampling for structured bandits (Combes, Magureanu and Proutière, 2017).

Plays track the rates of the lower bound, here of arms that tell nothing of one another: n_a →
ln t/d(μ̂_a, μ̂*). If all have (1 + γ) ln t of evidence against them, the best average is played; else
the least played, if it has at most ε s plays after s such turns, else the arm with the least
evidence. Every arm is played once first. Regret comes to the lower bound as ε and γ fall to 0; the
defaults, 0.01, are this library's (0 is what other code has). Cost: one evidence an arm and turn.
"""

from __future__ import annotations

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
from belman.policies.settings import is_number, require


class Memory(NamedTuple):
    """What is known of each arm, and how many turns were spent exploring."""

    mean: Floats  # (K) average, −∞ before it is known
    terms: Floats  # (`term_count`, K) its side of the evidence
    scratch: Floats  # (`term_count`)
    explored: Floats  # (1)


@kernel
def refresh(family, law, params, ledger, memory, arm):
    keep_standing(family, law, params[0], ledger, memory, arm)


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Params: the plays before an arm is known, ε and γ."""
    leading, fewest, least, unknown = leader(memory.mean, index), np.inf, np.inf, 0
    if leading > -np.inf:
        family.weights(law, leading, memory.scratch)
    for a in range(index.size):
        if index[a] != index[a]:
            continue
        index[a] = np.inf
        if memory.mean[a] == -np.inf:
            unknown += 1
            continue
        fewest = min(fewest, ledger.plays[a])
        if memory.mean[a] < leading:
            index[a] = against(family, ledger, memory, a)
            least = min(least, index[a])
    exploring = least < (1.0 + params[2]) * turn_value and unknown == 0
    if exploring:
        memory.explored[0] += 1.0
    forced = exploring and fewest <= params[1] * memory.explored[0]
    for a in range(index.size):
        if index[a] == index[a] and memory.mean[a] > -np.inf:
            if forced:
                index[a] = -ledger.plays[a]
            elif exploring:
                index[a] = -index[a]
            else:
                index[a] = memory.mean[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class OSSB(Policy):
    """Explore as much as the lower bound asks for, else play the best average.

    >>> OSSB()
    OSSB(epsilon=0.01, gamma=0.01)
    """

    epsilon: float = 0.01
    gamma: float = 0.01

    name = "ossb"
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_number(self.epsilon) and 0.0 <= self.epsilon <= 1.0
        require(self, "epsilon", fits, "a number from 0 to 1")
        require(self, "gamma", is_number(self.gamma) and self.gamma >= 0.0, "a number from 0 up")

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family), self.epsilon, self.gamma])

    def memory(self, arms: int, dimension: int) -> Memory:
        terms = term_count(dimension)
        return Memory(np.zeros(arms), np.zeros((terms, arms)), np.zeros(terms), np.zeros(1))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t."""
        return np.log(turns)
