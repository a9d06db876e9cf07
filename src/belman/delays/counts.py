"""What a window knows of its tickets: counts on a grid of cells, so that memory is bounded.

Open tickets are counted by the cell of time in which they were asked, told ones by the cell of
their delay. A ring holds the cells that the window still covers; what is older is *overdue*, in
the last slot, until it is closed.

From these comes the distribution of the delays, F: the product-limit estimate in reverse time. A
delay D of an open ticket of age A is seen only if D ≤ A: it is truncated from the right. Going back
from the end of the window, the chance that a delay of at most s lies in the cell of s is N/R: N
delays in that cell, among the R tickets told with a delay of at most s that were old enough for one
of s (Lynden-Bell; Woodroofe). F is the product of 1 − N/R over all later cells. A told ticket is at
least as old as its delay, so R is the number of delays up to s less the number of told tickets
younger than s, and no ticket has to be remembered.

The prior is a Dirichlet process of a few pseudo-observations about √(s/window): people choose a
window that most successes come well before the end of, so half are expected in its first quarter.
Then N/R of every cell is Beta's, independent of the others, and the first two moments of F are
products over cells.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.codec import Array
from belman.engine import kernel

Integers = NDArray[np.int64]

#: Cells that a window has.
CELLS = 256
#: Pseudo-observations of the prior.
PRIOR = 4.0
_MOST = 2**60
_LONG_AGO = -_MOST


class Counts(NamedTuple):
    """The counts of K arms over a window of C = `CELLS` cells."""

    head: Annotated[Integers, Array((1,), _LONG_AGO, _MOST)]  # the cell of time that it is
    #: Open tickets without a reward so far, by arm and by the cell of their ask.
    silent: Annotated[Integers, Array((None, CELLS + 1), 0, _MOST)]
    #: Open tickets of all arms that were told, by the cell of their ask; and of each arm.
    told: Annotated[Integers, Array((CELLS + 1,), 0, _MOST)]
    successes: Annotated[Integers, Array((None,), 0, _MOST)]
    #: All tickets that were told, by the cell of their delay; those whose window has closed.
    delays: Annotated[Integers, Array((CELLS,), 0, _MOST)]
    complete: Annotated[Integers, Array((None, CELLS), 0, _MOST)]
    watch: Annotated[Integers, Array((2,), 0, _MOST)]  # those, and how often arms were compared

    @classmethod
    def blank(cls, arms: int) -> Counts:
        """Of arms that were never asked."""
        shapes = ((1,), (arms, CELLS + 1), (CELLS + 1,), (arms,), (CELLS,), (arms, CELLS), (2,))
        counts = cls(*(np.zeros(shape, dtype=np.int64) for shape in shapes))
        counts.head[0] = _LONG_AGO
        return counts


@kernel
def slot(counts, cell):
    """Where tickets that were asked in a cell of time are counted."""
    cells = counts.delays.size
    return cell % cells if cell > counts.head[0] - cells else cells


@kernel
def advance(counts, cell: int):
    """Let time come to a cell; it never goes back. What the window no longer covers is overdue."""
    head, cells = counts.head[0], counts.delays.size
    for k in range(1, min(cell - head, cells) + 1):
        left = (cell - k + 1) % cells
        for a in range(len(counts.silent)):
            counts.silent[a, cells] += counts.silent[a, left]
            counts.silent[a, left] = 0
        counts.told[cells] += counts.told[left]
        counts.told[left] = 0
    counts.head[0] = max(head, cell)


@kernel
def count_asked(counts, arm: int, cell: int):
    """A ticket goes out."""
    advance(counts, cell)
    counts.silent[arm, slot(counts, cell)] += 1


@kernel
def count_told(counts, arm: int, cell: int, delay: int, change: int):
    """An open ticket that was asked in that cell is told (1), or it is not so after all (-1)."""
    where = slot(counts, cell)
    counts.silent[arm, where] -= change
    counts.told[where] += change
    counts.successes[arm] += change
    counts.delays[delay] += change


@kernel
def count_closed(counts, arm: int, cell: int, delay: int):
    """The window of a ticket is over; `delay` is -1 where nothing was told."""
    where = slot(counts, cell)
    if delay < 0:
        counts.silent[arm, where] -= 1
    else:
        counts.told[where] -= 1
        counts.successes[arm] -= 1
        counts.complete[arm, delay] += 1
        counts.watch[0] += 1


@kernel
def delay_cell(counts, delay: float, width: float):
    """The cell of a delay, the last one for what came at the end of the window or later."""
    return min(max(int(delay / width), 0), counts.delays.size - 1)


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
