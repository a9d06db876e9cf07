"""Worlds that change: BelMan with a bank of hazards beside rivals told horizon and changes.

`python -m benchmarks.drift [runs]`. Nine worlds of development and sixteen held back, of other
numbers and kinds. Rivals are tuned by theory from the horizon T and the number of changes C
(`belman.policies.wrappers`). An oracle that restarts the default at each change stands beside
them. Then what drift costs where nothing changes, a turn in CPU time, how many of the changes that
an agent reports are real and how late they are noticed, beside GLR's delay, and how often the 95 %
interval of the mean as it is now holds it on random walks of several steps.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import belman
from belman.families import Bernoulli
from belman.lab import simulate
from belman.policies import Drift, Forgetting, GLRTest
from belman.policies.change.detectors import MARKS
from belman.policies.policy import Policy
from belman.policies.wrappers import published
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
from benchmarks.claim import Claim, Ratio, best_cpu_seconds, geometric_mean, report

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


def held_back() -> dict[str, tuple[Drifting, int]]:
    """Sixteen worlds in whose light nothing was chosen."""
    result: dict[str, tuple[Drifting, int]] = {}
    for arms, changes, seed in ((2, 5, 31), (4, 2, 32), (5, 10, 33), (15, 4, 34), (6, 1, 35)):
        result[f"all of {arms}, {changes} changes"] = (
            changing(arms, HORIZON, changes, seed),
            changes,
        )
    for arms, changes, seed in ((3, 6, 41), (4, 3, 42), (8, 10, 43), (15, 8, 44)):
        one = changing(arms, HORIZON, changes, seed, all_arms=False)
        result[f"one of {arms}, {changes} changes"] = (one, changes)
    low = changing(5, HORIZON, 5, 51, between=(0.0, 0.2))
    result["all of 5, rare rewards, 5 changes"] = (low, 5)
    for arms, step, seed in ((2, 0.002, 61), (5, 0.01, 62)):
        result[f"walk of {arms}, step {step}"] = (random_walk(arms, HORIZON, step, seed), 20)
    for arms, period in ((2, 1_500.0), (5, 5_000.0)):
        result[f"sine of {arms}, period {period:g}"] = (sinusoid(arms, HORIZON, period), 12)
    rows = [[0.1, 0.3, 0.2, 0.25], [0.3, 0.1, 0.2, 0.25]]
    result["seasons of 4"] = (seasonal(rows, 1_250, HORIZON), 3)
    result["campaign of 3"] = (abrupt_and_back([0.5, 0.45, 0.1], 2, 0.7, 2_001, 4_001), 2)
    return result


def rivals(changes: int, arms: int) -> dict[str, Policy]:
    told: dict[str, Any] = {"horizon": HORIZON, "changes": changes}
    return {
        "GLR-klUCB": published.glr_klucb(**told),
        "global": published.glr_klucb(**told, scope="global"),
        "CUSUM-UCB": published.cusum_ucb(**told),
        "M-UCB": published.m_ucb(**told, arms=arms),
        "EXP3.S": published.exp3_s(**told, arms=arms),
        "SW-TS": published.sliding_window(belman.Thompson(), **told),
        "SW-KL-UCB": published.sliding_window(belman.policies.KLUCB(), **told),
        "D-TS": published.discounted(belman.Thompson(), **told),
        "D-UCB": published.discounted(belman.policies.UCB1(), **told),
    }


def lost(players: dict[str, Policy], problem: Problem, runs: int) -> dict[str, tuple[float, float]]:
    """Mean regret and its error."""
    result = simulate(players, problem, HORIZON, runs, SEED, progress=False).regret.isel(turn=-1)
    return {
        name: (
            float(result.sel(player=name).mean()),
            float(result.sel(player=name).std()) / math.sqrt(runs),
        )
        for name in players
    }


def reported(runs: int, concentration: float | None = None) -> tuple[int, int]:
    """How many changes agents reported at 95 %, and how many of them are real: of coins, or of Beta
    rewards in a range.
    """
    said = real = 0
    given: dict[str, Any] = {} if concentration is None else {"range": (0.0, 1.0)}
    for run in range(runs):
        world = changing(3, 3_000, 4, 100 + run)
        rng = np.random.default_rng([SEED, run])
        agent = belman.Agent(range_of(world.arms), drift="auto", seed=run, **given)
        course = np.zeros((3_001, world.arms))
        for start, row in zip(world.starts, world.means, strict=True):
            course[start:] = row
        for turn in range(1, 3_001):
            arm = agent.ask()
            agent.tell(arm, drawn(rng, course[turn, arm], concentration))
        since = dict.fromkeys(range_of(world.arms), 1)
        columns = agent.changes().columns
        for turn, arm in zip(columns["turn"], columns["arm"], strict=True):
            said += 1
            real += bool(course[turn, arm] != course[since[arm], arm])
            since[arm] = turn
    return said, real


def drawn(rng: np.random.Generator, mean: float, concentration: float | None) -> float:
    if concentration is None:
        return float(rng.random() < mean)
    inside = min(max(mean, 0.001), 0.999)
    return float(rng.beta(inside * concentration, (1.0 - inside) * concentration))


def range_of(arms: int) -> list[int]:
    return list(range(arms))


STEPS = (0.002, 0.005, 0.01, 0.02)


def covered(runs: int) -> dict[float, float]:
    """Per step of a walk, how often the 95 % interval of an arm holds its mean as it is now."""
    result = {}
    for step in STEPS:
        inside, looks = 0, 0
        for run in range(runs):
            world = random_walk(2, 2_000, step, 200 + run)
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
        result[step] = inside / looks
    return result


def delays(runs: int) -> tuple[float, float]:
    """The median of rewards until a fall from 0.6 to 0.4 after 500 of them is noticed, at 95 % and
    by the likelihood ratio at δ = 0.05; 1,000 where it is not.
    """
    own, other, coin = [], [], Bernoulli()
    for run in range(runs):
        rng = np.random.default_rng([SEED, 7, run])
        rewards = (rng.random(1_500) < np.where(np.arange(1_500) < 500, 0.6, 0.4)).astype(float)
        agent = belman.Agent([0], drift="auto", seed=run)
        for reward in rewards:
            agent.tell(0, reward)
        seen = [turn - 500 for turn in agent.changes()["turn"] if turn > 500]
        own.append(min(seen, default=1_000))
        test = GLRTest(delta=0.05)
        marks, state, params = np.zeros(MARKS), np.zeros(test.size), test.params(coin)
        at = next(
            (
                turn
                for turn, reward in enumerate(rewards)
                if GLRTest.watch(coin.kernels, coin.constants, params, marks, state, reward)
                and turn >= 500
            ),
            1_499,
        )
        other.append(at - 499)
    return float(np.median(own)), float(np.median(other))


def turn_cost(arms: int) -> float:
    problem = bernoulli(np.linspace(0.3, 0.7, arms).tolist())
    simulate({"own": Drift()}, problem, 100, 1, progress=False)

    def play() -> None:
        simulate({"own": Drift()}, problem, 10_000, 1, progress=False)

    return 1e6 * best_cpu_seconds(play, 3) / 10_000


def played(name: str, result: dict[str, tuple[Drifting, int]], runs: int) -> list[Claim]:
    """Print the regrets in these worlds; the claims about them."""
    columns: dict[str, list[object]] = {"world": []}
    to_best, to_discounted = list[Ratio](), list[Ratio]()
    for label, (problem, changes) in result.items():
        told = rivals(changes, problem.arms)
        restarts = problem.starts[1:] if len(problem.starts) < 50 else ()
        oracle = {"oracle": Forgetting(belman.BelMan(), restarts=restarts)} if restarts else {}
        players = {"drift": Drift(), "default": belman.BelMan(), **told, **oracle}
        regrets = lost(players, problem, runs)
        columns["world"].append(label)
        for player in (*list(players)[: 2 + len(told)], "oracle"):
            value = regrets.get(player)
            cell = "–" if value is None else f"{value[0]:.0f} ± {value[1]:.0f}"
            columns.setdefault(player, []).append(cell)
        best = min((regrets[rival] for rival in told), key=lambda one: one[0])
        to_best.append(ratio(regrets["drift"], best))
        to_discounted.append(ratio(regrets["drift"], regrets["D-TS"]))
        columns.setdefault("to the best", []).append(f"{to_best[-1].value:.2f}")
    print(Table(columns, f"{name}: dynamic regret at T = {HORIZON:,}, {runs} runs"))
    middle, beside = geometric_mean(to_best), geometric_mean(to_discounted)
    print(f"geometric means: {middle} of the best rival of each, {beside} of discounted Thompson")
    print()
    return [
        Claim(f"{name}: geometric mean to the best rival of each", middle.value, 1.0, "×"),
        Claim(f"{name}: to discounted Thompson", beside.value, 0.5, "×"),
    ]


def ratio(own: tuple[float, float], other: tuple[float, float]) -> Ratio:
    """Of mean regrets with their errors, and its interval as if luck were not shared."""
    value, error = own[0] / other[0], 1.96 * math.hypot(own[1] / own[0], other[1] / other[0])
    return Ratio(value, value * math.exp(-error), value * math.exp(error))


def main(runs: int = 20) -> None:
    claims = played("development", worlds(), runs) + played("held back", held_back(), runs)
    still = {"2 arms": [0.9, 0.8], "5 arms": [0.5, 0.45, 0.4, 0.35, 0.3]}
    for name, means in still.items():
        players = {"drift": Drift(), "default": belman.BelMan()}
        result = lost(players, bernoulli(means), 5 * runs)
        limit = 1.5 if name == "2 arms" else 1.1
        ratio = result["drift"][0] / result["default"][0]
        claims.append(Claim(f"nothing changes, {name}, to the default", ratio, limit, "×"))
    notes = {}
    for kind, concentration in {"coins": None, "rewards in a range": 8.0}.items():
        said, real = reported(runs, concentration)
        what = f"changes reported that are real, {kind}"
        claims.append(Claim(what, real / max(said, 1), 0.9, "", more=True))
        notes[f"changes reported, {kind}"] = f"{said}"
    for step, share in covered(runs).items():
        words = f"intervals that hold the mean now, steps of {step}"
        claims.append(Claim(f"{words}, at least", share, 0.9, "", more=True))
        claims.append(Claim(f"{words}, at most", share, 0.97, ""))
    for arms, limit in ((3, 5.0), (10, 12.0), (50, 60.0)):
        claims.append(Claim(f"a turn with {arms} arms", turn_cost(arms), limit, "µs"))
    own, other = delays(runs)
    late = f"{own:.0f} rewards, {other:.0f} by the likelihood ratio at δ = 0.05"
    report("worlds that change", claims, {**notes, "noticed after": late})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
