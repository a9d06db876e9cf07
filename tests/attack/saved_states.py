"""States of every kind in the middle of their lives: of all policies, a dispatcher, a study."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from typing import Any

from belman import Agent, Box
from belman.dispatch import Breaker, Dispatcher
from belman.errors import BelmanError
from belman.families import FAMILIES
from belman.policies import POLICIES
from tests.attack.playing_on import play
from tests.attack.sample import Sample, content_of, signed
from tests.attack.saved_studies import studies
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


#: Families that take long where they are not compiled: by quadrature, or of two parts.
SLOW = ("chi-squared", "beta", "money", "log-normal", "positive")


def _signed_dispatcher(content: dict[str, Any]) -> str:
    agents = content.get("agents")
    if isinstance(agents, list):
        content = content | {"agents": list(map(_signed_agent, agents))}
    return signed(content)


def _signed_agent(pair: Any) -> Any:
    """A queue and the text of its agent, or whatever stands in their place."""
    if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], dict):
        return [pair[0], signed(pair[1])]
    return pair


def _dispatcher(text: str) -> Dispatcher:
    return Dispatcher.from_json(text, clock=lambda: 0.0)


def _agents(rng: random.Random, families: Sequence[str]) -> Iterator[tuple[str, Agent]]:
    for policy, kind in POLICIES.items():
        tabled = policy in ("gittins", "gittins-exact")
        if kind.sees_truth or (tabled and os.environ.get("BELMAN_COMPILE") == "never"):
            continue  # a table of indices takes minutes where it is not compiled
        who = kind(**SETTINGS.get(policy, {}))
        for family in families:
            if family in SLOW and policy != "belman":
                continue  # the same loader
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


def _relatives() -> Iterator[Agent]:
    """Agents with contexts, of candidates, of segments and of a box."""
    several = Agent(
        ["a", "b"], features={"a": {"x": 1.0}, "b": {"x": 2.0}}, context=["c", "d"], seed=1
    )
    for turn in range(6):
        context = {"c": "ab"[turn % 2], "d": float(turn)}
        arm = several.ask(context=context)
        if turn % 3:
            several.tell(arm, turn % 2)
    yield several
    candidates = Agent(features=["price", "kind"], model="linear", seed=2)
    for turn in range(4):
        candidates.ask(candidates=[{"price": 1.0 + turn, "kind": "ab"[turn % 2]}, {"price": 2.0}])
        if turn % 2:
            candidates.tell(ticket=candidates.ticket, reward=float(turn))
    yield candidates
    segmented = Agent(["a", "b", 3], segments=("country", "age"), seed=3)
    for turn in range(6):
        context = {"country": "ab"[turn % 2], "age": turn % 3}
        segmented.tell(segmented.ask(context=context), turn % 2, context)
    segmented.ask(2, context={"country": "a", "age": 1})
    yield segmented
    box = Agent(space=Box(x=(-5, 5)), context=["c", "d"], seed=4)
    for turn in range(4):
        context = {"c": "ab"[turn % 2], "d": float(turn)}
        box.tell(box.ask(context=context), float(turn), context)
    box.ask(2, context={"c": "a"})
    yield box


def samples(seed: int, families: Sequence[str] = tuple(FAMILIES)) -> list[Sample]:
    """States of every kind, each in the middle of its life; agents of some families alone."""
    rng = random.Random(seed)
    result = [
        Sample(name, _of_agent(agent), signed, Agent.from_json, _of_agent)
        for name, agent in (
            *_agents(rng, families),
            *((f"{agent._decider.kind}, {agent!r}", agent) for agent in _relatives()),
        )
    ]
    real: dict[str, Any] = {"slots": {"x": 2, "y": "learnt"}, "breaker": Breaker(), "limit": 9}
    for name, more in {"dispatcher": {}, "dispatcher for real servers": real}.items():
        dispatcher = Dispatcher("xyz", queues=("p", "q"), seed=3, clock=lambda: 0.0, **more)
        for queue in ("p", "q", "q"):
            server = dispatcher.assign(queue)
            if queue == "p":
                dispatcher.completed(server, time=0.5)
        plain = _of_dispatcher(dispatcher)
        result.append(Sample(name, plain, _signed_dispatcher, _dispatcher, _of_dispatcher))
    result += studies()
    return result


def _of_agent(agent: Agent) -> dict[str, Any]:
    return content_of(agent.to_json())


def _of_dispatcher(dispatcher: Dispatcher) -> dict[str, Any]:
    content = content_of(dispatcher.to_json())
    return content | {"agents": [[queue, content_of(text)] for queue, text in content["agents"]]}
