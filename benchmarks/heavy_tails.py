"""Rewards with heavy tails: BelMan by Gaussians of unknown variance, and with tails clipped.

`python -m benchmarks.heavy_tails [runs]`. Five arms whose distributions differ by a shift alone, a
fifth of a unit apart (the unit is a deviation, where there is one), 2,000 turns. In the last kind
arms differ by their tails: the best one pays 100 in one turn of a hundred and else as much as the
others, and clipping cannot see it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import belman
from belman.families import GaussianUnknown
from belman.lab import simulate
from belman.policies import Clipping
from belman.problems import from_rewards
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]

HORIZON, SEED, POINTS = 2_000, 29, 4_000
LEVELS = (np.arange(POINTS) + 0.5) / POINTS
SHIFTS = 0.2 * np.arange(5)


def with_outliers() -> Floats:
    """Normal, and one in a hundred is −50 or 50."""
    rng = np.random.default_rng(SEED)
    values: Floats = stats.norm.ppf(LEVELS)
    wild = rng.choice(POINTS, POINTS // 100, replace=False)
    values[wild] = np.where(np.arange(wild.size) % 2, 50.0, -50.0)
    return values


KINDS: dict[str, Callable[[], Floats]] = {
    "normal": lambda: stats.norm.ppf(LEVELS),
    "Laplace": lambda: stats.laplace.ppf(LEVELS) / 2.0**0.5,
    "Student, 3 degrees": lambda: stats.t(3).ppf(LEVELS) / 3.0**0.5,
    "Student, 1.5 degrees": lambda: stats.t(1.5).ppf(LEVELS),
    "log-normal": lambda: stats.lognorm(1.0).ppf(LEVELS) / 2.16,
    "normal, 1 % outliers": with_outliers,
}


def arms_of(kind: str) -> dict[str, list[float]]:
    """The rewards that each arm may give."""
    if kind == "rare prizes":
        plain = 0.1 * stats.norm.ppf(LEVELS)
        prizes = np.where(np.arange(POINTS) % 100 == 0, 100.0, plain)
        return {"prizes": prizes.tolist(), **{f"{a}": (plain + a / 10).tolist() for a in range(4)}}
    values = KINDS[kind]()
    return {f"{shift:.1f}": (values - values.mean() + shift).tolist() for shift in SHIFTS}


def lost(kind: str, runs: int) -> tuple[Floats, Floats]:
    """The regrets of both."""
    players = {"plain": belman.BelMan(), "clipped": Clipping()}
    problem = from_rewards(arms_of(kind), GaussianUnknown())
    result = simulate(players, problem, HORIZON, runs, SEED, progress=False).regret.isel(turn=-1)
    return result.sel(player="plain").values, result.sel(player="clipped").values


def main(runs: int = 300) -> None:
    columns: dict[str, list[object]] = {"rewards": [], "plain": [], "clipped": []}
    ratios: dict[str, float] = {}
    for kind in (*KINDS, "rare prizes"):
        columns["rewards"].append(kind)
        plain, clipped = lost(kind, runs)
        for name, values in (("plain", plain), ("clipped", clipped)):
            error = values.std(ddof=1) / runs**0.5
            columns[name].append(f"{values.mean():.1f} ± {error:.1f}")
        ratios[kind] = float(clipped.mean() / plain.mean())
    print(Table(columns, f"regret at T = {HORIZON:,}, {runs} runs"))
    print()
    limits = {"Student, 1.5 degrees": 0.6, "normal, 1 % outliers": 0.4, "normal": 1.2}
    claims = [
        Claim(f"{kind}: clipped to plain", ratios[kind], limit, "×")
        for kind, limit in limits.items()
    ]
    report("rewards with heavy tails", claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
