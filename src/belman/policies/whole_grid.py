"""Histories without their order, in bounded memory: whole counts of rewards on a grid.

Each reward is entered at a point of the grid of `empirical.py`, and what rounding took from it is
added to the next one of the arm: sums are kept to half a cell, and sub-samples and bootstraps can
be drawn from counts. Rewards on the grid (coins, ratings) are kept as they are.
"""

from __future__ import annotations

from belman.engine import kernel
from belman.policies.counting_draws import binomial, hypergeometric
from belman.policies.empirical import CELLS

#: Rows of `seen`: rewards of an arm, their sum on the scale from 0 to 1, and what rounding left.
SEEN, SUM, CARRY, ROWS = 0, 1, 2, 3


@kernel
def learn(family, law, params, ledger, memory, arm, reward):
    inside = min(max((reward - params[0]) / params[1], 0.0), 1.0)
    place = inside * CELLS + memory.seen[CARRY, arm]
    cell = int(min(max(place + 0.5, 0.0), CELLS))
    memory.counts[arm, cell] += 1.0
    memory.seen[SEEN, arm] += 1.0
    memory.seen[SUM, arm] += cell / CELLS
    memory.seen[CARRY, arm] = place - cell


@kernel
def sub_sample_mean(mind, counts, total, size):
    """The mean of so many rewards out of all, drawn without replacement."""
    left, wanted, drawn = total, size, 0.0
    for i in range(CELLS + 1):
        if counts[i] > 0.0 and wanted > 0.0:
            taken = hypergeometric(mind, counts[i], left - counts[i], wanted)
            drawn += taken * i
            wanted -= taken
            left -= counts[i]
    return drawn / (CELLS * size)


@kernel
def bootstrap_mean(mind, counts, total, extra):
    """The mean of as many draws, with replacement, as there are rewards and pseudo-rewards.

    Of these there are `extra` of 0 and `extra` of 1.
    """
    size = total + 2.0 * extra
    left, wanted, drawn = size, size, 0.0
    for i in range(CELLS + 1):
        here = counts[i] + (extra if i in (0, CELLS) else 0.0)
        if here > 0.0 and wanted > 0.0:
            taken = binomial(mind, wanted, here / left)
            drawn += taken * i
            wanted -= taken
            left -= here
    return drawn / (CELLS * size)
