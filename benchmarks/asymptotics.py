"""Long runs: the regret of the default BelMan and of IMED at T = 1,000,000 beside the bound of Lai
and Robbins, and locked runs.

`python -m benchmarks.asymptotics [RUNS] [TURNS]`: a thousand runs take some twenty minutes on two
cores, the usual twenty half a minute. The slope is that of regret in ln t over the last decade; a
run is locked if the best arm had less than half of its turns.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import belman
from belman.figures.players import TWENTY
from belman.suite.tables import half_interval
from belman.table import Table
from benchmarks.claim import Claim, report

ARMS = {
    "0.9, 0.8": (0.9, 0.8),
    "0.5, 0.45, 0.4, 0.35, 0.3": (0.5, 0.45, 0.4, 0.35, 0.3),
    "0.6, 0.4 × 4": (0.6, 0.4, 0.4, 0.4, 0.4),
    "0.3, 0.2, 0.1": (0.3, 0.2, 0.1),
    "the paper's 20": TWENTY,
}
PLAYERS = {"BelMan": belman.BelMan(), "IMED": belman.IMED()}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    names = (
        "arms",
        "player",
        "regret",
        "± regret",
        "p99",
        "worst",
        "slope",
        "± slope",
        "bound",
        "locked",
    )
    columns: dict[str, list[object]] = {name: [] for name in names}
    claims = []
    for words, means in ARMS.items():
        problem = belman.problems.bernoulli(means)
        result = belman.simulate(PLAYERS, problem, turns, runs, seed=11)
        decade = result.regret.sel(turn=turns) - result.regret.sel(
            turn=turns // 10, method="nearest"
        )
        slopes = decade / math.log(
            turns / result.turn.sel(turn=turns // 10, method="nearest").item()
        )
        bound = belman.lai_robbins(problem)
        for name in PLAYERS:
            regrets, slope = (
                found.sel(player=name).values for found in (result.regret.sel(turn=turns), slopes)
            )
            locked = int(
                (result.plays.sel(player=name).values[:, int(np.argmax(means))] < 0.5 * turns).sum()
            )
            regret = (
                regrets.mean(),
                half_interval(regrets),
                float(np.quantile(regrets, 0.99)),
                regrets.max(),
            )
            row = (words, name, *regret, slope.mean(), half_interval(slope), bound, locked)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        ours = slopes.sel(player="BelMan").values
        claims.append(
            Claim(f"slope over the bound, {words}", float(ours.mean()) / bound, 2.0, "times")
        )
        claims.append(Claim(f"locked runs, {words}", float(columns["locked"][-2]), 0.0, "runs"))
        print(f"{words}: done", file=sys.stderr, flush=True)
    print(Table(columns, f"{turns:,} turns, {runs:,} runs"))
    report("long runs of the default", claims)


if __name__ == "__main__":
    main()
