"""The law of the delays, F, from tickets told: the product-limit estimate in reverse time.

A delay D of an open ticket of age A is seen only if D ≤ A: it is truncated from the right. Going
back from the end of the window, the chance that a delay of at most s lies in the cell of s is N/R:
N delays in that cell, among the R tickets told with a delay of at most s that were old enough for
one of s (Lynden-Bell; Woodroofe). F is the product of 1 − N/R over all later cells. A told ticket
is at least as old as its delay, so R is the number of delays up to s less the number of told
tickets younger than s, and no ticket has to be remembered.

The prior is a Dirichlet process of a few pseudo-observations about √(s/window): people choose a
window that most successes come well before the end of, so half are expected in its first quarter.
Then N/R of every cell is Beta's, independent of the others, and the first two moments of F are
products over cells.
"""

from __future__ import annotations

import math

from belman.engine import kernel

#: Pseudo-observations of the prior.
PRIOR = 4.0


@kernel
def expected(edge, cells):
    """F at an edge of the cells, as far as the prior says."""
    return math.sqrt(edge / cells)


@kernel
def estimate(counts, prior, cdf, doubt):
    """F at the edges of the cells (C + 1), and ln(1 + v), v its variance over its square."""
    cells, head = counts.delays.size, counts.head[0]
    seen, younger = 0.0, 0.0
    for s in range(cells):
        seen += counts.delays[s]
        younger += counts.told[(head - s) % cells]
    cdf[cells], doubt[cells] = 1.0, 0.0
    for s in range(cells - 1, 0, -1):
        events = counts.delays[s]
        age = counts.told[(head - s) % cells]
        younger -= age
        # half of the tickets that are in this cell of their age were old enough for it
        known = max(seen - younger - 0.5 * age, events)
        risk = known + prior * expected(s + 1, cells)
        shorter = known - events + prior * expected(s, cells)
        seen -= events
        cdf[s] = cdf[s + 1] * shorter / risk
        doubt[s] = doubt[s + 1] + math.log1p(1.0 / shorter) - math.log1p(1.0 / risk)
    cdf[0], doubt[0] = 0.0, doubt[1]


@kernel
def between(values, x):
    """A function on the edges of the cells, x cells from the start; straight between edges."""
    last = values.size - 1
    if x >= last:
        return values[last]
    left = int(max(x, 0.0))
    return values[left] + (max(x, 0.0) - left) * (values[left + 1] - values[left])
