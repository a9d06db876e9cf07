"""Rewards in [0, 1] of eleven kinds: BelMan by two moments, and by a grid of atoms, beside rivals
that know no distribution either.

`python -m benchmarks.bounded [HORIZON:RUNS …]`, as `1000:300 10000:100`. Every kind is drawn anew
for every ten runs, ten arms each. A ratio is of mean regrets, with its 95 % interval over the
problems (delta method on logarithms). The geometric mean, over kinds and horizons together, is to
the best rival of each that has a guarantee: NPTS, IMED by K_inf, empirical KL-UCB, and Thompson as
if rewards were coins. The worst kind is to the best of these and of Thompson by two moments, which
draws from BelMan's own belief and for which none is proven; the geometric mean with it among the
rivals is printed too. BESA and RB-SDA, which have no guarantee that holds for all of these kinds,
stand beside them: where they lose less than BelMan, and where more than twice as much. The cost of
a turn is CPU time in the lab, of one run.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import belman
from belman.families import Bounded
from belman.lab import simulate
from belman.policies import BESA, NPTS, RBSDA, IMEDKinf, KLUCBEmpirical
from belman.policies.policy import Policy
from belman.problems import SHAPES, Tables, shaped
from belman.table import Table
from benchmarks.claim import Claim, Ratio, best_cpu_seconds, geometric_mean, report

Floats = NDArray[np.float64]

ARMS, SEED, EACH = 10, 21, 10  # runs of each drawn problem
RIVALS: dict[str, Policy] = {
    "IMED-K_inf": IMEDKinf(),
    "moment Thompson": belman.Thompson(),
    "NPTS": NPTS(),
    "KL-UCB emp.": KLUCBEmpirical(),
}
UNGUARDED: dict[str, Policy] = {"BESA": BESA(), "RB-SDA": RBSDA()}
GRID = Bounded(atoms=65)
ATOMS = {"BelMan, atoms": belman.BelMan()}
COIN = {"coin BelMan": belman.BelMan(), "coin Thompson": belman.Thompson()}
PROVEN = ("IMED-K_inf", "NPTS", "KL-UCB emp.", "coin Thompson")
WAYS = {"two moments": "BelMan", "atoms": "BelMan, atoms"}


def regrets(kind: str, horizon: int, runs: int) -> dict[str, Floats]:
    """Of every player, the regret of each drawn problem, averaged over its runs."""
    rng = np.random.default_rng([SEED, list(SHAPES).index(kind)])
    matches: dict[str, list[float]] = {}
    lawless = {"BelMan": belman.BelMan(), **RIVALS, **UNGUARDED}
    for number in range(runs // EACH):
        problem = shaped(kind, ARMS, rng)
        as_coins = Tables(Bounded(moments=1), problem.distributions)
        on_a_grid = Tables(GRID, problem.distributions)
        for players, played in ((lawless, problem), (ATOMS, on_a_grid), (COIN, as_coins)):
            result = simulate(players, played, horizon, EACH, number, progress=False)
            for name in players:
                lost = result.regret.sel(player=name).isel(turn=-1).mean()
                matches.setdefault(name, []).append(float(lost))
    return {name: np.array(values) for name, values in matches.items()}


def ratio(own: Floats, other: Floats) -> Ratio:
    value = own.mean() / other.mean()
    apart = own / own.mean() - other / other.mean()
    error = 1.96 * apart.std(ddof=1) / math.sqrt(apart.size)
    return Ratio(value, value * math.exp(-error), value * math.exp(error))


class Outcome(NamedTuple):
    """Of every kind the ratio to its best rival with a guarantee, and to the best of all, by
    moments and by atoms; and of BESA and RB-SDA to BelMan.
    """

    to_proven: dict[str, list[Ratio]]
    to_any: dict[str, list[Ratio]]
    unguarded: dict[str, dict[str, Ratio]]
    coins_differ: bool  # from the Bernoulli default's


def table(horizon: int, runs: int) -> Outcome:
    """Print the regrets of every kind."""
    columns: dict[str, list[object]] = {"rewards": []}
    matches = Outcome({way: [] for way in WAYS}, {way: [] for way in WAYS}, {}, False)
    for kind in SHAPES:
        lost = regrets(kind, horizon, runs)
        columns["rewards"].append(kind)
        for name, values in lost.items():
            columns.setdefault(name, []).append(round(float(values.mean()), 1))
        for name in UNGUARDED:
            matches.unguarded.setdefault(name, {})[kind] = ratio(lost[name], lost["BelMan"])
        for whose, against, ratios in (
            ("to the best proven", PROVEN, matches.to_proven),
            ("to the best of all", (*PROVEN, "moment Thompson"), matches.to_any),
        ):
            best = min(against, key=lambda name: float(lost[name].mean()))
            for way, name in WAYS.items():
                ratios[way].append(ratio(lost[name], lost[best]))
                cell = f"{ratios[way][-1]} {best}"
                columns.setdefault(f"{way} {whose}", []).append(cell)
        if kind == "coins" and not np.array_equal(lost["BelMan"], lost["coin BelMan"]):
            matches = matches._replace(coins_differ=True)
    print(Table(columns, f"regret at T = {horizon:,}, {ARMS} arms, {runs} runs"))
    print()
    return matches


def together(means: list[Ratio]) -> Ratio:
    """The geometric mean of those of several horizons, whose luck is the same."""
    return Ratio(*np.exp(np.log(np.array(means)).mean(axis=0)).tolist())


def wins_and_failures(ratios: dict[str, Ratio]) -> str:
    """Where a rival surely lost less than BelMan, and where it lost more than twice as much."""
    wins = [f"{kind} {matches.value:.2f}" for kind, matches in ratios.items() if matches.high < 1.0]
    fails = [f"{kind} {matches.value:.1f}" for kind, matches in ratios.items() if matches.low > 2.0]
    return f"less on {', '.join(wins) or 'none'}; over twice on {', '.join(fails) or 'none'}"


def turn_cost(problem: belman.problems.Problem, policy: Policy, turns: int = 20_000) -> float:
    """Microseconds of a turn."""
    simulate({"one": policy}, problem, 100, 1, progress=False)

    def play() -> None:
        simulate({"one": policy}, problem, turns, 1, progress=False)

    return 1e6 * best_cpu_seconds(play) / turns


def main(*plans: str) -> None:
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    whole = {way: list[Ratio]() for way in WAYS}
    for horizon, runs in (map(int, plan.split(":")) for plan in plans or ("1000:40",)):
        matches, what = table(horizon, runs), f"T = {horizon:,}"
        for way in WAYS:
            proven, anyone = map(geometric_mean, (matches.to_proven[way], matches.to_any[way]))
            whole[way].append(proven)
            worst = max(matches.to_any[way], key=lambda one: one.value)
            claims.append(Claim(f"{what}, {way}: worst kind to all", worst.value, 0.95, "×"))
            words = f"to the best proven {proven}, to the best of all {anyone}, at worst {worst}"
            notes[f"{what}, {way}"] = words
        coins = f"{what}: coins not as the Bernoulli default"
        claims.append(Claim(coins, float(matches.coins_differ), 0, "kinds"))
        for name, against in matches.unguarded.items():
            notes[f"{name} to BelMan at {what}"] = wins_and_failures(against)
    for way, means in whole.items():
        middle = together(means)
        what = f"{way}: geometric mean to the best proven rival"
        claims.append(Claim(what, middle.value, 0.70, "×"))
        notes[f"{way}, all horizons"] = f"{middle}"
    rng = np.random.default_rng(SEED)
    beta = shaped("beta", 20, rng)
    coins = belman.problems.bernoulli(rng.uniform(size=20).tolist())
    basis = turn_cost(coins, belman.BelMan())
    claims.append(
        Claim(
            "turn at 20 arms, to a Bernoulli turn", turn_cost(beta, belman.BelMan()) / basis, 2, "×"
        )
    )
    on_a_grid = turn_cost(Tables(GRID, beta.distributions), belman.BelMan())
    claims.append(Claim("turn with atoms", on_a_grid / basis, 10, "×"))
    notes["turn of IMED by K_inf"] = f"{turn_cost(beta, IMEDKinf()) / basis:.1f} ×"
    report("rewards in [0, 1] without a distribution", claims, notes)


if __name__ == "__main__":
    main(*sys.argv[1:])
