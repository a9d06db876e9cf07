"""How tables that others published are played: `published.toml` has their numbers and words.

A play gives a value and its standard error by row and column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from belman.lab import explore, simulate
from belman.measures.trials import trial
from belman.policies import (
    KLLUCB,
    BelMan,
    Drift,
    Forgetting,
    Gittins,
    Greedy,
    Thompson,
    TopTwoThompson,
)
from belman.policies.best_arm.track_and_stop import TrackAndStop
from belman.policies.wrappers import published
from belman.problems import batched, bernoulli, piecewise, renewing

#: A value and its standard error, or None where a number is exact or published without one.
Cell = tuple[float, float | None]
Rows = dict[str, dict[str, Cell]]
SEED = 41


def _cell(values: Any) -> Cell:
    matches = np.asarray(values, dtype=np.float64)
    if matches.size == 1:
        return float(matches[0]), None
    return float(matches.mean()), float(matches.std(ddof=1) / math.sqrt(matches.size))


def _means(result: Any, names: list[str]) -> dict[str, Cell]:
    last = result.regret.isel(turn=-1)
    return {name: _cell(last.sel(player=name).values) for name in names}


# Besson and others: means that change


TURNS = 5_000
PIECEWISE = {
    "problem 1": piecewise(
        [[0.3, 0.5, 0.9], [0.3, 0.2, 0.9], [0.3, 0.2, 0.1], [0.7, 0.2, 0.1], [0.7, 0.5, 0.1]],
        1_000,
    ),
    "problem 2": piecewise(
        [[0.4, 0.5, 0.9], [0.5, 0.4, 0.7], [0.6, 0.3, 0.5], [0.7, 0.2, 0.3], [0.8, 0.1, 0.1]],
        1_000,
    ),
    "problem 4": piecewise(
        [[0.1, 0.5, 0.9], [0.3, 0.4, 0.1], [0.5, 0.3, 0.2], [0.7, 0.4, 0.3], [0.1, 0.5, 0.2]],
        [2_500, 625, 625, 625, 625],
    ),
}


def play_piecewise() -> Rows:
    matches: Rows = {}
    for name, problem in PIECEWISE.items():
        oracle = Forgetting(BelMan(), restarts=problem.starts[1:])
        ours = {
            "BelMan with drift": Drift(),
            "BelMan": BelMan(),
            "GLR-klUCB, ours": published.glr_klucb(horizon=TURNS, changes=4),
            "BelMan, told every change": oracle,
        }
        for player, policy in ours.items():
            runs = 100 if "GLR" in player else 400
            result = simulate({player: policy}, problem, TURNS, runs, SEED, progress=False)
            matches.setdefault(player, {})[name] = _means(result, [player])[player]
    return matches


# Chapelle and Li: arms that retire, feedback that comes in batches


DELAYS = (1, 3, 10, 32, 100, 316, 1_000)
#: One of ten arms retires with chance 0.001 a turn, so each with a tenth of that.
RETIRING = renewing(10, 0.0001, prior=(4.0, 4.0))


def play_retiring() -> Rows:
    ours = {"BelMan": (BelMan(), DELAYS), "Thompson, ours": (Thompson(), DELAYS[:1])}
    matches: Rows = {name: {} for name in ours}
    for name, (policy, delays) in ours.items():
        for delay in delays:
            problem = batched(RETIRING, delay, weights=False)
            result = simulate({name: policy}, problem, 1_000_000, 1, SEED, progress=False)
            matches[name][str(delay)] = _means(result, [name])[name]
            print(f"{name}, {delay}: {matches[name][str(delay)][0]:,.0f}", flush=True)
    return matches


# Villar, Wason and Bowden: a trial of four arms


NEOSPHERE = (0.29, 0.458, 0.168, 0.24)


#: The index of the published rules, and the discount with which they were published.
GITTINS = "Gittins index, discount 0.99"


def play_trial() -> Rows:
    rows: Rows = {}
    runs, batches = 2_000, 20
    players = {
        "BelMan": BelMan(),
        "BelMan.until(417)": BelMan.until(417),
        GITTINS: Gittins(discount=0.99),
    }
    for name, policy in players.items():
        free = [
            trial({name: policy}, [NEOSPHERE], 417, block=9, test="fisher", runs=5_000, seed=seed)
            for seed in range(batches)
        ]
        held = trial({name: policy}, [NEOSPHERE], 417, block=9, control_share=0.25, runs=runs)
        customary = trial(
            {name: policy}, [NEOSPHERE], 417, block=9, control_share=0.25, test="fisher", runs=runs
        )
        power = float(held.table["declared better"][0])
        fisher = float(customary.table["declared better"][0])
        rows[name] = {
            "successes, free": _cell([float(batch.table["successes"][0]) for batch in free]),
            "successes, controlled": (float(held.table["successes"][0]), None),
            "power, controlled": (power, math.sqrt(power * (1.0 - power) / runs)),
            "power by Fisher's test": (fisher, math.sqrt(fisher * (1.0 - fisher) / runs)),
        }
    return rows


def play_small_trial() -> Rows:
    players = {
        "BelMan": BelMan(),
        "BelMan.until(30)": BelMan.until(30),
        GITTINS: Gittins(discount=0.99),
        "greedy": Greedy(),
    }
    rows: Rows = {}
    for name, policy in players.items():
        made = trial({name: policy}, [(0.1, 0.3)], 30, test="fisher")
        rows[name] = {"successes": (float(made.table["successes"][0]), None)}
    return rows


# Garivier and Kaufmann: the best arm with little risk


MEANS = {
    "0.5, 0.45, 0.43, 0.4": (0.5, 0.45, 0.43, 0.4),
    "0.3, 0.21, …": (0.3, 0.21, 0.2, 0.19, 0.18),
}


def play_best_arm() -> Rows:
    matches: Rows = {}
    ours = {
        "Track-and-Stop, ours": TrackAndStop(),
        "top-two Thompson": TopTwoThompson(),
        "KL-LUCB sampling, ours": KLLUCB(),
    }
    for column, means in MEANS.items():
        for name, policy in ours.items():
            result = explore({name: policy}, bernoulli(means), 100, SEED, delta=0.1, progress=False)
            matches.setdefault(name, {})[column] = _cell(result.turns.values)
    return matches


#: How each table of published.toml is played.
PLAYS: dict[str, Callable[[], Rows]] = {
    "besson": play_piecewise,
    "chapelle-li": play_retiring,
    "villar": play_trial,
    "villar-small": play_small_trial,
    "garivier-kaufmann": play_best_arm,
}
