"""What it is worth to be told when play ends: `BelMan.until(T)` beside the default, tails included.

`python -m benchmarks.told [RUNS]`, by default 1,000 runs: mean regret with half of its 95 %
interval, and the 99th percentile with a 95 % interval from the order of the runs. On the first
problem the prior is right, on the others it is not. A table, and no claim.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import belman
from belman.figures.figure import SEED
from belman.figures.players import TWENTY
from belman.lab import simulate
from belman.measures import half_width
from belman.problems import Problem
from belman.suite import suite
from belman.table import Table

TURNS = 1_000
_DRAWS = 4_000


def problems() -> dict[str, Problem]:
    """Those that are played for 1,000 turns."""
    cells = {cell.name: cell.problem for cell in suite().cells}
    gaussian = "gaussian, 50 arms, 1,000 turns"
    return {
        "10 arms, uniform": belman.problems.random_bernoulli(10),
        "2 arms, 0.9 and 0.8": belman.problems.bernoulli([0.9, 0.8]),
        "20 arms, 0.25 to 0.01": belman.problems.bernoulli(list(TWENTY)),
        gaussian: cells[gaussian],
    }


def tail(regret: NDArray[np.float64]) -> str:
    """The 99th percentile, and a 95 % interval: the runs whose ranks enclose it that often."""
    ranks = np.random.default_rng(1).binomial(len(regret), 0.99, _DRAWS)
    low, high = np.quantile(ranks, [0.025, 0.975]).astype(int)
    ordered = np.sort(regret)
    last = len(ordered) - 1
    ends = f"{ordered[max(low - 1, 0)]:.1f}–{ordered[min(high, last)]:.1f}"
    return f"{np.quantile(ordered, 0.99):.1f} ({ends})"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    players = {"default": belman.BelMan(), "until": belman.BelMan.until(TURNS)}
    rows = []
    for name, problem in problems().items():
        result = simulate(players, problem, TURNS, runs, SEED, progress=False)
        row = {"problem": name}
        for who in players:
            regret = result.regret.sel(player=who).isel(turn=-1)
            row[f"{who}, mean"] = f"{float(regret.mean()):.1f} ± {float(half_width(regret)):.1f}"
            row[f"{who}, 99th percentile"] = tail(regret.values)
        rows.append(row)
    print(Table({column: [row[column] for row in rows] for column in rows[0]}, "regret"))


if __name__ == "__main__":
    main()
