"""Contexts as segments: beliefs of every arm by segment, which borrow from one another."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from belman import chance
from belman.agent import Agent
from belman.agent.contextual.mind import Asking
from belman.errors import SettingError
from belman.policies import Policy
from belman.segments.segment_beliefs import Segment, SegmentBeliefs
from belman.studies.contexts.context import Contexts
from belman.studies.rules.written import check_texts

#: Texts that stand in a label as they are: they begin with a letter, and end no other part of it.
_PLAIN = re.compile(r"[^\W\d_][^,=\"]*(?<!\s)")
#: Segments that the page lists, the largest first.
MOST_LISTED = 50
#: Tickets of an arm that are out in a segment beyond which more change no decision.
MOST_WAITING = 100


class SegmentContexts(Contexts):
    """What every segment believes, and one agent that decides by it for whichever is asked."""

    def __init__(self, names: Sequence[str], agent: Agent) -> None:
        self._agent = agent
        first = {arm: agent.learnt(arm) for arm in agent.arms}
        self.beliefs = SegmentBeliefs(names, agent.family, first)
        self._out: dict[Segment, Counter[int]] = {}  # tickets of each arm in every segment

    def check(self, context: Any, candidates: Any = None) -> Asking:
        if candidates is not None:
            remedy = "for these give open_study(…, features=[names])"
            raise SettingError(f"a study by segments has arms, and no candidates: {remedy}")
        found = self.beliefs.named(self.beliefs.key({} if context is None else context))
        check_texts(found)
        return Asking(found)

    def key(self, asking: Asking) -> Segment:
        """The segment that a context is of."""
        return self.beliefs.key(asking.context)

    def named(self, name: object) -> Asking | None:
        """The segment of a label, if it was seen."""
        for key in self.beliefs.own:
            if label(self.beliefs.named(key)) == name:
                return Asking(self.beliefs.named(key))
        return None

    def agent_in(self, asking: Asking) -> Agent:
        """The agent as its segment believes now, with the tickets that are out there."""
        agent, key = self._agent, self.key(asking)
        for arm, waiting in agent.outstanding.items():
            agent.cancel(arm, waiting)
        out = self._out.get(key, Counter())
        believed = self.beliefs.believed(key)
        for place, arm in enumerate(agent.arms):
            agent.relearn(arm, believed[arm])
            agent.expect(arm, min(out[place], MOST_WAITING))
        agent.lay_out()
        return agent

    def expect(self, asking: Asking, place: int) -> None:
        super().expect(asking, place)
        self.wait(asking, place, 1)

    def settle(self, asking: Asking, place: int, reward: float | None) -> None:
        self.wait(asking, place, -1)
        super().settle(asking, place, reward)

    def wait(self, asking: Asking, place: int, change: int) -> None:
        """One ticket of a segment more that is out, or less."""
        self._out.setdefault(self.key(asking), Counter())[place] += change

    def observe(self, rows: Iterable[Sequence[Any]]) -> None:
        """Outcomes in bulk of units that were assigned by the weights of their segments."""
        for context, place, n, total, squares in rows:
            key, arm = self.beliefs.key(context), self._agent.arms[place]
            self.beliefs.learn_many(key, arm, n, total, squares)

    def choose(
        self, asking: Asking, count: int, among: Sequence[int], mind: chance.Words
    ) -> list[tuple[int, float]]:
        agent = self.agent_in(asking)
        agent.mind[:] = mind
        arms = [agent.arms[place] for place in among]
        agent.ask(count, among=None if len(arms) == len(agent.arms) else arms)
        places = {arm: place for place, arm in enumerate(agent.arms)}
        return [(places[choice.arm], choice.probability) for choice in agent.last]

    def rank(self, asking: Asking, among: Sequence[int]) -> list[int]:
        agent = self.agent_in(asking)
        places = {arm: place for place, arm in enumerate(agent.arms)}
        return [places[arm] for arm in agent.explain()["arm"] if places[arm] in among]

    def meet(self, asking: Asking) -> None:
        self.beliefs.see(self.key(asking))

    def check_room(self, asking: Asking, tickets: int) -> None:
        self.beliefs.check_room(self.key(asking))

    def check_reward(self, asking: Asking, place: int, reward: float) -> None:
        value, arm = self._agent.scale.inward(reward), self._agent.arms[place]
        self.beliefs.check_reward(self.key(asking), arm, value)

    def learn(self, asking: Asking, place: int, reward: float) -> None:
        value = self._agent.scale.inward(reward)
        self.beliefs.learn(self.key(asking), self._agent.arms[place], value)

    def expected(self, asking: Asking, place: int) -> float:
        agent = self._agent
        learnt = self.beliefs.believed(self.key(asking))[agent.arms[place]]
        return agent.scale.outward(agent.family.expected_reward(learnt.belief))

    @property
    def policy(self) -> Policy:
        return self._agent.policy

    def set_policy(self, policy: Policy) -> None:
        """Let another policy choose."""
        self._agent.policy = policy

    @property
    def categories(self) -> list[str]:
        return list(self.beliefs.names)

    def status(self) -> dict[str, Any]:
        return {"segments": list(self.beliefs.names), "seen": len(self.beliefs.own)}

    def tables(self) -> dict[str, Any]:
        sizes = {
            key: sum(one.tells for one in own.values()) for key, own in self.beliefs.own.items()
        }
        shown = sorted(sizes, key=lambda key: -sizes[key])[:MOST_LISTED]
        rows: dict[str, list[Any]] = {"segment": [], "arm": [], "plays": [], "expected": []}
        for name in ("low", "high", "best", "borrowed"):
            rows[name] = []
        for key in shown:
            asking = Asking(self.beliefs.named(key))
            found = self.agent_in(asking).beliefs()
            quantity = next(name for name in found.columns if name.startswith("expected"))
            best = max(range(len(found)), key=found["P(best)"].__getitem__)
            arm = found["arm"][best]
            cells = (label(asking.context), str(arm), sizes[key], found[quantity][best])
            rest = (found["low"][best], found["high"][best], found["P(best)"][best])
            for cell, column in zip(
                (*cells, *rest, self.beliefs.shares(key)[arm]), rows.values(), strict=True
            ):
                column.append(cell)
        return {"segments": rows}

    def copied(self) -> SegmentContexts:
        other = SegmentContexts(self.beliefs.names, deepcopy(self._agent))
        other.beliefs = deepcopy(self.beliefs)
        other._out = deepcopy(self._out)
        return other

    def learnt(self) -> dict[str, Any]:
        return self.beliefs.plain()

    def take(self, content: Mapping[str, Any]) -> None:
        self.beliefs.take(content, "the study")


def label(context: Mapping[str, Any]) -> str:
    """A segment as a person reads it.

    >>> label({"country": "fr", "device": None})
    'country=fr, device=none'
    >>> label({"country": "1.0"}) == label({"country": 1.0})
    False
    """
    return ", ".join(f"{name}={_word(value)}" for name, value in context.items())


def _word(value: Any) -> str:
    """A value, in quotes where it is a text that would read as something else: no two segments
    have the same label.
    """
    if not isinstance(value, str):
        return "none" if value is None else str(value)
    is_plain = _PLAIN.fullmatch(value) and value not in ("none", "True", "False")
    return value if is_plain else json.dumps(value, ensure_ascii=False)
