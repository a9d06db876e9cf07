"""Agents that are asked, told and changed with whatever comes: an error of ours changes nothing."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from belman import Agent
from belman.deciders import Choice
from belman.deciders.independent.saving import sorted_by_name
from belman.engine.tiers import interpreted
from belman.errors import BelmanError
from belman.families import FAMILIES
from belman.policies import POLICIES
from tests.attack.harness import Attack, Trials
from tests.attack.playing_on import play
from tests.attack.saved_states import SETTINGS, SLOW

LIFE = 60  # operations of one agent
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 10**400, -(10**400), 2**63, 0.5, -0.0, 1e-320, 1e15, 1e17),
    *(1e200, 1.7e308, math.nan, math.inf, -math.inf, 1j, "", "a", "zz", b"a", "1", (), (1, 2), []),
    *(
        [1.0, 1.0],
        [1.0],
        {},
        {"a": 1},
        object(),
        np.float64(0.5),
        np.int64(1),
        np.nan,
        np.array([]),
    ),
    *(np.array([1.0, 2.0]), np.array(1.0), range(3), frozenset(), "\ud800"),
)


def _operations(agent: Agent, luck: random.Random) -> dict[str, Callable[[], object]]:
    """What may be done, with arguments of which some are right."""

    def arm() -> Any:
        return luck.choice(agent.arms) if luck.random() < 0.7 else odd()

    def odd() -> Any:
        return luck.choice(ODD)

    def reward() -> Any:
        return luck.choice((0.0, 1.0, 0.5)) if luck.random() < 0.5 else odd()

    def put(name: str) -> Callable[[], object]:
        return lambda: setattr(agent, name, odd())

    return {
        "ask": lambda: agent.ask() if luck.random() < 0.6 else agent.ask(luck.choice((2, odd()))),
        "ask among": lambda: agent.ask(among=luck.choice(([arm()], [arm(), arm()], odd()))),
        "tell": lambda: agent.tell(arm(), reward()),
        "expect": lambda: agent._decider.expect(Choice(arm())),
        "cancel": lambda: agent.cancel(arm()),
        "add": lambda: agent.add_arm(luck.choice(("d", "e", 7, odd())), luck.choice((None, odd()))),
        "retire": lambda: agent.retire_arm(arm(), forget=luck.random() < 0.5),
        "belief": lambda: agent.belief(arm()),
        "beliefs": lambda: agent.beliefs(luck.choice((0.9, odd()))),
        "explain": agent.explain,
        "recommend": lambda: agent.recommend(luck.choice((1, odd()))),
        "confidence": lambda: agent.confidence(luck.choice((1, odd()))),
        "should stop": lambda: agent.should_stop(luck.choice((0.05, odd()))),
        "provisional": put("provisional"),
        "policy": put("policy"),
        "exposure": put("exposure"),
        "control": put("control"),
        "stop_when": put("stop_when"),
        "learnt": lambda: agent._decider.learnt(arm()),
        "relearn": lambda: agent._decider.relearn(
            arm(), luck.choice((agent._decider.learnt(agent.arms[0]), odd()))
        ),
        "from_json": lambda: Agent.from_json(luck.choice((agent.to_json(), odd()))),
    }


def _agent(luck: random.Random) -> Agent | None:
    family, policy = luck.choice(list(FAMILIES)), luck.choice(list(POLICIES))
    kind = POLICIES[policy]
    slow = family in SLOW and policy != "belman"
    if kind.sees_truth or policy == "gittins" or slow:
        return None
    try:
        who, past = kind(**SETTINGS.get(policy, {})), luck.choice((1.0, 0.9))
        agent = Agent(["a", "b", 3], family, who, discount=past, seed=luck.getrandbits(30))
    except BelmanError:
        return None  # a policy for other families
    play(agent, luck, 3)
    return agent


def run(trials: Trials) -> None:
    """A trial is an operation; an agent lives through some, and is then saved and loaded."""
    with interpreted(), warnings.catch_warnings():  # which compiles no line, and chooses the same
        warnings.simplefilter("error")
        _lives(trials)


def _lives(trials: Trials) -> None:
    agent, left = None, 0
    for _ in trials:
        while agent is None or not left:
            agent, left = _agent(trials.luck), LIFE
        left -= 1
        name, operation = trials.luck.choice(list(_operations(agent, trials.luck).items()))
        saved = agent.to_json()
        who = f"{name}, {agent.policy.name}, {agent.family.name}"
        try:
            operation()
        except BelmanError as error:
            unchanged = agent.to_json() == saved
            trials.expect(unchanged, f"{who}: refused, and changed something: {error}")
        except Exception as error:
            trials.result.append(f"{who}: {error!r}")
            agent = None
            continue
        numbers = np.array([agent.belief(arm) for arm in agent.arms])
        trials.expect(np.isfinite(numbers).all(), f"{who}: {numbers}")
        if not left:
            play(agent, trials.luck, 3)
            trials.expect(_comes_back(agent), f"{who}: not the same when loaded")


def _comes_back(agent: Agent) -> bool:
    """Whether a saved agent is the same when it is loaded."""
    text = agent.to_json()
    try:
        away = [arm for arm, _ in sorted_by_name(agent._decider.retired)]
        return Agent.from_json(text, arms=[*agent.arms, *away]).to_json() == text
    except BelmanError:
        return False


ATTACK = Attack(
    "fuzzed agents",
    "agents of every family and policy, with arms, rewards, numbers and settings of any kind",
    "an answer, or an error of ours that changes nothing; beliefs are finite, and a saved agent is "
    "the same when loaded",
    run,
    short=600,
    long=100_000,
    seconds=1_800.0,
)
