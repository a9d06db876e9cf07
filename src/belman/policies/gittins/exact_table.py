"""The table of finite-horizon Gittins indices of Bernoulli arms, by calibration.

With m turns left the index of Beta(α, β) is the reward λ a turn, known, against which one more play
is worth nothing: W(α, β, m) = max(0, μ − λ + μ W(α + 1, β, m − 1) + (1 − μ) W(α, β + 1, m − 1)) is
0 first there. For rising λ of a mesh the states that are worth playing get fewer; between two λ the
value of playing is taken for straight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from belman.engine import entry, inlined_kernel, kernel

Floats = NDArray[np.float64]
_MESH = 1_000  # of λ


@inlined_kernel
def position(played: int, plays: int, wins: int):
    """Where the state of an arm stands: turns played by all arms, plays and successes of it."""
    before = played * (played + 1) * (played + 2) // 6
    return before + plays * (plays + 1) // 2 + wins


def nodes(horizon: int) -> int:
    """How many states there are before the last of `horizon` turns."""
    return horizon * (horizon + 1) * (horizon + 2) // 6


@kernel
def _fill(horizon: int, alpha, beta, mesh: int, first, edge, worth, table):
    """Sweep over rising λ; `first[played, n]` is the least number of successes worth playing."""
    before = 0.0
    for step in range(mesh + 1):
        level = (step + 0.5) / (mesh + 1.0)
        worth[:] = 0.0
        for left in range(1, horizon + 1):
            played = horizon - left
            for n in range(played + 1):
                row, lost = n * (n + 1) // 2, (n + 1) * (n + 2) // 2
                low = first[played, n]
                for s in range(low, n + 1):
                    mean = (alpha + s) / (alpha + beta + n)
                    gain = mean - level + mean * worth[lost + s + 1]
                    gain += (1.0 - mean) * worth[lost + s]
                    here = position(played, n, s)
                    if gain <= 0.0:
                        share = edge[here] / (edge[here] - gain) if step > 0 else 1.0
                        table[here] = before + (level - before) * share
                        first[played, n] = s + 1
                        gain = 0.0
                    edge[here] = gain
                    worth[row + s] = gain
                if low > 0:
                    worth[row + low - 1] = 0.0
        before = level
    for here in range(table.size):
        if table[here] == 0.0:
            table[here] = 1.0


def indices(horizon: int, alpha: float, beta: float, mesh: int = _MESH) -> Floats:
    """The index at every state, at its `position`, of arms that begin as Beta(α, β).

    >>> result = indices(2, 1.0, 1.0)
    >>> round(float(result[0]), 4), round(5 / 9, 4)
    (0.5556, 0.5556)
    """
    table = np.zeros(nodes(horizon))
    entry(_fill)(
        horizon=horizon, alpha=alpha, beta=beta, mesh=mesh,
        first=np.zeros((horizon, horizon), dtype=np.int64), edge=np.zeros(len(table)),
        worth=np.zeros((horizon + 1) * (horizon + 2) // 2), table=table,
    )  # fmt: skip
    return table
