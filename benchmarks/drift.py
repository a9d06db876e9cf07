"""Worlds that change: BelMan with a bank of hazards beside rivals told horizon and changes.

`python -m benchmarks.drift [runs]`. Windows and discounts are tuned by theory from the horizon T
and the number of changes C: last = 2 sqrt(T ln T/C), discount = 1 − sqrt(C/T)/4. An oracle that
restarts the default at each change stands beside them. Then what drift costs where nothing changes,
a turn in CPU time, how many of the changes that an agent reports are real, and how often the 95 %
interval of the mean as it is now holds it on random walks.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import belman
from belman.lab import simulate
from belman.policies import Drift, Forgetting
from belman.policies.policy import Policy
from belman.problems import (
    Drifting,
    Problem,
    abrupt_and_back,
    bernoulli,
    changing,
    piecewise,
    random_walk,
    seasonal,
    sinusoid,
)
from belman.table import Table
from benchmarks.claim import Claim, best_cpu_seconds, report

HORIZON, SEED = 5_000, 23
FIRST = [(0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1), (0.7, 0.5, 0.1)]


def worlds() -> dict[str, tuple[Drifting, int]]:
    """Problems, and how often a rival is told that they change."""
    return {
        "published, 3 arms, 4 changes": (piecewise(FIRST, 1_000), 4),
        "all of 3 arms, 6 changes": (changing(3, HORIZON, 6, 1), 6),
        "all of 10 arms, 3 changes": (changing(10, HORIZON, 3, 2), 3),
        "one of 5 arms, 8 changes": (changing(5, HORIZON, 8, 3, all_arms=False), 8),
        "one of 10 arms, 5 changes": (changing(10, HORIZON, 5, 4, all_arms=False), 5),
        "walk, 3 arms": (random_walk(3, HORIZON, 0.005, 5), 20),
        "sine, 3 arms": (sinusoid(3, HORIZON, 2_500.0), 12),
        "seasons, 3 arms": (seasonal([[0.2, 0.6, 0.4], [0.6, 0.2, 0.4]], 500, HORIZON), 9),
        "campaign, 4 arms": (abrupt_and_back([0.4, 0.5, 0.3, 0.2], 3, 0.8, 1_501, 3_001), 2),
    }


def rivals(changes: int) -> dict[str, Policy]:
    last = max(int(2.0 * math.sqrt(HORIZON * math.log(HORIZON) / changes)), 10)
    discount = 1.0 - 0.25 * math.sqrt(changes / HORIZON)
    return {
        "SW-Thompson": Forgetting(belman.Thompson(), last=last),
        "SW-KL-UCB": Forgetting(belman.KLUCB(), last=last),
        "SW-BelMan": Forgetting(belman.BelMan(), last=last),
        "D-Thompson": Forgetting(belman.Thompson(), discount=discount),
        "D-UCB": Forgetting(belman.UCB1(), discount=discount),
    }


def lost(players: dict[str, Policy], problem: Problem, runs: int) -> dict[str, tuple[float, float]]:
    """Mean regret and its error."""
    found = simulate(players, problem, HORIZON, runs, SEED, progress=False).regret.isel(turn=-1)
    return {
        name: (
            float(found.sel(player=name).mean()),
            float(found.sel(player=name).std()) / math.sqrt(runs),
        )
        for name in players
    }


def reported(runs: int) -> tuple[int, int]:
    """How many changes agents reported at 95 %, and how many of them are real."""
    said = real = 0
    for run in range(runs):
        world = changing(3, 3_000, 4, 100 + run)
        rng = np.random.default_rng([SEED, run])
        agent = belman.Agent(range_of(world.arms), drift="auto", seed=run)
        course = np.zeros((3_001, world.arms))
        for start, row in zip(world.starts, world.means, strict=True):
            course[start:] = row
        for turn in range(1, 3_001):
            arm = agent.ask()
            agent.tell(arm, float(rng.random() < course[turn, arm]))
        since = dict.fromkeys(range_of(world.arms), 1)
        columns = agent.changes().columns
        for turn, arm in zip(columns["turn"], columns["arm"], strict=True):
            said += 1
            real += bool(course[turn, arm] != course[since[arm], arm])
            since[arm] = turn
    return said, real


def range_of(arms: int) -> list[int]:
    return list(range(arms))


def covered(runs: int) -> float:
    """How often the 95 % interval of an arm that is played holds its mean as it is now."""
    inside, looks = 0, 0
    for run in range(runs):
        world = random_walk(2, 2_000, 0.005, 200 + run)
        means = np.repeat(np.array(world.means), 10, axis=0)
        rng = np.random.default_rng([SEED, run])
        agent = belman.Agent([0, 1], drift="auto", seed=run)
        for turn in range(2_000):
            arm = turn % 2
            agent.tell(arm, float(rng.random() < means[turn, arm]))
            if turn >= 500 and turn % 100 < 2:
                row = agent.beliefs().row(arm)
                inside += row["low"] <= means[turn, arm] <= row["high"]
                looks += 1
    return inside / looks


def turn_cost(arms: int) -> float:
    problem = bernoulli(np.linspace(0.3, 0.7, arms).tolist())
    simulate({"own": Drift()}, problem, 100, 1, progress=False)

    def play() -> None:
        simulate({"own": Drift()}, problem, 10_000, 1, progress=False)

    return 1e6 * best_cpu_seconds(play, 3) / 10_000


def main(runs: int = 20) -> None:
    columns: dict[str, list[object]] = {"world": []}
    to_best, to_discounted = [], []
    for name, (problem, changes) in worlds().items():
        told = rivals(changes)
        restarts = problem.starts[1:] if len(problem.starts) < 50 else ()
        oracle = {"oracle": Forgetting(belman.BelMan(), restarts=restarts)} if restarts else {}
        players = {"drift": Drift(), "default": belman.BelMan(), **told, **oracle}
        found = lost(players, problem, runs)
        columns["world"].append(name)
        for player in (*list(players)[: 2 + len(told)], "oracle"):
            value = found.get(player)
            cell = "–" if value is None else f"{value[0]:.0f} ± {value[1]:.0f}"
            columns.setdefault(player, []).append(cell)
        to_best.append(found["drift"][0] / min(found[rival][0] for rival in told))
        to_discounted.append(found["drift"][0] / found["D-Thompson"][0])
    print(Table(columns, f"dynamic regret at T = {HORIZON:,}, {runs} runs"))
    print()
    still = {"2 arms": [0.9, 0.8], "5 arms": [0.5, 0.45, 0.4, 0.35, 0.3]}
    claims = [
        Claim("geometric mean to the best rival", math.exp(np.log(to_best).mean()), 1.0, "×"),
        Claim("to discounted Thompson", math.exp(np.log(to_discounted).mean()), 0.5, "×"),
    ]
    for name, means in still.items():
        players = {"drift": Drift(), "default": belman.BelMan()}
        found = lost(players, bernoulli(means), 5 * runs)
        limit = 1.5 if name == "2 arms" else 1.1
        ratio = found["drift"][0] / found["default"][0]
        claims.append(Claim(f"nothing changes, {name}, to the default", ratio, limit, "×"))
    said, real = reported(runs)
    claims.append(Claim("changes reported that are real", real / max(said, 1), 0.9, "", more=True))
    share = covered(runs)
    claims.append(Claim("intervals that hold the mean now, at least", share, 0.9, "", more=True))
    claims.append(Claim("intervals that hold the mean now, at most", share, 0.97, ""))
    for arms, limit in ((3, 5.0), (10, 12.0), (50, 60.0)):
        claims.append(Claim(f"a turn with {arms} arms", turn_cost(arms), limit, "µs"))
    worst = f"{max(to_best):.2f} × the best rival in the worst world"
    report("worlds that change", claims, {"worst": worst, "changes reported": f"{said}"})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
