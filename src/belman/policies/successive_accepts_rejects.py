"""Successive Accepts and Rejects (Bubeck, Wang and Viswanathan, 2013): each phase decides an arm.

Phase k of K − 1 ends when each arm in play has n_k = ⌈(T − K)/(c (K + 1 − k))⌉ plays, with c = ½ +
Σ_{i=2}^K 1/i. Then the arm farthest from the border between the m′ best (those still wanted) and
the others is accepted or rejected.
"""

from __future__ import annotations

import math

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.elimination import (
    ACCEPTED,
    BUDGET,
    IN_PLAY,
    REJECTED,
    WANTED,
    EliminationOfMost,
    bundle_with,
    value,
)


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
    found = np.inf
    passed = 0
    while passed < rank:
        below, ties = -np.inf, 0
        for a in range(memory.standing.size):
            if memory.standing[a] == IN_PLAY and value(ledger, a) < found:
                if value(ledger, a) > below:
                    below, ties = value(ledger, a), 0
                ties += value(ledger, a) == below
        if ties == 0:  # fewer arms are in play
            break
        found = below
        passed += ties
    return found


@kernel
def decide_one(ledger, memory, wanted, playing, mind):
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
                if chance.below(mind, ties) == 0:
                    arm = a
    memory.standing[arm] = ACCEPTED if accepts else REJECTED


@kernel
def close(params, ledger, memory, mind):
    wanted, playing = int(params[WANTED]), 0
    for a in range(memory.standing.size):
        playing += memory.standing[a] == IN_PLAY
        wanted -= memory.standing[a] == ACCEPTED
    if memory.phase[0] > 0.0:
        decide_one(ledger, memory, wanted, playing, mind)
        playing -= 1
    arms = memory.standing.size
    memory.phase[0] += 1.0
    memory.quota[0] = quota(params[BUDGET], arms, memory.phase[0]) if playing > 1 else 0.0


KERNELS = bundle_with(close)


class SuccessiveAcceptsRejects(EliminationOfMost):
    """Spend a budget on finding the m best arms, deciding one arm at a time.

    >>> SuccessiveAcceptsRejects(budget=1_000, m=3)
    SuccessiveAcceptsRejects(budget=1000, m=3)
    """

    name = "successive-accepts-rejects"
    kernels = KERNELS
