"""What is won in the first turns, beside what that costs later, by policies that are not told when
play ends.

`python -m benchmarks.first_turns [RUNS]`, by default 10,000 runs. Of each form of `forms`, exactly:
regret over that of the best possible policy, for two yes-or-no arms with uniform priors; then of
0.9 and 0.8 over 1,000 turns the mean regret with half of its 95 % interval, and the 99th
percentile, all forms on the same rewards. Two policies of the library that are near the limit are
played beside them, the first ratios with standard errors. A table, and no claim.
"""

from __future__ import annotations

import math
import sys

import numba
import numpy as np

import belman
from belman.lab import simulate
from belman.measures.limit import attainable
from belman.suite.tables import half_interval
from belman.table import Table
from benchmarks.forms import FORMS, PRIOR_WORTH, Floats, challenger, greed_of, judged, regrets

PAIR, TURNS = (0.9, 0.8), 1_000
HORIZONS = (50, 100, 200)
OTHERS = {"ts-ucb(100)": belman.policies.TSUCB(100), "bayes-ucb": belman.policies.BayesUCB()}
_FEW = 2_000  # runs of the others, of which one draws a hundred times a turn


@numba.njit
def earned(form, greed, horizon, rewards):
    """What a form earns on average until every turn: all courses of play of two arms, each with its
    chance. A state after t turns is the first arm's plays and both arms' successes.
    """
    now = np.zeros((horizon + 1, horizon + 1, horizon + 1))
    plays, sums, means = np.zeros(2), np.zeros(2), np.zeros(2)
    now[0, 0, 0], total = 1.0, 0.0
    for t in range(horizon):
        following = np.zeros((t + 2, t + 2, t + 2))
        for first in range(t + 1):
            for won in range(first + 1):
                for other in range(t - first + 1):
                    chance = now[first, won, other]
                    if chance > 0.0:
                        plays[0], plays[1], sums[0], sums[1] = first, t - first, won, other
                        leader = judged(plays, sums, means)
                        arm = challenger(t + 1, 1, leader, plays, means, form, greed)
                        success = chance * (sums[arm] + 1.0) / (plays[arm] + PRIOR_WORTH)
                        total += success
                        n, s, r = first + (arm == 0), won + (arm == 0), other + (arm == 1)
                        following[n, s, r] += success
                        following[n, won, other] += chance - success
        now = following
        rewards[t] = total


def exact_ratios(name: str, limits: list[float]) -> list[str]:
    """Regret over the least possible at the horizons."""
    form, rewards = FORMS[name], np.zeros(HORIZONS[-1])
    earned(form, greed_of(form, 2), HORIZONS[-1], rewards)
    lost = [2.0 / 3.0 * horizon - rewards[horizon - 1] for horizon in HORIZONS]
    return [f"{regret / limit:.3f}" for regret, limit in zip(lost, limits, strict=True)]


def played_ratios(policy: belman.Policy, limits: list[float], runs: int) -> list[str]:
    """The same of runs, with standard errors."""
    problem, cells = belman.problems.random_bernoulli(2), []
    for horizon, limit in zip(HORIZONS, limits, strict=True):
        result = simulate({"own": policy}, problem, horizon, runs, 11, progress=False)
        regret = result.regret.values[0, :, -1] / limit
        error = float(regret.std(ddof=1)) / math.sqrt(runs)
        cells.append(f"{float(regret.mean()):.3f} ± {error:.3f}")
    return cells


def later(regret: Floats) -> list[object]:
    """The mean of the runs, half of its interval, and their 99th percentile."""
    return [float(regret.mean()), half_interval(regret), float(np.percentile(regret, 99.0))]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    problem = belman.problems.random_bernoulli(2)
    limits = [attainable(problem, horizon).regret for horizon in HORIZONS]
    rows: list[list[object]] = []
    for name in FORMS:
        matches = regrets(PAIR, name, runs, marks=np.array([TURNS]))[:, 0]
        rows.append([name, *exact_ratios(name, limits), *later(matches)])
        print(f"{name}: done", file=sys.stderr, flush=True)
    for name, policy in OTHERS.items():
        few = min(runs, _FEW)
        result = simulate(
            {"own": policy}, belman.problems.bernoulli(PAIR), TURNS, few, 11, progress=False
        )
        cells = played_ratios(policy, limits, few)
        rows.append([name, *cells, *later(result.regret.values[0, :, -1])])
    names = ["form", *(f"T = {horizon}" for horizon in HORIZONS), "0.9 and 0.8", "±", "99th"]
    columns = {name: [row[position] for row in rows] for position, name in enumerate(names)}
    print(Table(columns, "regret over the least possible, and over 1,000 turns"))


if __name__ == "__main__":
    main()
