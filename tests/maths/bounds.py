"""What the bounds of docs/maths/optimality.md are made of."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from belman.policies.belman.evidence import MEAN, WORTH

ROUNDING = 1e-9


def d(x, y):
    return special.rel_entr(x, y) + special.rel_entr(1.0 - x, 1.0 - y)


def d_plus(x, m):
    """d(x, m) for x ≤ m, else 0."""
    return d(min(x, m), m)


def at_most(left, right):
    return left <= right + ROUNDING * (1.0 + abs(right))


def moment(n, m, best):
    """E[exp(n d(μ̂, m)); μ̂ ≤ m], the sum over all outcomes of n coins."""
    hits = np.arange(math.floor(n * m) + 1)
    logs = stats.binom.logpmf(hits, n, best) + n * d(hits / n, m)
    return float(np.exp(special.logsumexp(logs)))


def judged(seat):
    """Means and worths as the policy has them, and plays."""
    memory = seat.memory
    return memory.judged[MEAN].copy(), memory.judged[WORTH].copy(), seat.ledger.plays.copy()
