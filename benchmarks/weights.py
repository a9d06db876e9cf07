"""How long weights take: whatever N is, at 20 arms and at 1,000."""

from __future__ import annotations

import os

os.environ["BELMAN_COMPILE"] = "first"

import numpy as np

import belman
from benchmarks.claim import Claim, best_cpu_seconds, report

SIZES = (1, 100, 10_000, 1_000_000, 1_000_000_000)
#: Arms, plays so far, and milliseconds that may be taken.
HELD = ((20, 2_000, 1.0), (1_000, 30_000, 20.0))


def agent(policy: belman.policies.Policy, arms: int, plays: int) -> belman.Agent:
    """An agent whose arms were played unevenly."""
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 2 * plays // arms, arms)
    sums = rng.binomial(counts, 0.3 * rng.random(arms))
    start = {arm: (int(counts[arm]), float(sums[arm])) for arm in range(arms)}
    return belman.Agent(range(arms), policy=policy, start=start, seed=1)


def milliseconds(policy: belman.policies.Policy, arms: int, plays: int) -> list[float]:
    """For every N, after a first call that compiles."""
    made = agent(policy, arms, plays)
    made.weights(10**6)
    return [1e3 * best_cpu_seconds(lambda n=n: made.weights(n), 9) for n in SIZES]  # type: ignore[misc]


def main() -> None:
    claims, notes = [], {}
    for policy in (
        belman.BelMan(),
        belman.Thompson(),
        belman.policies.IMED(),
        belman.policies.KLUCBPlus(),
    ):
        for arms, plays, most in HELD:
            taken = milliseconds(policy, arms, plays)
            claims.append(Claim(f"{policy.name}, {arms:,} arms, worst N", max(taken), most, "ms"))
            every = zip(SIZES, taken, strict=True)
            notes[f"{policy.name}, {arms:,} arms"] = ", ".join(
                f"N = {n:,}: {spent:.2f} ms" for n, spent in every
            )
    report("Weights of the next N decisions", claims, notes)


if __name__ == "__main__":
    main()
