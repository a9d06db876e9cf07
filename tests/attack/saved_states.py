"""States of every kind in the middle of their lives: of all policies, a dispatcher, a study."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from belman import Agent
from belman.agent import state_file
from belman.dispatch import Breaker, Dispatcher
from belman.errors import BelmanError
from belman.families import FAMILIES
from belman.policies import POLICIES
from belman.studies.event_log import Event, Kind
from belman.studies.metrics import body as metrics_body
from belman.studies.settings import settings
from belman.studies.state import State, _digest
from tests.members import KNOWN_HORIZON

SETTINGS: dict[str, dict[str, Any]] = {
    "explore-then-commit": {"explore": 2},
    "successive-rejects": {"budget": 40},
    "successive-accepts-rejects": {"budget": 40, "m": 2},
    "sequential-halving": {"budget": 40, "m": 2},
    **{name: {"horizon": 100} for name in KNOWN_HORIZON},
    "ids": {"draws": 20},
    "ts-ucb": {"draws": 5},
}


class Sample(NamedTuple):
    """A saved state: its content without checksums, how that is signed, loaded and taken again."""

    name: str
    content: dict[str, Any]
    signed: Callable[[dict[str, Any]], str]
    load: Callable[[str], Any]
    content_of: Callable[[Any], dict[str, Any]]


def _signed(content: dict[str, Any]) -> str:
    body = {name: value for name, value in content.items() if name != "checksum"}
    return json.dumps(body | {"checksum": state_file._checksum(body)}, ensure_ascii=False)


def _signed_dispatcher(content: dict[str, Any]) -> str:
    agents = content.get("agents")
    if isinstance(agents, list):
        texts = [_signed(agent) if isinstance(agent, dict) else agent for agent in agents]
        content = content | {"agents": texts}
    return _signed(content)


def _signed_snapshot(content: dict[str, Any]) -> str:
    if isinstance(content.get("agent"), dict):
        content = content | {"agent": json.loads(_signed(content["agent"]))}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"{_digest(text)}\n{text}"


def _dispatcher(text: str) -> Dispatcher:
    return Dispatcher.from_json(text, clock=lambda: 0.0)


def _agents(rng: random.Random, families: Sequence[str]) -> Iterator[tuple[str, Agent]]:
    for policy, kind in POLICIES.items():
        if kind.sees_truth or (policy == "gittins" and os.environ.get("BELMAN_COMPILE") == "never"):
            continue  # a table of indices takes minutes where it is not compiled
        who = kind(**SETTINGS.get(policy, {}))
        for family in families:
            if family in ("chi-squared", "beta") and policy != "belman":
                continue  # by quadrature: slow, and the same loader
            try:
                agent = Agent(
                    ["a", "b", "c"],
                    family,
                    who,
                    discount=rng.choice((1.0, 0.9)),
                    seed=rng.getrandbits(32),
                )
            except BelmanError:
                continue  # a policy for other families
            play(agent, rng, rng.randrange(2, 12))
            yield f"{policy}, {family}", agent


def samples(seed: int, families: Sequence[str] = tuple(FAMILIES)) -> list[Sample]:
    """States of every kind, each in the middle of its life; agents of some families alone."""
    rng = random.Random(seed)
    found = [
        Sample(name, _of_agent(agent), _signed, Agent.from_json, _of_agent)
        for name, agent in _agents(rng, families)
    ]
    real: dict[str, Any] = {"slots": {"x": 2, "y": "learnt"}, "breaker": Breaker(), "limit": 9}
    for name, more in {"dispatcher": {}, "dispatcher for real servers": real}.items():
        dispatcher = Dispatcher("xyz", queues=("p", "q"), seed=3, clock=lambda: 0.0, **more)
        for queue in ("p", "q", "q"):
            server = dispatcher.assign(queue)
            if queue == "p":
                dispatcher.completed(server, time=0.5)
        plain = _of_dispatcher(dispatcher)
        found.append(Sample(name, plain, _signed_dispatcher, _dispatcher, _of_dispatcher))
    snapshots: dict[str, dict[str, Any]] = {
        "snapshot": {},
        "snapshot with a window": {"window": 100.0},
        "snapshot in a world that changes": {"drift": "auto"},
    }
    for name, chosen in snapshots.items():
        state = State(settings(["a", "b", "c"], seed=5, **chosen))
        body = metrics_body({"cost": 2.5}) if "window" in chosen else None
        for number, arm in enumerate((0, 1, 2, 2), start=1):
            state.fold(Event(number, int(Kind.ASKED), 1.0, arm=arm))
        state.fold(Event(5, int(Kind.TOLD), 2.0, arm=0, ticket=1, reward=1.0, body=body))
        state.fold(Event(6, int(Kind.ARM_RETIRED), 3.0, arm=2))
        found.append(
            Sample(name, _of_snapshot(state), _signed_snapshot, State.from_text, _of_snapshot)
        )
    return found


def _content(text: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(text)
    content.pop("checksum")
    return content


def _of_agent(agent: Agent) -> dict[str, Any]:
    return _content(agent.to_json())


def _of_dispatcher(dispatcher: Dispatcher) -> dict[str, Any]:
    content = _content(dispatcher.to_json())
    return content | {"agents": [_content(agent) for agent in content["agents"]]}


def _of_snapshot(state: State) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(state.to_text().partition("\n")[2])
    del content["agent"]["checksum"]
    return content


def play(agent: Agent, rng: random.Random, turns: int) -> None:
    numbers = {
        "bernoulli": (0.0, 1.0), "poisson": (0.0, 3.0), "geometric": (1.0, 4.0), "beta": (0.2, 0.7),
        "bounded-exponential": (0.2, 0.7),
    }.get(agent.scale.base.name, (0.5, 2.0))  # fmt: skip
    for _ in range(turns):
        arm = agent.ask()
        if rng.random() < 0.9:
            reward = rng.choice(numbers)
            if agent.scale.range is not None:
                low, high = agent.scale.range
                reward = low + (high - low) * reward
            try:
                agent.tell(arm, reward)
            except BelmanError:  # a law may be so narrow, or a belief so far, that none is left
                agent.cancel(arm)
