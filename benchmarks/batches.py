"""How good decisions by weights are: regret in batches of N, beside Thompson sampling's.

Every player gives weights for N decisions, which are drawn by them, and learns at the end of the
batch. Thompson's beliefs are frozen for as long. `python -m benchmarks.batches [runs [class …]]`
prints the ratio of regrets of every class and N with its 95 % interval over runs (which are
paired), their geometric means and the limits that these are held to. Some runs in a hundred lose
ten times as much as the others, so that it takes hundreds of them: ten minutes of a core. The means
are held to their limits as they are measured. A single cell is above its limit where all of its
interval is: of cells that lie at the limit, one in forty is found to be above it.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import belman
from belman.figures.players import TEN, TWENTY
from belman.problems import Problem, batched, bernoulli, delayed
from belman.problems import random_bernoulli as coins
from belman.table import Table
from benchmarks.claim import Claim, report

PLAYERS = {
    "BelMan": belman.BelMan(),
    "Thompson": belman.Thompson(),
    "KL-UCB+": belman.policies.KLUCBPlus(),
    "IMED": belman.policies.IMED(),
}
RIVAL = "Thompson"
#: Batches as shares of all turns.
SHARES = (0.0, 0.001, 0.01, 0.1)
_FLAT = (1, 1)
_TURNS = 20_000  # classes that are played for fewer turns are played in more runs


class Cell(NamedTuple):
    """A class of problems, and how long it is played."""

    problem: Problem
    horizon: int


CLASSES = {
    "20 arms of the paper": Cell(bernoulli(TWENTY), 10_000),
    "10 uniform": Cell(coins(10), 10_000),
    "0.8 and 0.9": Cell(bernoulli([0.8, 0.9]), 2_000),
    "5 of Beta(2, 40)": Cell(coins(5, prior=(2, 40), belief=_FLAT), 20_000),
    "50 uniform": Cell(coins(50), 5_000),
    "2 uniform": Cell(coins(2), 2_000),
    "10 low arms": Cell(bernoulli(TEN), 10_000),
    "10 of Beta(8, 1)": Cell(coins(10, prior=(8, 1), belief=_FLAT), 5_000),
    "10 Gaussian": Cell(belman.problems.random_gaussian(10), 5_000),
    "5 Poisson": Cell(belman.problems.random_poisson(5), 5_000),
    "5 exponential": Cell(belman.problems.random_exponential(5, prior=(3, 2)), 5_000),
    "3 late": Cell(
        delayed(
            coins(3, prior=(2, 40), belief=_FLAT), stats.expon(scale=300), 1_000, told="window"
        ),
        20_000,
    ),
}


def batch(share: float, horizon: int) -> int:
    return max(1, round(share * horizon))


def regrets(cell: Cell, n: int, runs: int) -> NDArray[np.float64]:
    """The regret of every player in every run."""
    result = belman.simulate(
        PLAYERS, batched(cell.problem, n), cell.horizon, runs, seed=19, progress=False
    )
    return np.asarray(result.regret.isel(turn=-1))


def ratio(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[float, float]:
    """The ratio of two means over paired runs, and half of its 95 % interval in relative terms."""
    result = ours.mean() / theirs.mean()
    spread = (ours - result * theirs).std(ddof=1) / np.sqrt(len(ours)) / ours.mean()
    return float(result), float(1.96 * spread)


def average(cells: list[tuple[float, float]]) -> tuple[float, float]:
    """The geometric mean of ratios, and half of its 95 % interval in relative terms."""
    ratios, widths = np.array(cells).T
    return float(np.exp(np.log(ratios).mean())), float(np.sqrt((widths**2).sum()) / len(cells))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    chosen = {name: CLASSES[name] for name in sys.argv[2:] or CLASSES}
    positions = {name: position for position, name in enumerate(PLAYERS)}
    result: dict[str, dict[float, list[tuple[float, float]]]] = {
        name: {share: [] for share in SHARES} for name in PLAYERS
    }
    print(f"regret in batches of N, as a ratio to {RIVAL}'s (at least {runs} runs, 95 % intervals)")
    for title, cell in chosen.items():
        rows: dict[str, list[object]] = {"N": []} | {name: [] for name in PLAYERS if name != RIVAL}
        for share in SHARES:
            n = batch(share, cell.horizon)
            lost = regrets(cell, n, runs * max(1, _TURNS // cell.horizon))
            rows["N"].append(n)
            for name in rows:
                if name != "N":
                    ours, width = ratio(lost[positions[name]], lost[positions[RIVAL]])
                    result[name][share].append((ours, width))
                    rows[name].append(f"{ours:.3f} ± {ours * width:.3f}")
        print(Table(rows, f"{title}, {cell.horizon:,} turns"), flush=True)
    heads = ["1", *(f"T/{round(1 / share):,}" for share in SHARES[1:])]
    means = {
        name: [f"{mean:.3f} ± {mean * width:.3f}" for mean, width in map(average, cells.values())]
        for name, cells in result.items()
        if name != RIVAL
    }
    print(Table({"N": heads, **means}, "geometric means over the classes"))
    ours = {share: average(cells)[0] for share, cells in result["BelMan"].items()}
    every = [
        (cell, name, batch(share, chosen[name].horizon))
        for share, cells in result["BelMan"].items()
        for name, cell in zip(chosen, cells, strict=True)
    ]
    (worst, width), name, n = max(every)
    lowest = max(cell * (1.0 - wide) for (cell, wide), _, _ in every)
    report(
        "Decisions by weights, as a ratio to Thompson sampling's regret",
        [
            Claim("geometric mean, N = 1", ours[0.0], 0.78, ""),
            Claim("geometric mean, N = T/1,000", ours[0.001], 0.78, ""),
            Claim("geometric mean, N = T/100", ours[0.01], 0.85, ""),
            Claim("lower end of any cell", lowest, 1.05, ""),
        ],
        {"worst cell": f"{worst:.3f} ± {worst * width:.3f}, {name}, N = {n:,}"},
    )


if __name__ == "__main__":
    main()
