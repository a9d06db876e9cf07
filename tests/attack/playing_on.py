"""What was loaded is used: agents ask and tell, studies go on, weights assign."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from functools import singledispatch
from typing import Any

from belman import Agent
from belman.assignment import Weights, assign
from belman.deciders import Asking
from belman.dispatch import Dispatcher
from belman.errors import BelmanError, RewardError
from belman.studies.deciding import decide
from belman.studies.folding import close, fold
from belman.studies.log.event_log import Event, Kind
from belman.studies.state import State
from belman.studies.views.status import status


@singledispatch
def play_on(result: Any, rng: random.Random, turns: int) -> None:
    """Use it for some turns; what its beliefs leave no room for may be refused."""
    raise TypeError(f"{result!r} is nothing to play")


@play_on.register
def _(agent: Agent, rng: random.Random, turns: int) -> None:
    kinds = {"featured": _play_contexts, "segmented": _play_segments, "box": _play_box}
    if agent._decider.kind in kinds:
        kinds[agent._decider.kind](agent, rng, turns)
        return
    play(agent, rng, turns)
    agent.beliefs()


def play(agent: Agent, rng: random.Random, turns: int) -> None:
    """Ask, and mostly tell a reward that its family can have."""
    numbers = {
        "bernoulli": (0.0, 1.0), "poisson": (0.0, 3.0), "geometric": (1.0, 4.0), "beta": (0.2, 0.7),
        "bounded-exponential": (0.2, 0.7),
    }.get(agent._decider.scale.base.name, (0.5, 2.0))  # fmt: skip
    for _ in range(turns):
        arm = agent.ask()
        if rng.random() < 0.9:
            reward = rng.choice(numbers)
            if agent._decider.scale.range is not None:
                low, high = agent._decider.scale.range
                reward = low + (high - low) * reward
            try:
                agent.tell(arm, reward)
            except (
                BelmanError
            ):  # a distribution may be so narrow, or a belief so far, that none is left
                agent.cancel(arm)


def _play_contexts(agent: Agent, rng: random.Random, turns: int) -> None:
    for _ in range(turns):
        context = {
            name: "ab"[rng.randrange(2)] if kind == "category" else rng.random()
            for name, kind in agent._decider.knowledge.context.kinds.items()
        }
        rows = [
            {
                name: "a" if kind == "category" else rng.random()
                for name, kind in agent._decider.knowledge.features.kinds.items()
            }
            for _ in range(2)
        ]
        arm = agent.ask(context=context, candidates=None if agent.arms else rows)
        agent.tell(arm, rng.randrange(2), ticket=agent.ticket)
    if agent.arms:
        agent.beliefs()
    agent.coefficients()


def _play_segments(agent: Agent, rng: random.Random, turns: int) -> None:
    for _ in range(turns):
        context = dict.fromkeys(agent._decider.segments.names, rng.choice("ab"))
        with suppress(RewardError):
            agent.tell(agent.ask(context=context), rng.randrange(2), context)
    agent.beliefs(context=context)


def _play_box(agent: Agent, rng: random.Random, turns: int) -> None:
    for _ in range(min(turns, 3)):
        context = dict.fromkeys(agent._decider.context_names)
        agent.tell(agent.ask(context=context or None), rng.random(), context or None)
    agent.best()


@play_on.register
def _(weights: Weights, rng: random.Random, turns: int) -> None:
    for _ in range(turns):
        assign(weights, str(rng.random()))


@play_on.register
def _(dispatcher: Dispatcher, rng: random.Random, turns: int) -> None:
    roster = dispatcher._roster
    for queue in roster.agents:
        for _ in range(turns if roster.free(draw=True) and roster.limit in (None, 9) else 0):
            server = dispatcher.assign(queue)
            dispatcher.completed(server, time=0.5)


@play_on.register
def _(state: State, rng: random.Random, turns: int) -> None:
    """Asks and tells, some before their windows close and some never."""
    now = state.book.time
    for _ in range(turns):
        now += rng.choice((0.0, 1.0, 60.0))
        close(state, now)
        state.count_early(now)
        (choice,), own, _ = decide(state, 1, Asking(), now)
        arm, draw, chance = state.positions[choice.arm], int(choice.draw), choice.probability
        body = json.dumps(own) if own else None
        asked = Event(state.number + 1, int(Kind.ASKED), now, arm, draw, chance, body=body)
        fold(state, asked, decided=True)
        if rng.random() < 0.7:
            told = {"arm": arm, "ticket": asked.number, "reward": float(rng.random() < 0.5)}
            fold(state, Event(state.number + 1, int(Kind.TOLD), now + 0.5, **told))
            now += 0.5
    status(state)
