"""Queues through `simulate`: 50 runs of 10,000 turns of eight policies, and what a genie beside
them and matching cost.
"""

from __future__ import annotations

import belman
from benchmarks.claim import Claim, best_cpu_seconds, report

HORIZON, RUNS = 10_000, 50
SERVICES = [
    [0.5, 0.33, 0.33, 0.33, 0.25],
    [0.33, 0.5, 0.25, 0.33, 0.25],
    [0.25, 0.33, 0.5, 0.25, 0.25],
]
PLAYERS = {
    "BelMan": belman.BelMan(),
    "BelMan (paper)": belman.BelMan.paper(),
    "QBelMan": belman.policies.qbelman(),
    "Q-UCB": belman.policies.q_ucb(),
    "Q-ThS": belman.policies.q_ths(),
    "UCB": belman.policies.UCB1(),
    "Thompson": belman.Thompson(),
    "Thompson (authors)": belman.policies.CoinThompson(),
}


def seconds(
    players: dict[str, belman.policies.Policy], problem: belman.problems.Problem, runs: int = RUNS
) -> float:
    """CPU time of a simulation whose code is compiled."""
    belman.simulate(players, problem, 10, 1, workers=1)
    return best_cpu_seconds(lambda: belman.simulate(players, problem, HORIZON, runs, workers=2), 3)


def main() -> None:
    one = seconds(PLAYERS, belman.problems.queue(SERVICES[2], 0.35))
    thompson = {"Thompson": PLAYERS["Thompson"]}
    queue = seconds(thompson, belman.problems.queue(SERVICES[2], 0.35))
    bandit = seconds(thompson, belman.problems.bernoulli(SERVICES[2]))
    three = seconds(thompson, belman.problems.queue(SERVICES, [0.3, 0.25, 0.2]))
    claims = [
        Claim(
            "eight policies, 50 runs of 10,000 turns (CPU; ten seconds on two cores are 20)",
            one,
            20.0,
            "s",
        ),
        Claim("Thompson at a queue / at a bandit of the same arms", queue / bandit, 2.0, "×"),
        Claim(
            "three queues matched with five servers / three single queues",
            three / (3.0 * queue),
            2.0,
            "×",
        ),
    ]
    rate = len(PLAYERS) * RUNS * HORIZON / one / 1e6
    report("queues, CPU time", claims, {"eight policies": f"{rate:.2f} M turns per CPU-second"})


if __name__ == "__main__":
    main()
