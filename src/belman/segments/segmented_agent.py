"""An agent that learns per segment: who is asked matters, and a small segment borrows.

Every segment has an agent of its own, which decides by what its segment learnt and a share of what
the others did (`pooling.py`). The share is learnt: where segments are alike all rewards count in
each, where they differ each speaks for itself, and a small segment borrows more than a large one.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from belman import chance
from belman.agent import Agent, doors, reporting, state_file
from belman.errors import StateError
from belman.families import Family
from belman.measures.report import Report
from belman.measures.stop_rules import StopRule
from belman.policies import Policy
from belman.segments.pooling import STRENGTHS
from belman.segments.segment_beliefs import Segment, SegmentBeliefs, check_names
from belman.table import Table
from belman.version import __version__

_FORMAT = "belman segmented agent"
_BORROWS = "rewards of other segments count here too, and those may have another mean"


class SegmentedAgent:
    """Ask and tell with a context that names its segment; unseen ones begin with what is borrowed.

    >>> agent = SegmentedAgent(["blue", "green"], segments=("country",), seed=7)
    >>> for country in ("de", "fr", "it") * 40:
    ...     arm = agent.ask({"country": country})
    ...     agent.tell(arm, 1 if arm == "green" else 0, {"country": country})
    >>> agent.ask({"country": "es"})
    'green'
    """

    def __init__(
        self,
        arms: Iterable[Hashable],
        family: str | Family | None = None,
        policy: Policy | None = None,
        *,
        segments: Sequence[str],
        prior: ArrayLike | None = None,
        priors: Mapping[Hashable, ArrayLike] | None = None,
        range: tuple[float, float] | None = None,
        clip: bool = False,
        minimise: bool = False,
        control: Hashable | None = None,
        stop_when: StopRule | None = None,
        seed: int | None = None,
    ) -> None:
        names = check_names(segments)
        self._blank = Agent(
            arms,
            family,
            policy,
            prior=prior,
            priors=priors,
            range=range,
            clip=clip,
            minimise=minimise,
            control=control,
            stop_when=stop_when,
            seed=seed,
        )
        self._begin(names)

    def _begin(self, names: Sequence[str]) -> None:
        first = {arm: self._blank.learnt(arm) for arm in self._blank.arms}
        self._beliefs = SegmentBeliefs(names, self._blank.family, first)
        self._agents: dict[Segment, Agent] = {}

    def __repr__(self) -> str:
        told = sum(one.tells for own in self._beliefs.own.values() for one in own.values())
        return (
            f"SegmentedAgent({len(self.arms)} arms, segments={self._beliefs.names!r}, "
            f"{len(self._beliefs.own)} seen, {told} reward{'s' * (told != 1)} told)"
        )

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The names of the arms, in order."""
        return self._blank.arms

    @property
    def family(self) -> Family:
        """What a reward is."""
        return self._blank.family

    @property
    def segments(self) -> list[dict[str, Hashable]]:
        """The segments that were seen, in the order in which they were."""
        return [self._beliefs.named(key) for key in self._beliefs.own]

    def ask(
        self,
        context: Mapping[str, Hashable],
        n: int | None = None,
    ) -> Any:
        """The arm to play for someone of this segment, or a list of `n` for a batch."""
        key, count = self._beliefs.key(context), None if n is None else doors.check_count(n)
        return self._refreshed(key, seen=True).ask(count)

    def tell(self, arm: Hashable, reward: float, context: Mapping[str, Hashable]) -> None:
        """Learn what an arm brought in a segment."""
        key = self._beliefs.key(context)
        fresh = key not in self._agents
        agent = self._agent(key)
        try:
            agent.tell(arm, reward)  # refuses what cannot be, before anything has changed
        except Exception:
            if fresh:
                del self._agents[key], self._beliefs.own[key]
            raise
        self._beliefs.learn(key, arm, self._blank.scale.inward(reward))

    def strengths(self) -> Table:
        """How many rewards of other segments count at most, and how far each is believed.

        >>> agent = SegmentedAgent(["blue", "green"], segments=("country",))
        >>> agent.strengths()["weight"][0]
        0.1
        """
        columns = {"strength": list(STRENGTHS), "weight": self._beliefs.pools.weights.tolist()}
        return Table(columns, "rewards of other segments that count in one")

    def borrowed(self, context: Mapping[str, Hashable]) -> dict[Hashable, float]:
        """Of each arm, the share of other segments' rewards that counts in this one."""
        return self._beliefs.shares(self._beliefs.key(context))

    def beliefs(self, context: Mapping[str, Hashable], level: float = 0.95) -> Table:
        """The table of beliefs in a segment; `plays` counts what is borrowed too."""
        return self._refreshed(self._beliefs.key(context)).beliefs(level)

    def explain(self, context: Mapping[str, Hashable]) -> Table:
        """Why this arm in this segment: what the policy sees of each, the largest index first."""
        return self._refreshed(self._beliefs.key(context)).explain()

    def report(self, context: Mapping[str, Hashable], level: float = 0.95) -> Report:
        """The verdict in a segment, from its rewards and what it borrows."""
        agent, wide = self._refreshed(self._beliefs.key(context)), doors.check_level(level)
        why = _BORROWS if any(self.borrowed(context).values()) else ""
        return reporting.report_of(agent, agent.control, wide, agent.stop_when, why)

    def weights(
        self,
        n: int,
        context: Mapping[str, Hashable],
        *,
        floor: float | Mapping[Hashable, float] = 0.0,
    ) -> dict[Hashable, float]:
        """The weights of the arms for the next `n` decisions in a segment."""
        return self._refreshed(self._beliefs.key(context)).weights(n, floor=floor)

    def _agent(self, key: Segment) -> Agent:
        """The agent of a segment, made when it is first seen."""
        if key not in self._agents:
            self._beliefs.see(key)
            agent = Agent.from_json(self._blank.to_json())
            place = len(self._agents) + 1
            for word in range(4):
                agent.mind[word] = chance.generator(int(self._blank.mind[word]), place)[word]
            self._agents[key] = agent
        return self._agents[key]

    def _refreshed(self, key: Segment, *, seen: bool = False) -> Agent:
        """The agent of a segment with all that it may believe now; looking leaves no trace."""
        is_new = key not in self._agents
        agent = self._agent(key)
        if not seen:
            agent = copy.deepcopy(agent)
            if is_new:
                del self._agents[key], self._beliefs.own[key]
        for arm, learnt in self._beliefs.believed(key).items():
            agent.relearn(arm, learnt)
        return agent

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next turn needs, atomically."""
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """The whole state as text."""
        content = {
            "belman": __version__,
            "names": list(self._beliefs.names),
            "blank": json.loads(self._blank.to_json()),
            "beliefs": self._beliefs.plain(),
            "agents": [json.loads(self._agents[key].to_json()) for key in self._beliefs.own],
        }
        return state_file.write(content, _FORMAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SegmentedAgent:
        """The agent of a state file: it goes on where it was, to the last bit."""
        return cls.from_json(state_file.fetch(path), source=os.fspath(path))

    @classmethod
    def from_json(cls, text: str, *, source: str = "the state") -> SegmentedAgent:
        """The agent of a text that `to_json` gave."""
        content = state_file.read(text, source, _FORMAT)
        return state_file.trusted(lambda: cls._rebuilt(content, source), source, _FORMAT)

    @classmethod
    def _rebuilt(cls, content: dict[str, Any], source: str) -> SegmentedAgent:
        agent = cls.__new__(cls)
        agent._blank = Agent.from_json(json.dumps(content["blank"]))
        agent._begin(check_names(content["names"]))
        agent._beliefs.take(content["beliefs"], source)
        for key, one in zip(agent._beliefs.own, content["agents"], strict=True):
            agent._agents[key] = agent._alike(Agent.from_json(json.dumps(one)))
        state_file.check_kept(content, agent.to_json(), ("blank", "agents"))
        return agent

    def _alike(self, agent: Agent) -> Agent:
        """The agent of a segment, which plays as that of any other does."""
        mine, other = (
            [*map(state_file.encode_arm, one.arms), one.scale, one.policy, one.control]
            for one in (self._blank, agent)
        )
        if mine != other:
            raise StateError("the agent of a segment plays otherwise than the others")
        return agent
