"""An agent that learns per segment: who is asked matters, and a small segment borrows.

Every segment has an agent of its own, which decides by what its segment learnt and a share of what
the others did (`pooling.py`). The share is learnt: where segments are alike all rewards count in
each, where they differ each speaks for itself, and a small segment borrows more than a large one.
"""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from belman import chance
from belman.agent import Agent, doors, state_file
from belman.agent.learnt import Learnt
from belman.errors import SettingError, StateError, listing, nearest
from belman.families import Family
from belman.measures.report import Report
from belman.policies import Policy
from belman.segments.pooling import STRENGTHS, Pooling
from belman.table import Table
from belman.version import __version__

Segment = tuple[Hashable, ...]
MOST_SEGMENTS = 100_000
_FORMAT = "belman segmented agent"


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
        segments: Sequence[str],
        family: str | Family | None = None,
        policy: Policy | None = None,
        *,
        range: tuple[float, float] | None = None,
        minimise: bool = False,
        control: Hashable | None = None,
        seed: int | None = None,
    ) -> None:
        self._names = _check_segments(segments)
        self._blank = Agent(
            arms, family, policy, range=range, minimise=minimise, control=control, seed=seed
        )
        self._begin()

    def _begin(self) -> None:
        self._pooling = Pooling(self._blank.family)
        self._all = {arm: self._blank.learnt(arm) for arm in self._blank.arms}
        self._own: dict[Segment, dict[Hashable, Learnt]] = {}
        self._agents: dict[Segment, Agent] = {}

    def __repr__(self) -> str:
        return (
            f"SegmentedAgent({len(self.arms)} arms, segments={self._names!r}, "
            f"{len(self._own)} seen, {sum(one.tells for one in self._all.values())} rewards told)"
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
        return [dict(zip(self._names, key, strict=True)) for key in self._own]

    def ask(self, context: Mapping[str, Hashable]) -> Any:
        """The arm to play for someone of this segment."""
        return self._refreshed(self._key(context), seen=True).ask()

    def tell(self, arm: Hashable, reward: float, context: Mapping[str, Hashable]) -> None:
        """Learn what an arm brought in a segment."""
        key = self._key(context)
        fresh = key not in self._agents
        agent = self._agent(key)
        try:
            agent.tell(arm, reward)  # refuses what cannot be, before anything has changed
        except Exception:
            if fresh:
                del self._agents[key], self._own[key]
            raise
        value, own, everywhere = self._blank.scale.inward(reward), self._own[key], self._all
        others = everywhere[arm].plays - own[arm].plays
        self._pooling.learn(
            np.array(own[arm].belief),
            np.array(everywhere[arm].belief),
            others,
            value,
            _variance(everywhere[arm]),
        )
        own[arm] = own[arm].told(self.family, value)
        everywhere[arm] = everywhere[arm].told(self.family, value)

    def strengths(self) -> Table:
        """How many rewards of other segments count at most, and how far each is believed.

        >>> agent = SegmentedAgent(["blue", "green"], segments=("country",))
        >>> agent.strengths()["weight"][0]
        0.1
        """
        columns = {"strength": list(STRENGTHS), "weight": self._pooling.weights.tolist()}
        return Table(columns, "rewards of other segments that count in one")

    def borrowed(self, context: Mapping[str, Hashable]) -> dict[Hashable, float]:
        """Of each arm, the share of other segments' rewards that counts in this one."""
        own = self._own.get(self._key(context), {})
        return {arm: self._share(arm, own.get(arm)) for arm in self.arms}

    def beliefs(self, context: Mapping[str, Hashable], level: float = 0.95) -> Table:
        """The table of beliefs in a segment; `plays` counts what is borrowed too."""
        return self._refreshed(self._key(context)).beliefs(level)

    def report(self, context: Mapping[str, Hashable], level: float = 0.95) -> Report:
        """The verdict in a segment."""
        return self._refreshed(self._key(context)).report(level)

    def weights(
        self,
        n: int,
        context: Mapping[str, Hashable],
        *,
        floor: float | Mapping[Hashable, float] = 0.0,
    ) -> dict[Hashable, float]:
        """The weights of the arms for the next `n` decisions in a segment."""
        return self._refreshed(self._key(context)).weights(n, floor=floor)

    def _key(self, context: Mapping[str, Hashable]) -> Segment:
        """The values that name a segment; None where the context does not say."""
        if not isinstance(context, Mapping):
            example = f"{{{self._names[0]!r}: …}}"
            raise SettingError(f"context={context!r} names no segment: give {example}")
        for name in context:
            if name not in self._names:
                known = f"segments are by {listing(self._names)}{nearest(name, self._names)}"
                raise SettingError(f"unknown name {name!r} in a context: {known}")
        return tuple(_check_value(name, context.get(name)) for name in self._names)

    def _agent(self, key: Segment) -> Agent:
        """The agent of a segment, made when it is first seen."""
        if key not in self._agents:
            if len(self._agents) >= MOST_SEGMENTS:
                raise SettingError(f"{key!r} is one segment too many: at most {MOST_SEGMENTS:,}")
            agent = Agent.from_json(self._blank.to_json())
            place = len(self._agents) + 1
            for word in range(4):
                agent.mind[word] = chance.generator(int(self._blank.mind[word]), place)[word]
            self._agents[key] = agent
            self._own[key] = {arm: self._blank.learnt(arm) for arm in self.arms}
        return self._agents[key]

    def _refreshed(self, key: Segment, *, seen: bool = False) -> Agent:
        """The agent of a segment with all that it may believe now; looking leaves no trace."""
        is_new = key not in self._agents
        agent, own = self._agent(key), self._own[key]
        if not seen:
            agent = copy.deepcopy(agent)
            if is_new:
                del self._agents[key], self._own[key]
        for arm in self.arms:
            agent.relearn(arm, self._believed(arm, own[arm]))
        return agent

    def _share(self, arm: Hashable, own: Learnt | None) -> float:
        others = self._all[arm].plays - (0.0 if own is None else own.plays)
        return self._pooling.share(others) if others > 0.0 else 0.0

    def _believed(self, arm: Hashable, own: Learnt) -> Learnt:
        """What was learnt of an arm in a segment, and the share that it borrows."""
        everywhere, share = self._all[arm], self._share(arm, own)

        def between(mine: float, theirs: float) -> float:
            return mine + share * (theirs - mine)

        plays = between(own.plays, everywhere.plays)
        belief = self._pooling.believed(np.array(own.belief), np.array(everywhere.belief), share)
        return own._replace(
            belief=tuple(map(float, belief)),
            plays=plays,
            sum=between(own.sum, everywhere.sum),
            squares=between(own.squares, everywhere.squares),
            tells=max(own.tells, round(plays)),
        )

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next turn needs, atomically."""
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """The whole state as text."""
        content = {
            "belman": __version__,
            "names": list(self._names),
            "blank": json.loads(self._blank.to_json()),
            "evidence": self._pooling.evidence,
            "all": [list(self._all[arm]) for arm in self.arms],
            "segments": [
                {
                    "values": [state_file.encode_arm(value) for value in key],
                    "agent": json.loads(self._agents[key].to_json()),
                    "own": [list(own[arm]) for arm in self.arms],
                }
                for key, own in self._own.items()
            ],
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
        agent._names = _check_segments(content["names"])
        agent._blank = Agent.from_json(json.dumps(content["blank"]))
        agent._begin()
        evidence = state_file.floats(content["evidence"])
        if evidence.shape != (len(STRENGTHS),) or not np.isfinite(evidence).all():
            raise StateError(f"the weights of {len(STRENGTHS)} strengths are not there")
        agent._pooling.evidence[:] = evidence
        agent._all = agent._learnt(content["all"])
        segments = content["segments"]
        if not isinstance(segments, list) or len(segments) > MOST_SEGMENTS:
            raise StateError("its segments are no list of them, or too many")
        for one in segments:
            values = [state_file.decode_arm(value, source) for value in one["values"]]
            key = agent._key(dict(zip(agent._names, values, strict=True)))
            if key in agent._own:
                raise StateError(f"segment {key!r} is there twice")
            agent._agents[key] = agent._alike(Agent.from_json(json.dumps(one["agent"])))
            agent._own[key] = agent._learnt(one["own"])
        state_file.check_kept(content, agent.to_json(), ("blank", "segments"))
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

    def _learnt(self, rows: Any) -> dict[Hashable, Learnt]:
        """What was learnt of each arm, from a file."""
        found = {}
        for arm, (prior, belief, plays, total, squares, tells, pending) in zip(
            self.arms, rows, strict=True
        ):
            numbers = state_file.floats([plays, total, squares])
            plays, total, squares = numbers.tolist()
            whole = type(tells) is int and type(pending) is int and min(tells, pending) >= 0
            if not (np.isfinite(numbers).all() and whole and plays >= 0):
                raise StateError(f"what was learnt of arm {arm!r} is damaged")
            learnt = Learnt(
                tuple(state_file.floats(prior).tolist()),
                tuple(state_file.floats(belief).tolist()),
                plays,
                total,
                squares,
                tells,
                pending,
            )
            found[arm] = doors.check_learnt(learnt, self.family)
        return found


def _variance(learnt: Learnt) -> float:
    """Of the rewards of an arm, as far as they were seen."""
    if learnt.plays < 2.0:
        return 0.0
    mean = learnt.sum / learnt.plays
    return max(learnt.squares / learnt.plays - mean * mean, 0.0)


def _check_segments(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise SettingError(f"segments={names!r} names none: write segments=('country', 'device')")
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise SettingError(f"segments={names!r} is not a list of different names")
    return tuple(names)


def _check_value(name: str, value: Any) -> Hashable:
    """A value of a context that can be written down: text, a number or None."""
    plain = value is None or isinstance(value, (str, int, float))
    if not plain or (isinstance(value, float) and not math.isfinite(value)):
        raise SettingError(f"{name}={value!r} names no segment: give text, a number or None")
    return value
