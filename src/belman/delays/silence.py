"""What silence says: an open ticket of age s of which nothing was told has likelihood 1 − pF(s).

As a function of p, its logarithm has the slope −g and the curvature −g² with g = F/(1 − pF). At the
expected chance p these are the slope and the curvature of F(1 − p)²/(1 − pF)² failures and of
−p²F(1 − F)/(1 − pF)² successes: none of a failure at F = 0, F of one as p → 0, one at F = 1. So
the belief stays Beta(α, β), right to second order where it lies. In slope alone it is a failure of
weight F(1 − p)/(1 − pF).
"""

from __future__ import annotations

from belman.delays.estimate import between
from belman.engine import kernel

_STEPS = 100
_SAME = 1e-10


@kernel
def share(p, known):
    """The successes (none, or less) and failures that an open silent ticket counts, if F is so."""
    rest = 1.0 - p * known
    miss = (1.0 - p) / rest
    return -p * p * known * (1.0 - known) / (rest * rest), known * miss * miss


@kernel
def middle_age(d, cells, part):
    """The middle of the ages, in cells, of tickets asked d cells ago, `part` of a cell into now."""
    return float(cells) if d == cells else (0.5 * part if d == 0 else d + part - 0.5)


@kernel
def count_silence(counts, cdf, part, arm, won, lost, out):
    """The successes and failures that the open tickets of an arm count, told ones included.

    `won` and `lost` are its belief's α and β without them; p is the expected chance with them.
    """
    cells, head = counts.delays.size, counts.head[0]
    won += counts.successes[arm]
    more, less = 0.0, 0.0
    p = won / (won + lost)
    for _ in range(_STEPS):
        less, more = 0.0, 0.0
        for d in range(cells + 1):
            number = counts.silent[arm, cells if d == cells else (head - d) % cells]
            if number > 0:
                known = between(cdf, middle_age(d, cells, part))
                success, failure = share(p, known)
                less += number * success
                more += number * failure
        less = max(less, -0.5 * won)
        moved = (won + less) / (won + less + lost + more)
        same = abs(moved - p) <= _SAME * moved
        p = moved
        if same:
            break
    out[0] = counts.successes[arm] + less
    out[1] = more
