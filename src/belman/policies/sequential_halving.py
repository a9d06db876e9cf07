"""Sequential Halving (Karnin, Koren and Somekh, 2013): after each round the better half stays.

With L = ⌈log₂(K/m)⌉ rounds an arm of S that are left gets ⌊T/(S L)⌋ plays in a round (at least
one). Averages are over all rounds so far, where the paper's proof starts each round afresh.
"""

from __future__ import annotations

import math

import numpy as np

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
from belman.policies.policy import pick


@kernel
def rounds(arms, wanted):
    """⌈log₂(K/m)⌉, by doubling."""
    count, reach = 0, wanted
    while reach < arms:
        reach *= 2
        count += 1
    return count


@kernel
def _drop_worst(ledger, memory, mind, drops):
    """Reject that many arms in play, the worst first; `standing` holds the scores meanwhile."""
    standing = memory.standing
    for a in range(standing.size):
        standing[a] = -value(ledger, a) if standing[a] == IN_PLAY else np.nan
    for _ in range(drops):
        arm, _ = pick(standing, mind)
        standing[arm] = np.nan
    for a in range(standing.size):
        standing[a] = REJECTED if math.isnan(standing[a]) else IN_PLAY


@kernel
def close(params, ledger, memory, mind):
    arms, wanted, playing = memory.standing.size, int(params[WANTED]), 0
    for a in range(arms):
        playing += memory.standing[a] == IN_PLAY
    if memory.phase[0] > 0.0:
        stays = max(wanted, (playing + 1) // 2)
        _drop_worst(ledger, memory, mind, playing - stays)
        playing = stays
    memory.phase[0] += 1.0
    if playing > wanted:
        memory.quota[0] += max(math.floor(params[BUDGET] / (playing * rounds(arms, wanted))), 1.0)
    else:
        for a in range(arms):
            if memory.standing[a] == IN_PLAY:
                memory.standing[a] = ACCEPTED


KERNELS = bundle_with(close)


class SequentialHalving(EliminationOfMost):
    """Spend a budget on finding the m best arms, halving the arms in play round by round.

    >>> SequentialHalving(budget=1_000)
    SequentialHalving(budget=1000, m=1)
    """

    name = "sequential-halving"
    kernels = KERNELS
