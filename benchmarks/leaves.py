"""How much of what a study along features earns its leaves keep, for the clients of GrowthBook.

`python -m benchmarks.leaves`: worlds of three arms whose best one depends on the context; a study
learns, and both what it decides itself and its leaves are valued by the true means, over contexts
that are new, beside an even split and the best arm for everybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from belman.deciders import FeaturedDecider
from belman.deciders.featured.at_edge import chances_among
from belman.deciders.shares import Shares
from benchmarks.claim import Claim, report

ARMS, FLOOR, REWARDS, NEW, POINTS = ["a", "b", "c"], 0.02, 1_500, 4_000, 10_000
Context = dict[str, float | str]


def context(rng: np.random.Generator) -> Context:
    result: Context = {name: float(rng.normal()) for name in ("x", "y")}
    return result | {"country": str(rng.choice(["fr", "de", "it", "es"], p=[0.4, 0.3, 0.2, 0.1]))}


def by_country(arm: str, given: Context) -> float:
    return 0.6 if {"fr": "a", "de": "b"}.get(str(given["country"]), "c") == arm else 0.3


def along_a_line(arm: str, given: Context) -> float:
    slope = {"a": 0.25, "b": 0.0, "c": -0.25}[arm]
    return float(np.clip(0.4 + slope * float(given["x"]), 0.02, 0.98))


def in_both(arm: str, given: Context) -> float:
    slope = {"a": (0.2, 0.0), "b": (0.0, 0.2), "c": (-0.15, -0.15)}[arm]
    return float(
        np.clip(0.4 + slope[0] * float(given["x"]) + slope[1] * float(given["y"]), 0.02, 0.98)
    )


def kept(mean: Callable[[str, Context], float], seed: int) -> tuple[float, float, float]:
    """The share of the gain over an even split that leaves keep; the gain of the study; seconds."""
    rng = np.random.default_rng(seed)
    decider = FeaturedDecider(ARMS, context=["x", "y", "country"])
    for turn in range(REWARDS):
        given, arm = context(rng), ARMS[turn % 3]
        decider.record(decider.recall(arm, given), float(rng.random() < mean(arm, given)))
    floors, shares = [FLOOR] * 3, Shares(floor=FLOOR)
    started = time.process_time()
    tree = decider.in_leaves(shares, floors, POINTS)
    spent = time.process_time() - started
    contexts = [context(rng) for _ in range(NEW)]
    means = np.array([[mean(arm, one) for arm in ARMS] for one in contexts])
    own = np.array(chances_among(decider.at_edge(shares), floors, contexts))
    leaves = np.array([tree.counts(one, floors) for one in contexts]) / POINTS
    even = means.mean()
    gain = float((own * means).sum(1).mean() - even)
    return float((leaves * means).sum(1).mean() - even) / gain, gain, spent


def main() -> None:
    claims, notes = [], {}
    for mean in (by_country, along_a_line, in_both):
        result = np.array([kept(mean, seed) for seed in range(5)])
        name = mean.__name__.replace("_", " ")
        claims.append(Claim(f"share kept, {name}", float(result[:, 0].mean()), 0.9, "", more=True))
        notes[name] = f"the study earns {result[:, 1].mean():.3f} a decision above an even split"
    claims.append(
        Claim("seconds of the processor for a tree", float(result[1:, 2].min()), 1.0, "s")
    )
    report("Leaves for GrowthBook", claims, notes)


if __name__ == "__main__":
    main()
