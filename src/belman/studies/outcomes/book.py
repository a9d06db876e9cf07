"""The book of outcomes: those that are open, and the moment at which each of them counts.

An outcome is what came of one decision. That of a ticket is known by the number of its ask, and
that of a unit which was assigned by published weights by its version and unit: who made the key is
all that tells them apart. Without a window an outcome counts when it is told. With one it is open
for that long after its decision, may be told again meanwhile, and counts when its window closes:
with what was told by then, or as the study's `silence` says. Closing is no event, it is the passage
of time: before an event of time t, every window that closes at or before t is closed, in the order
in which they end.

The outcome of an ask that is deferred does not count before somebody says that its arm was used:
what is told of it waits for that, and when its window closes before, it is forgotten.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

from belman.codec import COLUMNS, DERIVED, Form, Place, Scope
from belman.errors import StateError
from belman.studies.log.chain import mark
from belman.studies.log.event_log import Event, Kind
from belman.studies.log.storage import is_time
from belman.studies.outcomes.candidates import CANDIDATE
from belman.studies.rules.attributes import Attributes
from belman.studies.rules.metrics import Metrics, are_metrics, together
from belman.studies.settings import StudySettings

CONTEXT, RANKING = "context", "ranking"
#: The chance of each of a ranking to be the first; whether an ask is deferred; and its slot.
CHANCES, DEFERRED, SLOT = "chances", "deferred", "slot"
#: The chances of all arms, by place, from an ask on, or at this one ask where it has a context.
SHARES = "shares"
#: Rows in bulk that count at once, each in its context.
TOLD = "told"
#: When the ticket of a correction was asked for, and its context.
ASKED = "asked"
Time = Annotated[float, is_time]


def _read_key(content: Any, scope: Scope) -> Any:
    """Return the number of an ask, or a version and a unit."""
    if type(content) is int and 1 <= content <= scope["number"]:
        return content
    version, unit = content
    if not isinstance(version, int | None) or not is_unit(unit):
        raise StateError(f"{str(content)[:40]!r} is not the key of an outcome")
    return version, unit


#: The number of an ask; or the version and the unit of a row.
Key = Annotated[Any, Form(lambda key: key if type(key) is int else list(key), _read_key)]


class Outcome(NamedTuple):
    """What is known of one decision: its arm by place, when it was made, the mark of its ticket,
    the reward and the metrics told so far, what it was decided with, its attributes, the chances of
    all arms where they are its own, and whether it is deferred: nobody said yet that it was used.
    """

    arm: Place
    time: Time
    mark: bytes = b""
    reward: float | None = None
    metrics: Annotated[Metrics, are_metrics] | None = None
    context: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    attributes: dict[str, str] | None = None
    chances: tuple[float, ...] | None = None
    deferred: bool = False


class Row(NamedTuple):
    """A row of an outcome in bulk whose window is open, or that counts in its own context, as the
    log keeps it; in a context with the chances of all arms by place.
    """

    version: int | None
    unit: Any
    arm: int
    reward: float
    time: float
    attributes: Attributes | None = None
    context: dict[str, Any] | None = None
    chances: Sequence[float] | None = None

    def outcome(self, chances: Sequence[float] | None = None) -> Outcome:
        """Return what is known by the row, with the chances of its version or its own."""
        own = chances if self.chances is None else self.chances
        return Outcome(
            self.arm,
            self.time,
            reward=self.reward,
            context=self.context,
            attributes=self.attributes,
            chances=None if own is None else tuple(own),
        )


class Counted(NamedTuple):
    """An outcome that counts, with its key (None for past data) and when; its reward is None where
    it is forgotten, and it is `silent` where none was told.
    """

    key: Any
    outcome: Outcome
    time: float
    silent: bool = False


@dataclass
class Book:
    """Open outcomes by key, in the order in which they were opened."""

    open: Annotated[dict[Key, Outcome], COLUMNS] = field(default_factory=dict)
    counted: set[int] = field(default_factory=set)  # digests of rows that counted under a window
    time: Time = 0.0  # of the last event
    window: float | None = field(default=None, metadata=DERIVED)
    silence: float | None = field(default=None, metadata=DERIVED)
    accumulate: bool = field(default=False, metadata=DERIVED)
    adds_rewards: bool = field(default=False, metadata=DERIVED)
    rows: int = field(default=0, metadata=DERIVED)  # of those that are open
    told: int = field(default=0, metadata=DERIVED)  # tickets that are open and were told
    _ends: list[tuple[float, int, Any]] = field(default_factory=list, metadata=DERIVED)  # a heap
    _order: int = field(default=0, metadata=DERIVED)

    def under(self, settings: StudySettings) -> Book:
        """Follow the rule of a window that settings have."""
        self.window, self.silence = settings.window, settings.silent_reward
        self.accumulate = settings.accumulate
        self.adds_rewards = settings.accumulate and settings.reward is None
        opened, self.open = self.open, {}
        for key, outcome in opened.items():
            self.begin(key, outcome)
        return self

    # What is open

    @property
    def tickets(self) -> int:
        """How many tickets are out."""
        return len(self.open) - self.rows

    def is_open(self, key: Any, now: float) -> bool:
        """Whether an outcome is open, and its window, if there is one, has not closed."""
        result = self.open.get(key)
        return result is not None and (self.window is None or result.time + self.window > now)

    def is_due(self, now: float) -> bool:
        """Whether windows have closed by now that were not counted yet."""
        return bool(self._ends) and self._ends[0][0] <= now

    def waiting(self, now: float) -> tuple[int, int]:
        """How many tickets and rows are open."""
        if not self.is_due(now):
            return self.tickets, self.rows
        due = [key for end, _, key in self._ends if end <= now and key in self.open]
        rows = sum(type(key) is tuple for key in due)
        return self.tickets - len(due) + rows, self.rows - rows

    def begin(self, key: Any, outcome: Outcome) -> None:
        """Open an outcome."""
        self.open[key] = outcome
        if self.window is not None:
            heapq.heappush(self._ends, (outcome.time + self.window, self._order, key))
            self._order += 1
        if type(key) is tuple:
            self.rows += 1
        elif outcome.reward is not None:
            self.told += 1

    def end(self, key: Any) -> Outcome:
        """Close an outcome."""
        result = self.open.pop(key)
        if type(key) is tuple:
            self.rows -= 1
        elif result.reward is not None:
            self.told -= 1
        return result

    # What happens

    def take(self, event: Event, body: Mapping[str, Any]) -> list[Counted]:
        """Let an event happen, before which all windows closed that are due: what it counts."""
        self.time, kind = event.time, event.kind
        if kind == Kind.ASKED:
            self.begin(event.number, asked_in(event, body))
        elif kind == Kind.TOLD:
            told = self.with_told(event.ticket, event.reward, body.get("metrics"))
            if self.window is None and not told.deferred:
                self.end(event.ticket)
                return [Counted(event.ticket, told, event.time)]
            self.told += (told.reward is not None) - (self.open[event.ticket].reward is not None)
            self.open[event.ticket] = told
        elif kind == Kind.ACTIVATED:
            used = self.open[event.ticket]._replace(deferred=False)
            self.open[event.ticket] = used
            if self.window is None and used.reward is not None:
                self.end(event.ticket)
                return [Counted(event.ticket, used, event.time)]
        elif kind == Kind.RETURNED:
            self.end(event.ticket)
        elif kind == Kind.RECORDED:
            return [Counted(None, asked_in(event, body)._replace(reward=event.reward), event.time)]
        elif kind == Kind.OBSERVED:
            shares = {version: tuple(of) for version, of in body.get(SHARES, ())}
            for row in body.get("open", ()):
                self.bring(Row(*row), shares.get(row[0]))
            self.counted.update(body.get("counted", ()))
            rows = (Row(*row) for row in body.get(TOLD, ()))
            return [Counted((row.version, row.unit), row.outcome(), event.time) for row in rows]
        return []

    def ask_all(self, asks: Sequence[Event], body: Mapping[str, Any]) -> None:
        """Let asks of one moment, which has come already, with one body happen."""
        alike: dict[int | None, Outcome] = {}  # shared, since they are many
        for event in asks:
            if event.arm not in alike:
                alike[event.arm] = asked_in(event, body)
        opened = {event.number: alike[event.arm] for event in asks}
        self.open.update(opened)
        if self.window is not None:
            ends = asks[0].time + self.window
            for number in opened:
                heapq.heappush(self._ends, (ends, self._order, number))
                self._order += 1

    def with_told(self, key: Any, reward: float | None, metrics: Metrics | None) -> Outcome:
        """Return what an open outcome would be, were this told of it now; without a reward it is
        some of the metrics that a declared reward needs.
        """
        result = self.open[key]
        before, known = result.reward, result.metrics
        if self.adds_rewards and before is not None and reward is not None:
            reward = before + reward
        if metrics:
            known = together(known or {}, metrics, self.accumulate)
        return result._replace(reward=reward, metrics=known)

    def bring(self, row: Row, chances: tuple[float, ...] | None = None) -> Outcome:
        """Take a row whose window is open, for the first time or anew: what is known of it now."""
        key = (row.version, row.unit)
        if key not in self.open:
            self.begin(key, row.outcome(chances))
        else:
            before = self.open[key]
            whole = (before.reward or 0.0) + row.reward if self.accumulate else row.reward
            shown = row.attributes or before.attributes
            self.open[key] = before._replace(arm=row.arm, reward=whole, attributes=shown)
        return self.open[key]

    def counts_as(self, outcome: Outcome) -> float | None:
        """Return the reward with which an outcome counts when its window closes, if it does."""
        if outcome.deferred:
            return None
        return self.silence if outcome.reward is None else outcome.reward

    def close(self, now: float) -> list[Counted]:
        """Close every window that is due: what its outcome counts as."""
        closed: list[Counted] = []
        while self._ends and self._ends[0][0] <= now:
            end, _, key = heapq.heappop(self._ends)
            if key not in self.open:
                continue  # it was given back
            result = self.end(key)
            if type(key) is tuple:
                self.counted.add(digest(key))
            reward = self.counts_as(result)
            closed.append(Counted(key, result._replace(reward=reward), end, result.reward is None))
        return closed

    def has_counted(self, version: int | None, unit: Any) -> bool:
        """Whether a row of this version and unit has counted, in a study with a window."""
        return digest((version, unit)) in self.counted


def asked_in(event: Event, body: Mapping[str, Any]) -> Outcome:
    """Return the outcome that an ask, or a row of past data, opens."""
    assert event.arm is not None
    if not body:
        return Outcome(event.arm, event.time, mark(event))
    return Outcome(
        event.arm,
        event.time,
        mark(event),
        context=body.get(CONTEXT),
        candidate=body.get(CANDIDATE),
        attributes=body.get("attributes"),
        chances=tuple(body[SHARES]) if SHARES in body else None,
        deferred=body.get(DEFERRED, False),
    )


def is_unit(name: object) -> bool:
    """Whether a unit may be known again by this name."""
    return isinstance(name, str | int) and not isinstance(name, bool)


def digest(key: tuple[Any, Any]) -> int:
    """Return a short digest by which the row of a version and unit is known again."""
    result = blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return int.from_bytes(result, "big")


def digests(keys: Iterable[tuple[Any, Any]]) -> list[int]:
    """Return the digests of rows, in order."""
    return sorted(map(digest, keys))
