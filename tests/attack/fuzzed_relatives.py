"""Agents with contexts, of segments and of a box, asked and told whatever comes."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

from belman import Agent, Box
from belman.engine.tiers import interpreted
from belman.errors import BelmanError
from tests.attack.fuzzed_agents import ODD
from tests.attack.harness import Attack, Trials

LIFE = 40  # operations of one agent
NAMES = ("a", "b", "d", 7, ("x", 1), "\ud800", [], {})  # that files can hold, or nobody
Operations = dict[str, Callable[[], object]]


def _some(luck: random.Random, *right: Any) -> Any:
    """One of these, or now and then something else."""
    return luck.choice(right) if luck.random() < 0.7 else luck.choice(ODD)


def _contextual(luck: random.Random) -> tuple[Any, Operations]:
    model = luck.choice(("logistic", "linear", "poisson"))
    agent = Agent(["a", "b"], context=["c", "d"], model=model, seed=1)

    def context() -> Any:
        return _some(luck, {"c": _some(luck, "x", "y"), "d": _some(luck, 1, 2.5)}, None)

    return agent, {
        "ask": lambda: agent.ask(context=context()),
        "ask top": lambda: agent.ask(context=context(), top=_some(luck, 1, 2)),
        "ask among": lambda: agent.ask(context=context(), among=_some(luck, ["a"], ["a", "b"])),
        "ask candidates": lambda: agent.ask(context=context(), candidates=_some(luck, [{"c": 1}])),
        "tell": lambda: agent.tell(_some(luck, "a", "b"), _some(luck, 0, 1), context()),
        "tell a ticket": lambda: agent.tell(
            ticket=_some(luck, *agent.open_tickets, 0), reward=_some(luck, 0, 1)
        ),
        "cancel": lambda: agent.cancel(ticket=_some(luck, *agent.open_tickets, 0)),
        "beliefs": lambda: agent.beliefs(_some(luck, 0.9), context=context()),
        "explain": lambda: agent.explain(context=context()),
        "reasons": lambda: agent.reasons(_some(luck, "a", "b"), context=context()),
        "retire": lambda: agent.retire_arm(_some(luck, "a", "b")),
        "add": lambda: agent.add_arm(luck.choice(NAMES), _some(luck, None, None)),
        "report": lambda: agent.report(_some(luck, 0.9)),
        "coefficients": lambda: agent.coefficients(_some(luck, 0.9)),
    }


def _segmented(luck: random.Random) -> tuple[Any, Operations]:
    family = luck.choice(("bernoulli", "gaussian", "poisson"))
    agent = Agent(["a", "b", 3], family, segments=("c", "d"), seed=1)

    def context() -> Any:
        return _some(luck, {"c": _some(luck, "x", "y"), "d": _some(luck, 1, 2)}, {})

    return agent, {
        "ask": lambda: agent.ask(context=context()),
        "ask a batch": lambda: agent.ask(_some(luck, 1, 3), context=context()),
        "ask top": lambda: agent.ask(context=context(), top=_some(luck, 1, 2)),
        "ask among": lambda: agent.ask(context=context(), among=_some(luck, ["a"], ["a", 3])),
        "tell": lambda: agent.tell(_some(luck, "a", "b", 3), _some(luck, 0, 1), context()),
        "tell a ticket": lambda: agent.tell(
            ticket=_some(luck, *agent.open_tickets, 0), reward=_some(luck, 0, 1)
        ),
        "cancel": lambda: agent.cancel(_some(luck, "a", "b"), _some(luck, 1, 2)),
        "retire": lambda: agent.retire_arm(_some(luck, "a", "b", 3)),
        "add": lambda: agent.add_arm(luck.choice(NAMES), _some(luck, None, None)),
        "report": lambda: agent.report(context=_some(luck, None, context())),
        "explain": lambda: agent.explain(context=context()),
        "borrowed": lambda: agent.borrowed(context()),
        "strengths": agent.strengths,
        "beliefs": lambda: agent.beliefs(_some(luck, 0.9), context=context()),
        "weights": lambda: agent.weights(
            _some(luck, 10), context=context(), floor=_some(luck, 0.0, 0.1)
        ),
    }


def _box(luck: random.Random) -> tuple[Any, Operations]:
    names = luck.choice((None, ["c", "d"]))
    space = Box(x=(0, 1), y=(-2, 2))
    agent = Agent(space=space, context=names, minimise=luck.random() < 0.5, seed=1)

    def point() -> Any:
        return _some(luck, {"x": _some(luck, 0.5, 1), "y": _some(luck, 0, -2.0)}, {"x": 0.5})

    def context() -> Any:
        if names is None:
            return _some(luck, None)
        return _some(luck, {"c": _some(luck, "x", "y"), "d": _some(luck, 1, 2.5)}, None)

    return agent, {
        "ask": lambda: agent.ask(context=context()),
        "ask a batch": lambda: agent.ask(_some(luck, 1, 3), context=context()),
        "tell": lambda: agent.tell(point(), _some(luck, 0, 1.5), context()),
        "tell a ticket": lambda: agent.tell(
            ticket=_some(luck, *agent.open_tickets, 0), reward=_some(luck, 0, 1)
        ),
        "cancel": lambda: agent.cancel(point(), _some(luck, 1, 2)),
        "explain": lambda: agent.explain(context=context()),
        "beliefs": lambda: agent.beliefs(
            _some(luck, 0.9), points=_some(luck, [point()], []), context=context()
        ),
        "best": lambda: agent.best(_some(luck, 0.9), context=context()),
    }


def run(trials: Trials) -> None:
    """A trial is an operation; an agent lives through some, and is then saved and loaded."""
    with interpreted(), warnings.catch_warnings():
        warnings.simplefilter("error")
        agent: Any = None
        for number in trials:
            if number % LIFE == 0:
                agent, operations = trials.luck.choice((_contextual, _segmented, _box))(trials.luck)
            _try_one(trials, agent, operations)
            if number % LIFE == LIFE - 1:
                text = agent.to_json()
                same = Agent.from_json(text).to_json() == text
                trials.expect(same, f"{agent!r}: not the same when loaded")


def _try_one(trials: Trials, agent: Any, operations: Operations) -> None:
    name, operation = trials.luck.choice(list(operations.items()))
    saved, who = agent.to_json(), f"{name}, {agent._decider.kind}"
    try:
        operation()
    except BelmanError as error:
        trials.expect(agent.to_json() == saved, f"{who}: refused, and changed something: {error}")
    except Exception as error:
        trials.result.append(f"{who}: {error!r}")


ATTACK = Attack(
    "fuzzed relatives",
    "agents with contexts, of segments and of a box, with contexts, points and rewards of any kind",
    "an answer, or an error of ours that changes nothing; a saved agent is the same when loaded",
    run,
    short=240,
    long=50_000,
    seconds=1_800.0,
)
