"""Segments: pooled as it is learnt, beside each for itself, and all as one.

50 segments of very different sizes and four Bernoulli arms: segments that are all alike, that have
nothing in common, and a mixture. `python -m benchmarks.segments [RUNS] [TURNS]`.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import belman
from belman.deciders.segmented.pooling import STRENGTHS
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]

SEGMENTS, ARMS = 50, 4
WORLDS = ("alike", "mixed", "apart")
#: The strengths that a player may use: all of them, or one.
PLAYERS = {"pooled": STRENGTHS, "alone": STRENGTHS[:1], "as one": STRENGTHS[-1:]}


def means(world: str, luck: np.random.Generator) -> Floats:
    """Of every arm in every segment."""
    if world == "apart":
        return luck.uniform(0.1, 0.5, (SEGMENTS, ARMS))
    off = 0.06 if world == "mixed" else 0.0
    common = luck.uniform(0.1, 0.5, ARMS)
    result: Floats = np.clip(common + off * luck.normal(size=(SEGMENTS, ARMS)), 0.01, 0.9)
    return result


def regret(player: str, world: str, run: int, turns: int) -> float:
    """What one run lost; every player meets the same visitors and the same luck."""
    luck = np.random.default_rng([run, WORLDS.index(world)])
    truth = means(world, luck)
    sizes = luck.pareto(1.0, SEGMENTS) + 0.05
    visitors = luck.choice(SEGMENTS, turns, p=sizes / sizes.sum())
    draws = luck.random(turns)
    agent = belman.Agent(range(ARMS), segments=("segment",), seed=run)
    usable = [strength in PLAYERS[player] for strength in STRENGTHS]
    agent._beliefs.pools.pooled.evidence[~np.array(usable)] = -np.inf
    lost = 0.0
    for visitor, draw in zip(visitors.tolist(), draws.tolist(), strict=True):
        context = {"segment": visitor}
        arm = agent.ask(context=context)
        agent.tell(arm, int(draw < truth[visitor, arm]), context)
        lost += float(truth[visitor].max() - truth[visitor, arm])
    return lost


def main(runs: int = 20, turns: int = 5_000) -> None:
    lost = {
        (world, player): np.array([regret(player, world, run, turns) for run in range(runs)])
        for world in WORLDS
        for player in PLAYERS
    }
    print(
        Table(
            {
                "segments": [world for world, _ in lost],
                "player": [player for _, player in lost],
                "lost": [float(values.mean()) for values in lost.values()],
                "±": [1.96 * float(v.std(ddof=1)) / np.sqrt(runs) for v in lost.values()],
            },
            f"{runs} runs of {turns:,} turns, {SEGMENTS} segments, {ARMS} arms",
        )
    )
    better = {
        world: min(lost[world, player].mean() for player in ("alone", "as one")) for world in WORLDS
    }
    claims = [
        Claim(
            f"pooled, over the better of the others, segments {world}",
            float(lost[world, "pooled"].mean() / better[world]),
            1.0 if world == "mixed" else 1.05,
            "times",
        )
        for world in WORLDS
    ]
    report("segments", claims, {})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
