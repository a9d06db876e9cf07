"""`BelMan.until(T)` beside the form before it, which had the default's φ and no Gittins boundary:
x_a = ln(min(t, T − t + 1)/ν_a), at least 0.

`python -m benchmarks.earlier [RUNS] [LONGEST]`, by default at most 2,000 runs a cell (fewer of long
ones) and cells up to 100,000 turns: regret relative to that form with half of its 95 % interval,
and the 99th percentile relative to its own with a 95 % interval of a bootstrap of the runs; first
on problems that are in neither half of the suite, then on the suite. Both players of a run see the
same arms and the same luck a turn.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import belman
from belman.engine import inlined_kernel
from belman.families import Bernoulli, Exponential, Gaussian, GaussianUnknown, Poisson
from belman.lab import simulate
from belman.policies.belman.evidence import (
    HORIZON,
    LOG_SHARPNESS,
    LOG_WORTH,
    MEAN,
    REACH,
    WORTH,
    phi,
    refresh,
    shared_sharpness,
)
from belman.policies.policy_kernels import PolicyKernels, leader
from belman.problems import Problem
from belman.problems.stationary import RandomStationary, Stationary
from belman.suite import suite
from belman.table import Table

Floats = NDArray[np.float64]
SEED = 91
_TURNS = 6_000_000  # of a player in a cell, at most
_DRAWS = 1_000


@inlined_kernel
def indices(family, constants, params, ledger, memory, turn, greed, rng, index):
    """The indices of the form before."""
    means, weights = memory.judged[MEAN], memory.scratch
    leading, plays = leader(means, index), 1.0
    for a in range(index.size):
        plays += ledger.plays[a]
    if leading > -np.inf:
        family.weights(constants, leading, weights)
        clock = math.log(min(plays, max(params[HORIZON] - turn + 1.0, 1.0)))
        shared = shared_sharpness(ledger, memory.judged, plays)
        for a in range(index.size):
            x = max(clock - memory.judged[LOG_WORTH, a], 0.0)
            less = shared - memory.judged[LOG_SHARPNESS, a]
            counted = min(phi(max(x + less, 0.0), greed, params[REACH]), x)
            evidence = max(family.evidence(memory.terms, a, weights), 0.0)
            index[a] = counted - memory.judged[WORTH, a] * evidence
    for a in range(index.size):
        if means[a] == -np.inf:
            index[a] = np.inf


EARLIER = PolicyKernels(indices, refresh)


class Earlier(belman.BelMan):
    """The form of `until` before this one."""

    @property
    def kernels(self) -> PolicyKernels:
        return EARLIER


def fresh() -> dict[str, tuple[Problem, int]]:
    """Problems in neither half of the suite, and their turns."""
    coin, bell = Bernoulli(), Gaussian(prior=(0.0, 1.0))
    return {
        "uniform, 3 arms": (RandomStationary(coin, 3, (1.0, 1.0)), 300),
        "uniform, 7 arms": (RandomStationary(coin, 7, (1.0, 1.0)), 2_000),
        "uniform, 30 arms": (RandomStationary(coin, 30, (1.0, 1.0)), 700),
        "Beta(1, 15), 15 arms": (RandomStationary(coin, 15, (1.0, 15.0)), 800),
        "Beta(6, 2), 5 arms": (RandomStationary(coin, 5, (6.0, 2.0)), 700),
        "Beta(9, 1), 30 arms": (RandomStationary(coin, 30, (9.0, 1.0)), 1_500),
        "0.3 to 0.7, 8 arms": (RandomStationary(coin, 8, (1.0, 1.0), (0.3, 0.7)), 3_000),
        "0.95 and 0.85": (Stationary(coin, (0.85, 0.95)), 700),
        "0.75 and 0.6": (Stationary(coin, (0.6, 0.75)), 400),
        "one of 15 at 0.5, others 0.35": (Stationary(coin, (0.5, *[0.35] * 14)), 1_500),
        "Gaussian, 8 arms": (RandomStationary(bell, 8, (0.0, 1.0)), 700),
        "Gaussian, 30 arms": (RandomStationary(bell, 30, (0.0, 1.0)), 1_500),
        "Gaussian, weak prior, 20 arms": (RandomStationary(Gaussian(), 20, (0.0, 1.0)), 1_000),
        "Gaussian of unknown variance, 8 arms": (
            RandomStationary(GaussianUnknown(), 8, (0.0, 1.0, 4.0, 4.0)),
            800,
        ),
        "exponential, 7 arms": (RandomStationary(Exponential(), 7, (3.0, 2.0)), 700),
        "exponential, 30 arms": (RandomStationary(Exponential(), 30, (3.0, 2.0)), 1_000),
        "Poisson, 8 arms": (RandomStationary(Poisson(), 8, (1.0, 1.0)), 1_000),
        "Poisson, 40 arms": (RandomStationary(Poisson(), 40, (1.0, 1.0)), 800),
    }


def regrets(policy: Any, problem: Problem, turns: int, runs: int) -> Floats:
    """The regret of every run."""
    result = simulate({"own": policy}, problem, turns, runs, SEED, progress=False)
    return np.asarray(result.regret.values[0, :, -1], dtype=np.float64)


def beside(ours: Floats, theirs: Floats) -> tuple[float, str, str]:
    """The ratio of means, it with its error, and the ratio of 99th percentiles in words."""
    ratio = float(ours.mean() / theirs.mean())
    error = 1.96 * float(np.std(ours - ratio * theirs)) / math.sqrt(len(ours)) / theirs.mean()
    rng = np.random.default_rng(2)
    result = np.empty(_DRAWS)
    for i in range(_DRAWS):
        rows = rng.integers(len(ours), size=len(ours))
        result[i] = np.quantile(ours[rows], 0.99) / np.quantile(theirs[rows], 0.99)
    low, high = np.quantile(result, [0.025, 0.975])
    tail = np.quantile(ours, 0.99) / np.quantile(theirs, 0.99)
    return ratio, f"{ratio:.3f} ± {error:.3f}", f"{tail:.2f} ({low:.2f}–{high:.2f})"


def compared(cells: dict[str, tuple[Problem, int]], most: int, title: str) -> None:
    """Play both in every cell, and print a table."""
    rows: dict[str, list[str]] = {"cell": [], "runs": [], "regret": [], "99th percentile": []}
    ratios = []
    for name, (problem, turns) in cells.items():
        runs = max(min(most, _TURNS // turns), 60)
        exposure = belman.exposure.Evidence(horizon=turns)
        ours = regrets(belman.BelMan(exposure), problem, turns, runs)
        ratio, mean, tail = beside(ours, regrets(Earlier(exposure), problem, turns, runs))
        ratios.append(ratio)
        label = name if name.endswith("turns") else f"{name}, {turns:,} turns"
        for column, cell in zip(rows.values(), (label, f"{runs:,}", mean, tail), strict=True):
            column.append(cell)
        print(f"{label}: {mean}, {tail}", file=sys.stderr, flush=True)
    print(Table(rows, title))
    average = math.exp(float(np.mean(np.log(ratios))))
    print(f"geometric mean of {len(ratios)} cells: {average:.3f}", flush=True)


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    longest = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    compared(fresh(), most, "until relative to the form before it, problems outside of the suite")
    cells = {cell.name: (cell.problem, cell.horizon) for cell in suite().cells}
    known = {name: cell for name, cell in cells.items() if cell[1] <= longest}
    compared(known, most, "the same, the cells of the suite")


if __name__ == "__main__":
    main()
