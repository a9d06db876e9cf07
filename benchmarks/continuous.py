"""Boxes: what one smooth belief is worth beside prices as separate arms, and what a turn costs.

`python -m benchmarks.continuous [RUNS] [TURNS]` plays prices whose chances of buying differ from
run to run, curves that are drawn at random, and Branin's hills, against the default agent with an
even grid of arms, and against the same belief with mean + 2 deviations.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import belman
from belman.deciders.box.box_decider import BoxDecider
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]


class Hill(NamedTuple):
    """A box, the expected reward of a point, and a reward that is drawn for it."""

    box: belman.Box
    expected: Callable[[Floats], float]
    reward: Callable[[Floats, np.random.Generator], float]


def prices(luck: np.random.Generator) -> Hill:
    middle, width, most = luck.uniform(8, 16), luck.uniform(1, 3), luck.uniform(0.3, 1)

    def bought(at: Floats) -> float:
        return float(most / (1.0 + math.exp((at[0] - middle) / width)))

    return Hill(
        belman.Box(price=(5, 20)),
        lambda at: float(at[0]) * bought(at),
        lambda at, luck: float(at[0]) * (luck.random() < bought(at)),
    )


def curves(luck: np.random.Generator) -> Hill:
    waves, phases = luck.normal(size=40) / 0.12, luck.uniform(0.0, 2.0 * math.pi, 40)
    heights = luck.normal(size=40) * math.sqrt(2.0 / 40.0)

    def expected(at: Floats) -> float:
        return float(heights @ np.cos(waves * at[0] + phases))

    return Hill(belman.Box(x=(0, 1)), expected, lambda at, luck: expected(at) + 0.5 * luck.normal())


def branin(luck: np.random.Generator) -> Hill:
    def expected(at: Floats) -> float:
        bend = at[1] - 5.1 / (4.0 * math.pi**2) * at[0] ** 2 + 5.0 / math.pi * at[0] - 6.0
        wave = 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(at[0])
        return float(-(bend**2 + wave + 10.0) / 50.0)

    return Hill(
        belman.Box(x=(-5, 10), y=(0, 15)),
        expected,
        lambda at, luck: expected(at) + 0.2 * luck.normal(),
    )


class TwoDeviations(BoxDecider):
    """The same belief, and the point whose mean + 2 deviations is the largest."""

    def _indices(self, mean: Floats, variance: Floats, noise: float) -> Floats:
        found: Floats = mean + 2.0 * np.sqrt(variance)
        return found


class Grid:
    """An even grid of separate arms with Gaussian rewards of unknown variance."""

    def __init__(self, box: belman.Box, seed: int) -> None:
        across = [np.linspace(*side, 10 if len(box) == 1 else 5) for side in box.sides.values()]
        points = np.stack(np.meshgrid(*across), axis=-1).reshape(-1, len(box))
        arms = [tuple(map(float, point)) for point in points]
        self.box, self.agent = box, belman.Agent(arms, family="gaussian-unknown", seed=seed)

    def ask(self) -> dict[str, float]:
        arm = self.agent.ask()
        assert isinstance(arm, tuple)
        return dict(zip(self.box.sides, arm, strict=True))

    def tell(self, point: dict[str, float], reward: float) -> None:
        self.agent.tell(tuple(point.values()), reward)


def two_deviations(box: belman.Box, seed: int) -> belman.Agent:
    """An agent that decides by the rule above."""
    agent = belman.Agent(space=box, seed=seed)
    made = agent._decider
    assert isinstance(made, BoxDecider)
    agent._decider = TwoDeviations(box, shift=made._shift)
    return agent


PLAYERS: dict[str, Callable[[belman.Box, int], belman.Agent | Grid]] = {
    "Agent(space=…)": lambda box, seed: belman.Agent(space=box, seed=seed),
    "mean + 2 deviations": two_deviations,
    "separate arms": Grid,
}


def highest(hill: Hill) -> float:
    across = [
        np.linspace(*side, 2001 if len(hill.box) == 1 else 151) for side in hill.box.sides.values()
    ]
    points = np.stack(np.meshgrid(*across), axis=-1).reshape(-1, len(hill.box))
    return max(map(hill.expected, points))


def regret(hill: Hill, player: str, turns: int, run: int) -> float:
    """What one run lost."""
    agent, luck = PLAYERS[player](hill.box, run), np.random.default_rng([2, run])
    top, lost = highest(hill), 0.0
    for _ in range(turns):
        point = agent.ask()
        at = np.array(list(point.values()))
        agent.tell(point, hill.reward(at, luck))
        lost += top - hill.expected(at)
    return lost


def cost_of_a_turn(turns: int) -> float:
    """Milliseconds of an ask and a tell after so many turns in two dimensions."""
    agent = belman.Agent(space=belman.Box(x=(0, 1), y=(0, 1)), seed=1)
    luck = np.random.default_rng(1)
    for _ in range(turns):
        agent.tell({"x": luck.random(), "y": luck.random()}, luck.normal())
    spent = []
    for _ in range(5):
        started = time.process_time()
        agent.tell(agent.ask(), 0.0)
        spent.append(time.process_time() - started)
    return 1e3 * min(spent)


def main(runs: int = 20, turns: int = 150) -> None:
    lost = {
        (problem.__name__, player): np.array(
            [regret(problem(np.random.default_rng([1, r])), player, turns, r) for r in range(runs)]
        )
        for problem in (prices, curves, branin)
        for player in PLAYERS
    }
    print(
        Table(
            {
                "problem": [problem for problem, _ in lost],
                "player": [player for _, player in lost],
                "lost": [float(values.mean()) for values in lost.values()],
                "±": [float(1.96 * v.std(ddof=1) / math.sqrt(runs)) for v in lost.values()],
                "worst": [float(values.max()) for values in lost.values()],
            },
            f"{runs} runs of {turns} turns",
        )
    )

    def ratio(other: str) -> float:
        ratios = [
            lost[name, "Agent(space=…)"].mean() / lost[name, other].mean()
            for name in ("prices", "curves", "branin")
        ]
        return float(np.exp(np.log(ratios).mean()))

    claims = [
        Claim("lost, over separate arms", ratio("separate arms"), 0.9, "times"),
        Claim("lost, over mean + 2 deviations", ratio("mean + 2 deviations"), 1.15, "times"),
        Claim("a turn after 300", cost_of_a_turn(300), 100.0, "ms"),
    ]
    report("boxes", claims, {})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
