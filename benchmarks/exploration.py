"""Turns per CPU-second of pure exploration through `explore`, 20 Bernoulli arms, one thread, beside
the same in `simulate`.

Recommending at every checkpoint and holding the evidence against a threshold at every turn are what
`explore` adds to a turn.
"""

from __future__ import annotations

import belman
from belman.cli.bench import B20
from belman.policies import (
    KLLUCB,
    SequentialHalving,
    SuccessiveRejects,
    TopTwoThompson,
    TrackAndStop,
    Uniform,
    WidestBelief,
)
from benchmarks.claim import Claim, best_cpu_seconds, report

HORIZON, RUNS = 1_000, 200
BOTH = {
    "uniform": Uniform(),
    "Thompson": belman.Thompson(),
    "BelMan-Explore": belman.BelMan(belman.exposure.Infinite()),
}
OTHERS = {
    "Successive Rejects": (SuccessiveRejects(HORIZON), 3e6),
    "Sequential Halving": (SequentialHalving(HORIZON), 3e6),
    "widest belief": (WidestBelief(), 4e5),
    "top-two Thompson": (TopTwoThompson(), 2e5),
    "KL-LUCB": (KLLUCB(), 2e5),
    "track-and-stop": (TrackAndStop(), 3e4),
}


def rate(policy: belman.policies.Policy, **question: float) -> float:
    """Turns per CPU-second of `explore`; a risk that is never met keeps the rule at work on every
    turn.
    """
    problem = belman.problems.bernoulli(B20)

    def play(runs: int) -> None:
        belman.explore([policy], problem, runs, workers=1, **question)

    play(1)
    return RUNS * HORIZON / best_cpu_seconds(lambda: play(RUNS), 3)


def simulated(policy: belman.policies.Policy) -> float:
    """The same of `simulate`."""
    problem = belman.problems.bernoulli(B20)
    belman.simulate([policy], problem, HORIZON, 1, workers=1)
    return (
        RUNS
        * HORIZON
        / best_cpu_seconds(lambda: belman.simulate([policy], problem, HORIZON, RUNS, workers=1), 3)
    )


def main() -> None:
    claims, notes = [], {}
    for name, policy in BOTH.items():
        plain = simulated(policy)
        budget, risk = rate(policy, budget=HORIZON), rate(policy, delta=1e-300, most=HORIZON)
        notes[name] = (
            f"{plain / 1e6:.2f} M turns/s in simulate, {budget / 1e6:.2f} with a budget, "
            f"{risk / 1e6:.2f} with a risk"
        )
        if name != "uniform":  # of which a turn is nothing but a search for the least count
            claims.append(
                Claim(
                    f"{name}: explore with a budget / simulate", budget / plain, 0.7, "", more=True
                )
            )
            claims.append(
                Claim(f"{name}: explore with a risk / simulate", risk / plain, 0.7, "", more=True)
            )
    for name, (policy, limit) in OTHERS.items():
        claims.append(
            Claim(name, rate(policy, budget=HORIZON) / 1e6, limit / 1e6, "M turns/s", more=True)
        )
    report("20 Bernoulli arms, 1,000 turns, 200 runs, one thread, CPU time", claims, notes)


if __name__ == "__main__":
    main()
