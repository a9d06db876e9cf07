"""Halving: all arms of a round alike, and the worse half out.

Sequential Halving (Karnin, Koren and Somekh, 2013): after each round the better half stays.

With L = ⌈log₂(K/m)⌉ rounds an arm of S that are left gets ⌊T/(S L)⌋ plays in a round (at least
one). Averages are over all rounds so far, where the paper's proof starts each round afresh.

Anytime Sequential Halving (Sagers, Winands and Soemers, 2024): halving that needs no budget.

A pass goes in rounds of K plays: over all arms, then over the better half of them by averages over
all passes, and so on down to two arms; then the next pass begins. Where K plays do not go evenly,
the better arms of a round have one more, as in the authors' code. Stopped at any time, plays are
spread as Sequential Halving spreads a budget. Cost: a sort of the arms once a round.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.best_arm.elimination import (
    ACCEPTED,
    BUDGET,
    IN_PLAY,
    REJECTED,
    WANTED,
    EliminationOfMost,
    bundle_with,
    value,
)
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick
from belman.registry import register


@kernel
def rounds(arms, wanted):
    """⌈log₂(K/m)⌉, by doubling."""
    count, reach = 0, wanted
    while reach < arms:
        reach *= 2
        count += 1
    return count


@kernel
def _drop_worst(ledger, memory, rng, drops):
    """Reject that many arms in play, the worst first; `standing` holds the scores meanwhile."""
    standing = memory.standing
    for a in range(standing.size):
        standing[a] = -value(ledger, a) if standing[a] == IN_PLAY else np.nan
    for _ in range(drops):
        arm, _ = pick(standing, rng)
        standing[arm] = np.nan
    for a in range(standing.size):
        standing[a] = REJECTED if math.isnan(standing[a]) else IN_PLAY


@kernel
def close(params, ledger, memory, rng):
    arms, wanted, playing = memory.standing.size, int(params[WANTED]), 0
    for a in range(arms):
        playing += memory.standing[a] == IN_PLAY
    if memory.phase[0] > 0.0:
        stays = max(wanted, (playing + 1) // 2)
        _drop_worst(ledger, memory, rng, playing - stays)
        playing = stays
    memory.phase[0] += 1.0
    if playing > wanted:
        memory.quota[0] += max(math.floor(params[BUDGET] / (playing * rounds(arms, wanted))), 1.0)
    else:
        for a in range(arms):
            if memory.standing[a] == IN_PLAY:
                memory.standing[a] = ACCEPTED


@register
class SequentialHalving(EliminationOfMost):
    """Spend a budget on finding the m best arms, halving the arms in play round by round.

    Parameters
    ----------
    budget
        The number of turns of play.
    m
        The number of best arms to find.

    >>> SequentialHalving(budget=1_000)
    SequentialHalving(budget=1000, m=1)
    """

    name = "sequential-halving"
    kernels = bundle_with(close)


_OUT = -1.0


class Memory(NamedTuple):
    """What is left to play in the round, or that an arm is out of it."""

    left: Floats = part("K", whole=(-1, "K"))


@kernel
def _next_round(ledger, memory):
    """The better half of the arms in the round, or all after two, share as many plays as arms."""
    left, arms, size = memory.left, memory.left.size, 0
    for a in range(arms):
        size += left[a] != _OUT
    if size <= 2:
        left[:], size = 0.0, 2 * arms
    stays = (size + 1) // 2
    for a in range(arms):
        above = 0
        for b in range(arms):
            ahead = value(ledger, b) > value(ledger, a)
            ahead = ahead or (value(ledger, b) == value(ledger, a) and b < a)
            above += ahead and left[b] != _OUT
        left[a] = _OUT if left[a] == _OUT else above
    for a in range(arms):
        if left[a] != _OUT:
            left[a] = arms // stays + (left[a] < arms % stays) if left[a] < stays else _OUT


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Arms never played, then the one with most left of the round, which is counted at once."""
    unknown, waiting = 0, 0
    for a in range(index.size):
        if index[a] == index[a]:
            unknown += ledger.plays[a] == 0.0
            waiting += memory.left[a] > 0.0
    if unknown == 0 and waiting == 0:
        _next_round(ledger, memory)
    best = -1
    for a in range(index.size):
        closed = index[a] != index[a]
        index[a] = np.inf if ledger.plays[a] == 0.0 else memory.left[a]
        if not closed and (best < 0 or memory.left[a] > memory.left[best]):
            best = a
    if unknown == 0:
        index[best] += 0.5
        if memory.left[best] > 0.0:
            memory.left[best] -= 1.0


@register
class AnytimeHalving(Policy):
    """Sequential Halving in passes, to be stopped at any time.

    >>> AnytimeHalving()
    AnytimeHalving()
    """

    name = "anytime-halving"
    kernels = PolicyKernels(indices)
    remembers = Memory
