"""Exploration in phases: arms in play share a phase's turns, and some are decided at its end.

Successive Accepts and Rejects (Bubeck, Wang and Viswanathan, 2013): each phase decides an arm.

Phase k of K − 1 ends when each arm in play has n_k = ⌈(T − K)/(c (K + 1 − k))⌉ plays, with c = ½ +
Σ_{i=2}^K 1/i. Then the arm farthest from the border between the m′ best (those still wanted) and
the others is accepted or rejected.

Successive Rejects (Audibert, Bubeck and Munos, 2010): each phase drops the worst average.

It is Successive Accepts and Rejects for one best arm: no average is as far above the second as the
last is below the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import Arms, Turns
from belman.registry import register

IN_PLAY, ACCEPTED, REJECTED = 0.0, 1.0, -1.0
#: Where params have their numbers: the budget of turns, and how many arms are wanted.
BUDGET, WANTED = 0, 1
_FAR = 1e300


class Memory(NamedTuple):
    """What was decided of arms, the plays of each arm in play at the phase's end, the phase."""

    standing: Floats = part("K", whole=(-1, 1))
    quota: Floats = part(1, whole=(0, 2**53))
    phase: Floats = part(1, whole=(0, "K+1"))


@kernel
def value(ledger, arm):
    """The average of an arm, the lowest there is before it is played."""
    return average(ledger, arm) if known(ledger, arm, 0.0) else -_FAR


@kernel
def _is_over(ledger, memory, turn):
    """Whether every arm in play has its plays and all rewards are in: nothing imagined decides."""
    total, waiting, playing = 0.0, 0, 0
    for a in range(ledger.plays.size):
        total += ledger.plays[a]
        if memory.standing[a] == IN_PLAY:
            playing += 1
            waiting += ledger.plays[a] < memory.quota[0]
    return playing > 0 and waiting == 0 and total < turn


@factory
def bundle_with(close: Callable[..., None]) -> PolicyKernels:
    """Kernels whose phases end by `close(params, ledger, memory, rng)`, which sets the quota."""

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        """The fewest plays in play first; then, if need be, the accepted and the rejected."""
        for _ in range(index.size + 1):
            if not _is_over(ledger, memory, turn):
                break
            close(params, ledger, memory, rng)
        for a in range(index.size):
            decided = 0.5 * _FAR if memory.standing[a] == ACCEPTED else _FAR
            index[a] = -ledger.plays[a] - (0.0 if memory.standing[a] == IN_PLAY else decided)

    return PolicyKernels(indices, recommend=_recommend, finished=_finished)


@kernel
def _recommend(family, constants, params, ledger, memory, score):
    """Accepted arms, then those in play by their averages."""
    for a in range(score.size):
        standing = memory.standing[a]
        score[a] = value(ledger, a) if standing == IN_PLAY else standing * np.inf


@kernel
def _finished(family, constants, params, ledger, memory):
    playing = 0
    for a in range(memory.standing.size):
        playing += memory.standing[a] == IN_PLAY
    return playing == 0


@dataclass(frozen=True)
class Elimination(Policy):
    """A policy that spends a budget in phases to find the best arm."""

    budget: Turns

    remembers = Memory

    @property
    def wanted(self) -> int:
        """How many of the best arms it looks for."""
        return 1

    def params(self, family: Family) -> Floats:
        return np.array([float(self.budget), float(self.wanted)])

    def check(self, family: Family, arms: int) -> None:
        if self.budget <= arms:
            why = f"budget={self.budget} is too small for {arms} arms"
            raise PolicyError(f"{self.name} plays every arm, and some of them again: {why}")
        if self.wanted > arms:
            asked = f"{self.name} is asked for the {self.wanted} best of {arms} arms"
            raise PolicyError(f"{asked}: m={self.wanted} is too large")


@dataclass(frozen=True)
class EliminationOfMost(Elimination):
    """A policy that spends a budget in phases to find the m best arms."""

    m: Arms = 1

    @property
    def wanted(self) -> int:
        return self.m


@kernel
def quota(budget, arms, phase):
    """n_k."""
    total = 0.5
    for i in range(2, arms + 1):
        total += 1.0 / i
    return math.ceil((budget - arms) / (total * (arms + 1 - phase)))


@kernel
def _ranked(ledger, memory, rank):
    """The average of the arm in play with that rank, from 1."""
    result = np.inf
    passed = 0
    while passed < rank:
        below, ties = -np.inf, 0
        for a in range(memory.standing.size):
            if memory.standing[a] == IN_PLAY and value(ledger, a) < result:
                if value(ledger, a) > below:
                    below, ties = value(ledger, a), 0
                ties += value(ledger, a) == below
        if ties == 0:  # fewer arms are in play
            break
        result = below
        passed += ties
    return result


@kernel
def decide_one(ledger, memory, wanted, playing, rng):
    """Decide the arm in play farthest from the border; ties are drawn, rejecting comes first."""
    inner = _ranked(ledger, memory, wanted) if wanted > 0 else 0.0
    outer = _ranked(ledger, memory, wanted + 1) if wanted < playing else 0.0
    best, arm, ties, accepts = -np.inf, 0, 0, False
    for a in range(memory.standing.size):
        if memory.standing[a] == IN_PLAY:
            mean = value(ledger, a)
            inside = wanted == playing or (wanted > 0 and mean > outer)
            gap = mean - outer if inside else inner - mean
            if gap > best or (gap == best and accepts and not inside):
                best, arm, ties, accepts = gap, a, 1, inside
            elif gap == best and accepts == inside:
                ties += 1
                if chance.below(rng, ties) == 0:
                    arm = a
    memory.standing[arm] = ACCEPTED if accepts else REJECTED


@kernel
def close(params, ledger, memory, rng):
    wanted, playing = int(params[WANTED]), 0
    for a in range(memory.standing.size):
        playing += memory.standing[a] == IN_PLAY
        wanted -= memory.standing[a] == ACCEPTED
    if memory.phase[0] > 0.0:
        decide_one(ledger, memory, wanted, playing, rng)
        playing -= 1
    arms = memory.standing.size
    memory.phase[0] += 1.0
    memory.quota[0] = quota(params[BUDGET], arms, memory.phase[0]) if playing > 1 else 0.0


KERNELS = bundle_with(close)


@register
class SuccessiveAcceptsRejects(EliminationOfMost):
    """Spend a budget on finding the m best arms, deciding one arm at a time.

    Parameters
    ----------
    budget
        The number of turns of play.
    m
        The number of best arms to find.

    >>> SuccessiveAcceptsRejects(budget=1_000, m=3)
    SuccessiveAcceptsRejects(budget=1000, m=3)
    """

    name = "successive-accepts-rejects"
    kernels = KERNELS


@register
class SuccessiveRejects(Elimination):
    """Spend a budget on finding the best arm, rejecting one arm at a time.

    Parameters
    ----------
    budget
        The number of turns of play.

    >>> SuccessiveRejects(budget=1_000)
    SuccessiveRejects(budget=1000)
    """

    name = "successive-rejects"
    kernels = KERNELS
