"""Deciding in contexts: what a study knows beside the average of every arm.

The ledger of a study counts what every arm brought, whoever it was for. A study with contexts has
this beside it, which decides and learns by context: one belief along features, or beliefs by
segment. It is part of the fold of the log: an ask holds its context (and its candidates), which is
met when the ask is folded, and learnt with the reward when its ticket counts.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from belman import chance
from belman.agent.contextual.mind import Asking
from belman.errors import SettingError
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.log.event_log import Event, Kind

#: Candidates of one ask: the log keeps all of them.
MOST_CANDIDATES = 1_000
CONTEXT, CANDIDATES, CHOSEN, RANKING = "context", "candidates", "chosen", "ranking"


class Open(NamedTuple):
    """What a ticket that is out was asked with, and the place of its arm or candidate in that."""

    asking: Asking
    place: int


class Contexts(ABC):
    """What was learnt by context, and the contexts of the tickets that are out."""

    def __init__(self) -> None:
        self.open: dict[int, Open] = {}

    # Deciding

    @abstractmethod
    def check(self, context: Any, candidates: Any = None) -> Asking:
        """What is asked, as the log keeps it; changes nothing."""

    @abstractmethod
    def choose(
        self, asking: Asking, count: int, among: Sequence[int], mind: chance.Words
    ) -> list[tuple[int, float]]:
        """The places of so many arms of these, or of candidates, and the chance of each (NaN where
        it is not known). All that changes is what `meet` would.
        """

    @abstractmethod
    def rank(self, asking: Asking, among: Sequence[int]) -> list[int]:
        """The places of these arms, or of candidates, the largest index first."""

    @abstractmethod
    def meet(self, asking: Asking) -> None:
        """Take in what is new in a context."""

    @abstractmethod
    def check_room(self, asking: Asking, tickets: int) -> None:
        """Refuse what is new in a context where there is no room for it, and more tickets than can
        be decided in a moment, for which every other study of the storage may have to wait.
        """

    @abstractmethod
    def check_reward(self, asking: Asking, place: int, reward: float) -> None:
        """Raise RewardError where a reward cannot be learnt in a context."""

    @abstractmethod
    def learn(self, asking: Asking, place: int, reward: float) -> None:
        """Learn a reward of the study, which was checked, in a context that was met."""

    @abstractmethod
    def expected(self, asking: Asking, place: int) -> float:
        """The expected reward of an arm, or candidate, in a context that was met."""

    # Looking

    @property
    @abstractmethod
    def policy(self) -> Policy | DependentPolicy:
        """Who chooses."""

    @property
    @abstractmethod
    def categories(self) -> list[str]:
        """The names of contexts whose values divide those who are asked for."""

    @abstractmethod
    def status(self) -> dict[str, Any]:
        """What it is, in words."""

    @abstractmethod
    def tables(self) -> dict[str, Any]:
        """What the page shows of it: tables by title, as columns."""

    # The fold of the log

    def ask(self, event: Event) -> None:
        """An ask was given a ticket."""
        asking, place = self.read(event)
        self.meet(asking)
        if asking.candidates is not None:  # nothing will be learnt of the others
            asking, place = Asking(asking.context, [asking.candidates[place]]), 0
        self.open[event.number] = Open(asking, place)

    def settle(self, ticket: int, reward: float | None) -> None:
        """A ticket counts as this reward, or is forgotten."""
        asking, place = self.open.pop(ticket)
        if reward is not None:
            self.learn(asking, place, reward)

    def record(self, event: Event) -> None:
        """Past data count."""
        assert event.reward is not None
        asking, place = self.read(event)
        self.meet(asking)
        self.learn(asking, place, event.reward)

    def asked(self, ticket: int | None, event: Event | None) -> Open:
        """What a ticket that is out was asked with, or else an event."""
        if ticket is not None:
            return self.open[ticket]
        assert event is not None
        return self.read(event)

    def read(self, event: Event) -> Open:
        """What an event was asked with, and the place of what was chosen."""
        asking, body = self.check(*asked_in(event)), json.loads(event.body or "{}")
        place = body[CHOSEN] if asking.candidates is not None else event.arm
        assert place is not None
        return Open(asking, place)

    # Copies and snapshots

    @abstractmethod
    def copied(self) -> Contexts:
        """The same, to go its own way."""

    @abstractmethod
    def learnt(self) -> dict[str, Any]:
        """All that was learnt, as plain data."""

    @abstractmethod
    def take(self, content: Mapping[str, Any]) -> None:
        """Have what `learnt` gave."""

    def to_plain(self) -> dict[str, Any]:
        """For a snapshot."""
        rows = [[number, *asking, place] for number, (asking, place) in self.open.items()]
        return {"learnt": self.learnt(), "open": rows}

    def from_plain(self, content: Mapping[str, Any]) -> None:
        """Take over what `to_plain` gave."""
        self.take(content["learnt"])
        self.open = {
            number: Open(self.check(context, candidates), place)
            for number, context, candidates, place in content["open"]
        }


def body(asking: Asking, chosen: int | None = None) -> dict[str, Any]:
    """What the event of an ask keeps of it."""
    found: dict[str, Any] = {CONTEXT: asking.context}
    if asking.candidates is not None:
        found[CANDIDATES] = asking.candidates
    if chosen is not None:
        found[CHOSEN] = chosen
    return found


def asked_in(event: Event) -> tuple[Any, Any]:
    """The context and the candidates that an event keeps."""
    content = json.loads(event.body or "{}")
    return content.get(CONTEXT), content.get(CANDIDATES)


def check_candidates(candidates: Any) -> Any:
    """Candidates that are not too many for one line of a log."""
    if candidates is None:
        return None
    if not isinstance(candidates, Sequence) or isinstance(candidates, (str, bytes)):
        raise SettingError(
            f"candidates={str(candidates)[:80]!r} are not valid: give a list of {{…}}"
        )
    if not 0 < len(candidates) <= MOST_CANDIDATES:
        allowed = f"from 1 to {MOST_CANDIDATES:,} in one ask"
        raise SettingError(f"{len(candidates):,} candidates are not allowed: give {allowed}")
    return candidates


def refold(contexts: Contexts, event: Event) -> None:
    """Let an event happen to contexts alone, but for what its time counts."""
    if event.kind == Kind.ASKED:
        contexts.ask(event)
    elif event.kind == Kind.RETURNED:
        assert event.ticket is not None
        contexts.settle(event.ticket, None)
