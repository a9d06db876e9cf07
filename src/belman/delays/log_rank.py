"""Do delays differ between arms? A log-rank test on the delays of tickets whose window has closed.

Under one law the delays of an arm fall, cell by cell, as those of all arms do: of R tickets whose
delay is not shorter, R_a of them an arm's, N have theirs in this cell, N·R_a/R of them the arm's.
The sums over cells of what was found less what is expected have a hypergeometric covariance, and
their square in its metric is χ² with one degree of freedom less than there are arms.

It is looked at when the number of such delays has doubled, and the j-th look may be wrong with
chance RATE/(j(j + 1)): by the union bound all looks together raise a false alarm with chance RATE.
"""

from __future__ import annotations

import numpy as np

from belman.delays.counts import Integers
from belman.special import gamma_survival

#: The chance of a false alarm, over all looks there will ever be.
RATE = 0.01
#: Delays at the first look; an arm is compared when it has FEW of them.
FIRST_LOOK, FEW = 128, 10


def log_rank(delays: Integers) -> float:
    """The p-value of one law for all arms (K × C counts of delays); 1 where there is no contrast.

    >>> same, other = [8, 4, 2, 1], [1, 2, 4, 8]
    >>> log_rank(np.array([same, same])), log_rank(np.array([same, other])) < 0.01
    (1.0, True)
    """
    found = delays[delays.sum(axis=1) >= FEW].astype(np.float64)
    if len(found) < 2:
        return 1.0
    events = found.sum(axis=0)
    at_risk = np.cumsum(found[:, ::-1], axis=1)[:, ::-1]
    all_at_risk = at_risk.sum(axis=0)
    useful = (events > 0.0) & (all_at_risk > 1.0)
    shares = at_risk[:, useful] / all_at_risk[useful]
    spread = (
        events[useful]
        * (all_at_risk[useful] - events[useful])
        / np.maximum(all_at_risk[useful] - 1.0, 1.0)
    )
    excess = (found[:, useful] - events[useful] * shares).sum(axis=1)
    covariance = np.diag(shares @ spread) - (shares * spread) @ shares.T
    rank = len(found) - 1
    chi_squared = float(excess[:rank] @ np.linalg.pinv(covariance[:rank, :rank]) @ excess[:rank])
    return float(gamma_survival(0.5 * rank, 0.5 * max(chi_squared, 0.0)))


def looks_due(number: int) -> int:
    """How many looks there are at the time of so many delays.

    >>> [looks_due(number) for number in (127, 128, 255, 256, 1024)]
    [0, 1, 1, 2, 4]
    """
    return max((number // FIRST_LOOK).bit_length(), 0)


def level_of(look: int) -> float:
    """The chance with which a look may be wrong: over all looks they sum to RATE.

    >>> round(sum(level_of(look) for look in range(1, 100_000)), 4)
    0.01
    """
    return RATE / (look * (look + 1))
