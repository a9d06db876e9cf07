"""What a decision in a context costs, beside other libraries, in one run.

    pip install 'belman[tables]' bayesianbandits && python -m benchmarks.context_costs [TURNS]

Every arm answers the numbers of a context in its own way. A turn is one choice for one context, and
one reward that is learnt at once, through the calls of each library's documentation. Rewards are
linear, and in the default of belman, whose belief has all of its forms, 0 or 1; it is there once
more without the forms that bend, which says what these cost. Microseconds of the processor, the
median over turns, and the average, in which rare dear turns count (we express the
belief anew where numbers get another scale). Libraries that are not installed are left out.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import belman
from belman.models import Linear
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]
Turn = Callable[[Floats, float], Any]  # plays a turn with a context (d) that brings a reward
SIZES = ((3, 5), (5, 10), (20, 20))  # arms, and numbers of a context
OURS, DEFAULT = "belman, linear", "belman, default"
STRAIGHT = "belman, default, numbers as they are"
#: Microseconds of ask and tell of the default at 5 arms × 10 numbers, the goal.
GOAL = 60.0


def ours(arms: int, size: int, bends: bool = True, **settings: Any) -> Turn:
    names = [f"number {i}" for i in range(size)]
    agent = belman.Agent(range(arms), context=names, seed=1, **settings)
    if not bends:
        agent._decider.knowledge.shapes = []

    def turn(context: Floats, reward: float) -> None:
        told = dict(zip(names, context.tolist(), strict=True))
        agent.tell(agent.ask(context=told), reward if settings else float(reward > 0.0))

    return turn


def mabwiser(arms: int, size: int) -> Turn:
    from mabwiser.mab import MAB, LearningPolicy

    agent = MAB(list(range(arms)), LearningPolicy.LinUCB(), seed=1)
    agent.fit(list(range(arms)), [0.0] * arms, np.zeros((arms, size)))

    def turn(context: Floats, reward: float) -> None:
        arm = agent.predict(context[None])
        agent.partial_fit([arm], [reward], context[None])

    return turn


def contextualbandits(arms: int, size: int) -> Turn:
    from contextualbandits.online import LinUCB

    agent = LinUCB(nchoices=arms, random_state=1)
    agent.partial_fit(np.zeros((arms, size)), np.arange(arms), np.zeros(arms))

    def turn(context: Floats, reward: float) -> None:
        arm = np.asarray(agent.predict(context[None])).astype(int)
        agent.partial_fit(context[None], arm, np.array([reward]))

    return turn


def bayesianbandits(arms: int, size: int) -> Turn:
    from bayesianbandits import Arm, ContextualAgent, NormalRegressor, ThompsonSampling

    learners = [NormalRegressor(alpha=1.0, beta=1.0) for _ in range(arms)]
    agent = ContextualAgent(
        [Arm(arm, learner=each) for arm, each in enumerate(learners)],
        ThompsonSampling(),
        random_seed=1,
    )

    def turn(context: Floats, reward: float) -> None:
        agent.pull(context[None])
        agent.update(context[None], np.array([reward]))

    return turn


PLAYERS: dict[str, Callable[[int, int], Turn]] = {
    DEFAULT: ours,
    STRAIGHT: lambda arms, size: ours(arms, size, bends=False),
    OURS: lambda arms, size: ours(arms, size, model=Linear()),
    "MABWiser": mabwiser,
    "contextualbandits": contextualbandits,
    "bayesianbandits": bayesianbandits,
}


def microseconds(turn: Turn, size: int, turns: int) -> Floats:
    """Of every turn, after as many that are not counted."""
    luck, spent = np.random.default_rng(3), np.zeros(2 * turns)
    for i in range(2 * turns):
        context, reward = luck.normal(size=size), float(luck.normal())
        start = time.process_time()
        turn(context, reward)
        spent[i] = time.process_time() - start
    return spent[turns:] * 1e6


def main(turns: int = 500) -> None:
    """Play all sizes, ours first, compiled."""
    os.environ["BELMAN_COMPILE"] = "first"
    rows, claims = [], []
    for arms, size in SIZES:
        medians = {}
        for name, make in PLAYERS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    spent = microseconds(make(arms, size), size, turns)
                except ImportError:
                    continue
            medians[name] = float(np.median(spent))
            rows.append((f"{arms} × {size}", name, medians[name], float(spent.mean())))
        others = [cost for name, cost in medians.items() if not name.startswith("belman")]
        if others:
            words = f"median over the cheapest other, {arms} × {size}"
            claims.append(Claim(words, medians[OURS] / min(others), 1, ""))
        if (arms, size) == (5, 10):
            claims.append(Claim("µs of the default, 5 × 10", medians[DEFAULT], GOAL, "µs"))
    names = ("arms × numbers", "player", "median µs", "average µs")
    columns = {names[i]: [row[i] for row in rows] for i in range(4)}
    print(Table(columns, f"ask and tell in a context, {turns:,} turns"))
    report("costs in a context", claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
