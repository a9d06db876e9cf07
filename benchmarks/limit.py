"""How far from the best possible: regret over that of the Bayes-optimal policy, and cost a turn.

`python -m benchmarks.limit [RUNS] [LONGEST] [PLAYERS]`, by default 20,000 runs, all horizons and
all players; players by their names, with commas. The optimum is exact: a dynamic programme for two
and three yes-or-no arms whose chances are drawn from the prior that players believe. At two arms
the policies' regret is exact as well, a forward recursion over all courses of play, where their
chances are known. The rest is played, and has a standard error: at two and three arms of the sum of
what each choice of a course gave away by the dynamic programme, which has little noise; at ten arms
of regret, as no optimum is known. A turn's cost is CPU time beside the default's.

`python -m benchmarks.limit bounds [RUNS]` prints what bounds leave open: the looser and the tighter
bound on the regret of any policy, the regret of the best player here, by RUNS (4,000), and the
share of the gap between it and the looser bound that the tighter one closes.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

import belman
from belman.families import Bernoulli
from belman.lab import simulate
from belman.measures import limit, priced_plays
from belman.measures.limit import Attainable, attainable
from belman.measures.trial_plays import (
    Rules,
    all_courses,
    remembers_counts,
)
from belman.policies import Policy
from belman.problems.stationary import RandomStationary
from belman.special import log_beta
from belman.table import Table
from benchmarks.claim import Claim, best_cpu_seconds, report
from benchmarks.courses import believed_courses, given_away

UNIFORM, LOW, MIDDLE = (1.0, 1.0), (2.0, 8.0), (5.0, 5.0)
TWO = [(prior, horizon) for prior in (UNIFORM, LOW, MIDDLE) for horizon in (30, 50, 100, 200)]
THREE = [(UNIFORM, 30), (UNIFORM, 50), (UNIFORM, 100), (LOW, 50), (MIDDLE, 50)]
TEN = (100, 200, 1_000)
#: Whoever is told the horizon, and whoever is not.
PLAYERS: dict[str, Callable[[int], Policy]] = {
    "until": belman.BelMan.until,
    "gittins-exact": belman.policies.ExactGittins,
    "gittins": lambda horizon: belman.policies.Gittins(horizon=horizon),
    "gittins-finite": belman.policies.FiniteGittins,
    "default": lambda horizon: belman.BelMan(),
    "gittins-optimistic": lambda horizon: belman.policies.OptimisticGittins(),
    "ts-ucb(100)": lambda horizon: belman.policies.TSUCB(100),
    "bayes-ucb": lambda horizon: belman.policies.BayesUCB(),
    "imed": lambda horizon: belman.policies.IMED(),
    "thompson": lambda horizon: belman.Thompson(),
    "irs-index": belman.policies.IRSIndex,
    "irs-v-emax": belman.policies.IRSVEmax,
    "irs-v-zero": belman.policies.IRSVZero,
    "ucb-dt": lambda horizon: belman.policies.UCBDT(),
    "poker": belman.policies.POKER,
}
#: Those that plan each turn anew are played in one cell alone.
PLANNING = ("irs-index", "irs-v-emax", "irs-v-zero")
SHORT = 50
_DEAREST = 4_000_000  # arms × turns × runs of TS-UCB with a hundred draws


def drawn(prior: tuple[float, float], arms: int) -> RandomStationary:
    """Arms whose chances are drawn from the prior that players believe."""
    return RandomStationary(Bernoulli(prior=prior), arms, prior)


def exact_regret(policy: Policy, prior: tuple[float, float], rules: Rules, best: float) -> float:
    """Regret over all courses of play of two arms, NaN where a policy's chances are not known."""
    ends, horizon = all_courses(policy, prior, rules), rules.patients
    if not math.isclose(float(ends.chance.sum()), 1.0, rel_tol=1e-6):
        return math.nan
    alpha, beta = prior
    log_likely = np.full(len(ends.chance), horizon * math.log(2.0))
    for arm in range(2):
        won, plays = ends.successes[:, arm], ends.patients[:, arm]
        log_likely += beta_table(alpha, beta, horizon)[plays, won]
    return best - float((ends.chance * np.exp(log_likely)) @ ends.successes.sum(axis=1))


def beta_table(alpha: float, beta: float, horizon: int) -> np.ndarray:
    """ln B(α + s, β + n − s)/B(α, β) of n plays and s successes."""
    table = np.zeros((horizon + 1, horizon + 1))
    for n in range(horizon + 1):
        for s in range(n + 1):
            table[n, s] = log_beta(alpha + s, beta + n - s) - log_beta(alpha, beta)
    return table


def played_regret(
    policy: Policy, prior: tuple[float, float], arms: int, horizon: int, runs: int
) -> tuple[float, float]:
    """Mean regret of runs, and its standard error."""
    result = simulate({"own": policy}, drawn(prior, arms), horizon, runs, 11, progress=False)
    regret = result.regret.values[0, :, -1]
    return float(regret.mean()), float(regret.std(ddof=1)) / math.sqrt(runs)


Players = dict[str, Callable[[int], Policy]]


def excess(
    policies: list[Policy], prior: tuple[float, float], arms: int, horizon: int, runs: int
) -> list[tuple[float, float]]:
    """What each policy loses more than the best possible one, and its standard error."""
    courses = [believed_courses(each, prior, arms, horizon, runs, 11) for each in policies]
    chosen, won = (np.concatenate(part) for part in zip(*courses, strict=True))
    lost = given_away(np.tile(np.array(prior), (arms, 1)), horizon, chosen, won)
    return [
        (float(part.mean()), float(part.std(ddof=1)) / math.sqrt(runs))
        for part in lost.reshape(len(policies), runs)
    ]


def cell(
    prior: tuple[float, float], arms: int, horizon: int, runs: int, players: Players
) -> dict[str, str]:
    """The optimum, and every player's ratio to it, with a standard error where it was played."""
    best = attainable(drawn(prior, arms), horizon)
    a, b = prior
    result = {"arms": f"{arms}, Beta({a:g}, {b:g}), T = {horizon}", "optimum": f"{best.regret:.4f}"}
    played = {}
    for name, made in players.items():
        policy, mean = made(horizon), math.nan
        result[name] = ""
        short = horizon == SHORT and prior == UNIFORM
        if name in PLANNING and not (short and (arms == 2 or name != "irs-v-emax")):
            continue
        if arms == 2 and remembers_counts(policy):
            mean = exact_regret(policy, prior, Rules(horizon), best.best_arm)
        if math.isfinite(mean):
            result[name] = f"{mean / best.regret:.4f}"
        elif name != "ts-ucb(100)" or arms * horizon * runs <= _DEAREST:
            played[name] = policy
    if played:
        lost = excess(list(played.values()), prior, arms, horizon, runs)
        for name, (more, error) in zip(played, lost, strict=True):
            result[name] = f"{1.0 + more / best.regret:.4f} ± {error / best.regret:.4f}"
    return result


def ten_arms(runs: int, longest: int, players: Players) -> list[dict[str, str]]:
    """Regret at ten arms of uniform chances."""
    rows = []
    for horizon in (each for each in TEN if each <= longest):
        row = {"ten arms, Beta(1, 1)": f"T = {horizon:,}"}
        for name, made in players.items():
            slow = name in PLANNING or name == "ts-ucb(100)"
            if not slow and not (name == "gittins-exact" and horizon > 300):
                mean, error = played_regret(made(horizon), UNIFORM, 10, horizon, runs)
                row[name] = f"{mean:.2f} ± {error:.2f}"
            else:
                row[name] = ""
        rows.append(row)
    return rows


def costs() -> list[Claim]:
    """CPU time of a turn of `until` beside one of the default."""
    claims = []
    for arms in (2, 10, 50):
        problem = belman.problems.random_bernoulli(arms)

        def turns(policy: Policy, problem: RandomStationary = problem) -> float:
            def work() -> None:
                simulate({"own": policy}, problem, 1_000, 40, 1, workers=1, progress=False)

            work()
            return best_cpu_seconds(work, 5)

        ratio = turns(belman.BelMan.until(1_000)) / turns(belman.BelMan())
        claims.append(Claim(f"a turn of until / the default's, {arms} arms", ratio, 1.5, ""))
    return claims


#: Prior, arms and horizon of bounds, and truths that each is an average over.
BOUNDED = [
    (UNIFORM, 3, 50, 4_000),
    (UNIFORM, 5, 100, 4_000),
    (UNIFORM, 10, 100, 4_000),
    (UNIFORM, 10, 200, 2_000),
    (LOW, 10, 200, 2_000),
    (MIDDLE, 10, 200, 2_000),
    (UNIFORM, 20, 200, 1_000),
    (UNIFORM, 10, 500, 800),
    (UNIFORM, 10, 1_000, 400),
]


def bound_of(
    prior: tuple[float, float], arms: int, horizon: int, draws: int, tight: bool
) -> tuple[Attainable, float]:
    """The looser or the tighter bound, where no optimum is computed, and its CPU time."""
    started = time.process_time()
    with mock.patch.multiple(limit, LONGEST={}):
        if tight:
            result = attainable(drawn(prior, arms), horizon, draws=draws)
        else:
            with mock.patch.multiple(priced_plays, LONGEST=0):
                result = attainable(drawn(prior, arms), horizon, draws=20 * draws)
    return result, time.process_time() - started


def bounds(runs: int) -> None:
    """Print both bounds beside the best player."""
    rows = []
    for prior, arms, horizon, draws in BOUNDED:
        loose, _ = bound_of(prior, arms, horizon, draws, tight=False)
        tight, seconds = bound_of(prior, arms, horizon, draws, tight=True)
        exact = attainable(drawn(prior, arms), horizon, draws=2) if arms < 4 else None
        best, error = (exact.regret, 0.0) if exact else min(
            played_regret(made(horizon), prior, arms, horizon, runs)
            for made in (PLAYERS["until"], PLAYERS["gittins"])
        )  # fmt: skip
        a, b = prior
        rows.append(
            {
                "arms": f"{arms}, Beta({a:g}, {b:g}), T = {horizon:,}",
                "looser": f"{loose.regret:.2f} ± {loose.error:.2f}",
                "tighter": f"{tight.regret:.2f} ± {tight.error:.2f}",
                "best player": "the optimum: " * bool(exact) + f"{best:.2f} ± {1.96 * error:.2f}",
                "closed": f"{(tight.regret - loose.regret) / (best - loose.regret):.0%}".replace(
                    "%", " %"
                ),
                "CPU s": f"{seconds:.2g}",
            }
        )
        print(rows[-1], flush=True)
    print(table(rows, "the least regret of any policy, by two bounds (95 %)"))


def table(rows: list[dict[str, str]], title: str) -> Table:
    """Rows of the same columns; a column that is empty throughout is left out."""
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    return Table({name: [row[name] for row in rows] for name in names}, title)


def main() -> None:
    if sys.argv[1:2] == ["bounds"]:
        bounds(int(sys.argv[2]) if len(sys.argv) > 2 else 4_000)
        return
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    longest = int(sys.argv[2]) if len(sys.argv) > 2 else max(TEN)
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else list(PLAYERS)
    players = {name: PLAYERS[name] for name in wanted}
    cells = [(prior, 2, horizon) for prior, horizon in TWO if horizon <= longest]
    cells += [(prior, 3, horizon) for prior, horizon in THREE if horizon <= longest]
    rows = [cell(prior, arms, horizon, runs, players) for prior, arms, horizon in cells]
    print(table(rows, "regret over that of the best possible policy"), flush=True)
    tens = ten_arms(runs, longest, players)
    if tens:
        print(table(tens, "regret"), flush=True)
    claims = []
    if "until" in players:
        claims = [
            Claim(
                f"until over the optimum, {row['arms']}", float(row["until"].split()[0]), 1.03, ""
            )
            for row in rows
        ]
        claims += costs()
    for row in tens if {"until", "gittins"} <= set(players) else []:
        ours, theirs = (float(row[name].split()[0]) for name in ("until", "gittins"))
        error = math.hypot(*(float(row[name].split()[-1]) for name in ("until", "gittins")))
        what = f"until over gittins, {row['ten arms, Beta(1, 1)']} (± {2.0 * error / theirs:.3f})"
        claims.append(Claim(what, ours / theirs, 1.0, ""))
    report("limit", claims)


if __name__ == "__main__":
    main()
