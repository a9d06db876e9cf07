"""How often Chernoff's stopping rule is wrong at δ = 0.1: 10,000 runs on each of five instances, of
four families.

The limit is δ, held against the upper end of a 99 % interval (Clopper and Pearson). Two families in
which the average reward is not all that the likelihood needs are reported beside them.
"""

from __future__ import annotations

import sys

import belman
from belman.measures import chance_of_error
from belman.problems.stationary import Stationary
from benchmarks.claim import Claim, report

DELTA, RUNS, SEED = 0.1, 10_000, 20
PLAYERS = {"uniform": belman.Uniform(), "track-and-stop": belman.policies.TrackAndStop()}
INSTANCES: dict[str, Stationary] = {
    "Bernoulli 0.5, 0.4, 0.3": belman.problems.bernoulli([0.5, 0.4, 0.3]),
    "Bernoulli 0.3, 0.21, 0.2, 0.19, 0.18": belman.problems.bernoulli([0.3, 0.21, 0.2, 0.19, 0.18]),
    "Gaussian 0.5, 0, 0 (σ = 1)": belman.problems.gaussian([0.5, 0.0, 0.0]),
    "exponential 1, 0.6, 0.5": belman.problems.exponential([1.0, 0.6, 0.5]),
    "Poisson 2, 1.5, 1.5, 1": belman.problems.poisson([2.0, 1.5, 1.5, 1.0]),
}
ASIDE: dict[str, Stationary] = {
    "exponential 1, 0.6, 0.5 cut at 1": belman.problems.exponential([1.0, 0.6, 0.5], bound=1.0),
    "Gaussian 0.5, 0, 0 of unknown σ": belman.problems.gaussian([0.5, 0.0, 0.0], known=False),
}


def measure(problem: Stationary, runs: int) -> dict[str, tuple[float, float, float]]:
    """Of each player the share of errors, the upper end of its interval, and the mean number of
    turns.
    """
    result = belman.explore(PLAYERS, problem, runs, SEED, delta=DELTA)
    errors = chance_of_error(result, level=0.99)
    return {
        name: (
            float(errors["mean"].sel(player=name)),
            float(errors["high"].sel(player=name)),
            float(result.turns.sel(player=name).mean()),
        )
        for name in PLAYERS
    }


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    claims, notes = [], {}
    for label, problem in {**INSTANCES, **ASIDE}.items():
        shortest = belman.problems.characteristic_time(problem).turns
        for name, (error, high, turns) in measure(problem, runs).items():
            if label in INSTANCES:
                claims.append(Claim(f"{label}: {name}", high, DELTA, "(upper end)"))
            notes[f"{label}, {name}"] = (
                f"error {error:.4f} (≤ {high:.4f}), {turns:.0f} turns, T* = {shortest:.0f}"
            )
    report(f"errors of the stopping rule at δ = {DELTA:g}, {runs:,} runs", claims, notes)


if __name__ == "__main__":
    main()
