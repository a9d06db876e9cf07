"""The law of the delays, F, from tickets told: the product-limit estimate in reverse time.

A delay D of an open ticket of age A is seen only if D ≤ A: it is truncated from the right. Going
back from the end of the window, the chance that a delay of at most s lies in the cell of s is N/R:
N delays in that cell, among the R tickets told with a delay of at most s that were old enough for
one of s (Lynden-Bell; Woodroofe). F is the product of 1 − N/R over all later cells. A told ticket
is at least as old as its delay, so R is the number of delays up to s less the number of told
tickets younger than s, and no ticket has to be remembered. Some pseudo-observations, spread over
the window, are the prior.
"""

from __future__ import annotations

from belman.engine import kernel

#: Pseudo-observations of the prior.
PRIOR = 4.0


@kernel
def estimate(counts, prior, cdf, doubt):
    """F at the edges of the cells (C + 1), and the variance of its logarithm (Greenwood's sum)."""
    cells, head = counts.delays.size, counts.head[0]
    seen, younger = 0.0, 0.0
    for s in range(cells):
        seen += counts.delays[s]
        younger += counts.told[(head - s) % cells]
    cdf[cells], doubt[cells] = 1.0, 0.0
    for s in range(cells - 1, -1, -1):
        events = counts.delays[s]
        age = counts.told[(head - s) % cells]
        younger -= age
        # half of the tickets that are in this cell of their age were old enough for it
        risk = max(seen - younger - 0.5 * age, events) + prior * (s + 1) / cells
        hazard = (events + prior / cells) / risk
        seen -= events
        cdf[s] = cdf[s + 1] * max(1.0 - hazard, 0.0) if s > 0 else 0.0
        doubt[s] = doubt[s + 1] + (hazard / (risk * (1.0 - hazard)) if hazard < 1.0 else 0.0)


@kernel
def between(values, x):
    """A function on the edges of the cells, x cells from the start; straight between edges."""
    last = values.size - 1
    if x >= last:
        return values[last]
    left = int(max(x, 0.0))
    return values[left] + (max(x, 0.0) - left) * (values[left + 1] - values[left])
