"""Rewards in [0, 1] of eleven kinds: BelMan by two moments, and by a grid of atoms, beside rivals
that know no law either.

`python -m benchmarks.bounded [runs [horizon …]]`. Every kind is drawn anew for every ten runs, ten
arms each. A ratio is of mean regrets, with its 95 % interval over the problems (delta method on
logarithms). Rivals with a guarantee are NPTS, IMED by K_inf, empirical KL-UCB, and Thompson by two
moments or as if rewards were coins. BESA and RB-SDA, which have none that holds for all of these
kinds, stand beside them: where they lose less than BelMan, and where more than twice as much. The
cost of a turn is CPU time in the lab, of one run.
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
from benchmarks.claim import Claim, best_cpu_seconds, report

Floats = NDArray[np.float64]

ARMS, SEED, EACH = 10, 21, 10  # runs of each drawn problem
RIVALS: dict[str, Policy] = {
    "IMED-K_inf": IMEDKinf(),
    "Thompson": belman.Thompson(),
    "NPTS": NPTS(),
    "KL-UCB emp.": KLUCBEmpirical(),
}
UNGUARDED: dict[str, Policy] = {"BESA": BESA(), "RB-SDA": RBSDA()}
GRID = Bounded(atoms=65)
ATOMS = {"BelMan, atoms": belman.BelMan()}
COIN = {"coin BelMan": belman.BelMan(), "coin Thompson": belman.Thompson()}
GUARDED = (*RIVALS, "coin Thompson")


class Ratio(NamedTuple):
    """A ratio of mean regrets, and its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


def regrets(kind: str, horizon: int, runs: int) -> dict[str, Floats]:
    """Of every player, the regret of each drawn problem, averaged over its runs."""
    rng = np.random.default_rng([SEED, list(SHAPES).index(kind)])
    found: dict[str, list[float]] = {}
    lawless = {"BelMan": belman.BelMan(), **RIVALS, **UNGUARDED}
    for number in range(runs // EACH):
        problem = shaped(kind, ARMS, rng)
        as_coins = Tables(Bounded(moments=1), problem.laws)
        on_a_grid = Tables(GRID, problem.laws)
        for players, played in ((lawless, problem), (ATOMS, on_a_grid), (COIN, as_coins)):
            result = simulate(players, played, horizon, EACH, number, progress=False)
            for name in players:
                lost = result.regret.sel(player=name).isel(turn=-1).mean()
                found.setdefault(name, []).append(float(lost))
    return {name: np.array(values) for name, values in found.items()}


def ratio(own: Floats, other: Floats) -> Ratio:
    value = own.mean() / other.mean()
    apart = own / own.mean() - other / other.mean()
    error = 1.96 * apart.std(ddof=1) / math.sqrt(apart.size)
    return Ratio(value, value * math.exp(-error), value * math.exp(error))


class Outcome(NamedTuple):
    """Of every kind the ratio to its best rival with a guarantee, by moments and by atoms, and of
    rivals without one to BelMan; and the kinds of coins that are not played as by the Bernoulli
    default.
    """

    to_best: list[Ratio]
    atoms_to_best: list[Ratio]
    unguarded: dict[str, dict[str, Ratio]]
    not_as_coins: list[str]


def table(horizon: int, runs: int) -> Outcome:
    """Print the regrets of every kind."""
    columns: dict[str, list[object]] = {"rewards": []}
    ratios, by_atoms, same = [], [], []
    unguarded: dict[str, dict[str, Ratio]] = {name: {} for name in UNGUARDED}
    for kind in SHAPES:
        found = regrets(kind, horizon, runs)
        best = min(GUARDED, key=lambda name: float(found[name].mean()))
        ratios.append(ratio(found["BelMan"], found[best]))
        by_atoms.append(ratio(found["BelMan, atoms"], found[best]))
        columns["rewards"].append(kind)
        for name, ratios_of in unguarded.items():
            ratios_of[kind] = ratio(found[name], found["BelMan"])
        for name, values in found.items():
            columns.setdefault(name, []).append(round(float(values.mean()), 1))
        columns.setdefault("to the best", []).append(f"{ratios[-1]} {best}")
        columns.setdefault("atoms to the best", []).append(str(by_atoms[-1]))
        if kind == "coins" and not np.array_equal(found["BelMan"], found["coin BelMan"]):
            same.append("coins are not played as by the Bernoulli default")
    print(Table(columns, f"regret at T = {horizon:,}, {ARMS} arms, {runs} runs"))
    print()
    return Outcome(ratios, by_atoms, unguarded, same)


def geometric_mean(ratios: list[Ratio]) -> Ratio:
    """Of ratios that are independent of one another."""
    middle = math.exp(float(np.mean([math.log(found.value) for found in ratios])))
    error = math.sqrt(sum(math.log(r.high / r.value) ** 2 for r in ratios)) / len(ratios)
    return Ratio(middle, middle * math.exp(-error), middle * math.exp(error))


def wins_and_failures(ratios: dict[str, Ratio]) -> str:
    """Where a rival surely lost less than BelMan, and where it lost more than twice as much."""
    wins = [f"{kind} {found.value:.2f}" for kind, found in ratios.items() if found.high < 1.0]
    fails = [f"{kind} {found.value:.1f}" for kind, found in ratios.items() if found.low > 2.0]
    return f"less on {', '.join(wins) or 'none'}; over twice on {', '.join(fails) or 'none'}"


def turn_cost(problem: belman.problems.Problem, policy: Policy, turns: int = 20_000) -> float:
    """Microseconds of a turn."""
    simulate({"one": policy}, problem, 100, 1, progress=False)

    def play() -> None:
        simulate({"one": policy}, problem, turns, 1, progress=False)

    return 1e6 * best_cpu_seconds(play) / turns


def main(runs: int = 40, *horizons: int) -> None:
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    for horizon in horizons or (1_000,):
        ratios, by_atoms, unguarded, same = table(horizon, runs)
        what = f"T = {horizon:,}"
        for how, found in (("", ratios), (" by atoms", by_atoms)):
            middle, worst = geometric_mean(found), max(found, key=lambda one: one.value)
            name = f"{what}{how}: geometric mean to the best rival"
            claims.append(Claim(name, middle.value, 0.70, "×"))
            claims.append(Claim(f"{what}{how}: worst kind", worst.value, 0.95, "×"))
            notes[f"95 % intervals at {what}{how}"] = f"mean {middle}, worst kind {worst}"
        claims.append(Claim(f"{what}: coins not as the Bernoulli default", len(same), 0, "kinds"))
        for name, against in unguarded.items():
            notes[f"{name} to BelMan at {what}"] = wins_and_failures(against)
    rng = np.random.default_rng(SEED)
    beta = shaped("beta", 20, rng)
    coins = belman.problems.bernoulli(rng.uniform(size=20).tolist())
    basis = turn_cost(coins, belman.BelMan())
    claims.append(
        Claim(
            "turn at 20 arms, to a Bernoulli turn", turn_cost(beta, belman.BelMan()) / basis, 2, "×"
        )
    )
    on_a_grid = turn_cost(Tables(GRID, beta.laws), belman.BelMan())
    claims.append(Claim("turn with atoms", on_a_grid / basis, 10, "×"))
    notes["turn of IMED by K_inf"] = f"{turn_cost(beta, IMEDKinf()) / basis:.1f} ×"
    report("rewards in [0, 1] without a law", claims, notes)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
