"""Policies by the rates of Lai and Robbins: IMED, DMED and OSSB.

IMED (Honda and Takemura, 2015): argmin_a n_a d(μ̂_a, μ̂*) + ln n_a, μ̂* the best average.

DMED, deterministic minimum empirical divergence (Honda and Takemura, 2010): a list of arms.

The next list holds the arms with n_a d(μ̂_a, μ̂*) ≤ ln(t/n_a), with μ̂* the best average.

OSSB, optimal sampling for structured bandits (Combes, Magureanu and Proutière, 2017).

Plays track the rates of the lower bound, here of arms that tell nothing of one another: n_a →
ln t/d(μ̂_a, μ̂*). If all have (1 + γ) ln t of evidence against them, the best average is played; else
the least played, if it has at most ε s plays after s such turns, else the arm with the least
evidence. Every arm is played once first. Regret comes to the lower bound as ε and γ fall to 0; the
defaults, 0.01, are this library's (0 is what other code has). Cost: one evidence an arm and turn.
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
from belman.policies.settings import is_number, require


class IMEDMemory(NamedTuple):
    """Per arm: the average and ln n, −∞ before it is known, and its side of the evidence."""

    mean: Floats  # (K)
    log_plays: Floats  # (K)
    terms: Floats  # (`term_count`, K)
    scratch: Floats  # (`term_count`)


@kernel
def imed_refresh(family, law, params, ledger, memory, arm):
    keep_standing(family, law, params[0], ledger, memory, arm)
    known = memory.mean[arm] > -np.inf
    memory.log_plays[arm] = math.log(ledger.plays[arm]) if known else -np.inf


@kernel
def imed_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    leading = leader(memory.mean, index)
    if leading == -np.inf:
        index[:] = np.inf
        return
    family.weights(law, leading, memory.scratch)
    for a in range(index.size):
        index[a] = -(against(family, ledger, memory, a) + memory.log_plays[a])


IMED_KERNELS = PolicyKernels(imed_refresh, imed_indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class IMED(Policy):
    """Play the arm with the least evidence against its being the best, and few plays.

    >>> IMED()
    IMED()
    """

    name = "imed"
    kernels = IMED_KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family)])

    def memory(self, arms: int, dimension: int) -> IMEDMemory:
        terms = term_count(dimension)
        return IMEDMemory(np.zeros(arms), np.zeros(arms), np.zeros((terms, arms)), np.zeros(terms))


class DMEDMemory(NamedTuple):
    """Per arm: average (−∞ before it is known), side of the evidence, whether listed, plays."""

    mean: Floats  # (K)
    terms: Floats  # (`term_count`, K)
    listed: Floats  # (K)
    plays: Floats  # (K)
    scratch: Floats  # (`term_count`)


@kernel
def dmed_refresh(family, law, params, ledger, memory, arm):
    """A played arm leaves the list. Fading counts fall strictly: one that has not was played."""
    if ledger.plays[arm] >= memory.plays[arm]:
        memory.listed[arm] = 0.0
    memory.plays[arm] = ledger.plays[arm]
    keep_standing(family, law, params[0], ledger, memory, arm)


@kernel
def dmed_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
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


DMED_KERNELS = PolicyKernels(dmed_refresh, dmed_indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class DMED(Policy):
    """Play, one after the other, the arms that the evidence has not refuted.

    >>> DMED()
    DMED()
    """

    name = "dmed"
    kernels = DMED_KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family)])

    def memory(self, arms: int, dimension: int) -> DMEDMemory:
        mean, listed, plays = (np.zeros(arms) for _ in range(3))
        terms = term_count(dimension)
        return DMEDMemory(mean, np.zeros((terms, arms)), listed, plays, np.zeros(terms))

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"listed": (0, 1)}

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t."""
        return np.log(turns)


class OSSBMemory(NamedTuple):
    """What is known of each arm, and how many turns were spent exploring."""

    mean: Floats  # (K) average, −∞ before it is known
    terms: Floats  # (`term_count`, K) its side of the evidence
    scratch: Floats  # (`term_count`)
    explored: Floats  # (1)


@kernel
def ossb_refresh(family, law, params, ledger, memory, arm):
    keep_standing(family, law, params[0], ledger, memory, arm)


@kernel
def ossb_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
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


OSSB_KERNELS = PolicyKernels(ossb_refresh, ossb_indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class OSSB(Policy):
    """Explore as much as the lower bound asks for, else play the best average.

    >>> OSSB()
    OSSB(epsilon=0.01, gamma=0.01)
    """

    epsilon: float = 0.01
    gamma: float = 0.01

    name = "ossb"
    kernels = OSSB_KERNELS

    def __post_init__(self) -> None:
        fits = is_number(self.epsilon) and 0.0 <= self.epsilon <= 1.0
        require(self, "epsilon", fits, "a number from 0 to 1")
        require(self, "gamma", is_number(self.gamma) and self.gamma >= 0.0, "a number from 0 up")

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family), self.epsilon, self.gamma])

    def memory(self, arms: int, dimension: int) -> OSSBMemory:
        terms = term_count(dimension)
        return OSSBMemory(np.zeros(arms), np.zeros((terms, arms)), np.zeros(terms), np.zeros(1))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t."""
        return np.log(turns)
