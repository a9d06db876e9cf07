"""The event log of a study: what can happen to it, how that is written down, and snapshots."""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from belman.studies.log.storage import Storage, Transaction


class Kind(IntEnum):
    """The kind of an event, as the log keeps it; numbers are never given anew."""

    CREATED = 1  # body: the settings
    ASKED = 2  # arm, draw, probability, key; body: attributes, context, candidates
    TOLD = 3  # ticket, arm, reward; under a window also a key, and as often as it is told
    RECORDED = 5  # arm, reward: past data, not asked for; body: attributes
    PAUSED = 6  # body: the reason, as in all below
    RESUMED = 7
    ARM_ADDED = 8  # body: also the name and the prior, or the place of an arm that was retired
    ARM_RETIRED = 9  # arm
    POLICY_CHANGED = 10  # body: also the policy
    CORRECTED = 11  # ticket, arm, reward (None: forgotten), key; body: also what is learnt by it
    SHIPPED = 12  # arm: all traffic goes to it
    UNSHIPPED = 13  # arm: it does so no more
    PUBLISHED = 14  # body: also the weights document, whose version is this number, and its plan
    OBSERVED = 15  # body: also sums of many outcomes, and what is learnt by them
    RETURNED = 16  # ticket, arm: given back, since it was used for nobody
    ROWS_CORRECTED = 17  # body: also rows of outcomes in bulk, and what is learnt by them
    CHANGE_NOTICED = 18  # arm: the world has changed; body: also from, to, after which reward
    GUARD_CHANGED = 19  # body: also all limits on metrics from here on
    ARCHIVED = 20  # body: also all files of old events, the last event in each, and its link
    ACTIVATED = (
        21  # ticket, arm: a deferred ask was used, and counts; reward: what it counts as now
    )
    SPENT = 22  # arm, perhaps; body: also a cost of no ask, which counts against the budget


class Event(NamedTuple):
    """A line of the log; a field that its kind has no use for is None.

    Attributes
    ----------
    number
        The number of the event, from 1 without gaps.
    kind
        What happened, a `Kind`.
    time
        When, in seconds since 1970.
    arm
        The position of an arm in the register of all arms that the study ever had.
    draw
        How the arm of an ask was drawn, a `Draw`.
    probability
        The chance that the arm of an ask had.
    ticket
        The number of the ask that the event is about.
    reward
        The reward of a ticket or of past data; of a correction, the right one.
    key
        The idempotency key of the request, with a suffix that says which part of it this is.
    body
        All else, as a JSON object.
    link
        The link to the event before it: the mark of the ticket (8 bytes) and a digest (16 bytes).
    """

    number: int
    kind: int
    time: float
    arm: int | None = None
    draw: int | None = None
    probability: float | None = None
    ticket: int | None = None
    reward: float | None = None
    key: str | None = None
    body: str | None = None
    link: bytes = b""  # to the event before it, see chain.py

    @property
    def content(self) -> dict[str, Any]:
        """What its body says."""
        result: dict[str, Any] = json.loads(self.body) if self.body else {}
        return result


_COLUMNS = ", ".join(Event._fields)
_SELECT = f"SELECT {_COLUMNS} FROM belman_events WHERE study = ?"
_AFTER = f"{_SELECT} AND number > ? ORDER BY number LIMIT ?"
_ROWS = 80  # that one statement appends: older SQLite takes 999 values
LOCK = "SELECT id FROM belman_studies WHERE id = ? FOR UPDATE"
CHUNK = 10_000  # events that are read at a time, where their bodies are not long
FIRST_CHUNK, CHUNK_TEXT = 1_000, 16_000_000  # at first; characters of bodies, about so many
NOTE_EVERY = 64
MOST_WAITING = 480  # events that wait to be written: few enough that Python forgets them young


class EventLog:
    """The events of one study in its storage, numbered from 1 without gaps."""

    def __init__(self, study: int) -> None:
        self.study = study

    def after(
        self,
        transaction: Transaction,
        number: int = 0,
        *,
        lock: bool = False,
        chunk: int = FIRST_CHUNK,
    ) -> Iterator[Event]:
        """All events after a number, in chunks, the first of the given size.

        With `lock` first wait until nobody else writes to this study, and keep them out until the
        transaction ends.
        """
        while True:
            values = (_AFTER, self.study, number, chunk)
            rows = transaction.rows_locked(LOCK, *values) if lock else transaction.rows(*values)
            events = list(map(Event._make, rows))
            yield from events
            if len(events) < chunk:
                return
            number, text = events[-1].number, sum(len(one.body or "") for one in events)
            fits = CHUNK_TEXT * chunk // max(text, 1)
            chunk = max(min(fits, 2 * chunk, CHUNK), 1)

    def find(self, transaction: Transaction, field: str, value: object) -> Event | None:
        """The only event of a `number` or of a `key`, if there is one."""
        rows = transaction.rows(f"{_SELECT} AND {field} = ?", self.study, value)
        return Event._make(rows[0]) if rows else None

    def of_ticket(self, transaction: Transaction, ticket: int) -> list[Event]:
        """What was told of a ticket, and how it was corrected, in order."""
        sql = f"{_SELECT} AND ticket = ? ORDER BY number"
        return list(map(Event._make, transaction.rows(sql, self.study, ticket)))

    def of_kind(self, transaction: Transaction, kind: Kind) -> list[Event]:
        """All events of a kind, in order."""
        sql = f"{_SELECT} AND kind = ? ORDER BY number"
        return list(map(Event._make, transaction.rows(sql, self.study, int(kind))))

    def first(self, transaction: Transaction) -> int:
        """The number of the first event that is here; those before it are archived."""
        sql = "SELECT MIN(number) FROM belman_events WHERE study = ?"
        return int(transaction.rows(sql, self.study)[0][0] or 1)

    def remove_before(self, storage: Storage, number: int) -> None:
        """Remove events that are archived."""
        sql = "DELETE FROM belman_events WHERE study = ? AND number < ?"
        storage.execute(sql, self.study, number)

    def before_open(self, transaction: Transaction, number: int, window: float) -> int:
        """The number before the first event that is younger than a window at the event of `number`,
        of those that are here: times never go back, so that it is found by halving.
        """

        def time(number: int) -> float:
            event = self.find(transaction, "number", number)
            assert event is not None
            return event.time

        first = self.first(transaction)
        if number < first:
            return number
        last = time(number)
        numbers = range(first, number + 1)
        result = bisect.bisect_left(numbers, True, key=lambda one: time(one) + window > last)
        return result + first - 1

    def append(self, transaction: Transaction, new: Sequence[Event]) -> None:
        """Write events down, and now and then how far the log goes: a note of every event would
        cost a sixth of an ask.
        """
        for i in range(0, len(new), _ROWS):
            rows = new[i : i + _ROWS]
            columns = dict(zip(Event._fields, zip(*rows, strict=True), strict=True))
            kept = {name: column for name, column in columns.items() if not _is_empty(column)}
            values = chain.from_iterable(zip(repeat(self.study), *kept.values()))
            transaction.execute(_append(tuple(kept), len(rows)), *values)
        first, last = new[0], new[-1]
        if (first.number - 1) // NOTE_EVERY < last.number // NOTE_EVERY:
            self._note(transaction, last.number, last.link)

    def _note(self, transaction: Transaction, number: int, link: bytes) -> None:
        note = "UPDATE belman_studies SET last = ?, link = ? WHERE id = ? AND last < ?"
        transaction.execute(note, number, link, self.study, number)

    def noted(self, transaction: Transaction) -> tuple[int, bytes]:
        """The number and the link of an event up to which the log has to go, at least."""
        rows = transaction.rows("SELECT last, link FROM belman_studies WHERE id = ?", self.study)
        return rows[0] if rows else (0, b"")

    def newest_snapshot(self, transaction: Transaction) -> tuple[int, bytes, str] | None:
        """The number and the link of the event that the last snapshot follows, and its text."""
        newest = "WHERE study = ? ORDER BY number DESC LIMIT 1"
        what = f"SELECT number, link, content FROM belman_snapshots {newest}"
        rows = transaction.rows(what, self.study)
        return rows[0] if rows else None

    def keep_snapshot(
        self, transaction: Transaction, number: int, link: bytes, content: str
    ) -> None:
        """Write down a snapshot that follows an event, and drop those before it."""
        drop = "DELETE FROM belman_snapshots WHERE study = ? AND number <= ?"
        insert = "INSERT INTO belman_snapshots (study, number, link, content) VALUES (?, ?, ?, ?)"
        transaction.execute(drop, self.study, number)
        transaction.execute(insert, self.study, number, link, content)
        self._note(transaction, number, link)


def _is_empty(column: tuple[object, ...]) -> bool:
    return column[0] is None and column.count(None) == len(column)


@cache
def _append(columns: tuple[str, ...], rows: int) -> str:
    """The statement that writes a number of events, without the columns that none of them has."""
    row = f"(?{', ?' * len(columns)})"
    values = ", ".join([row] * rows)
    return f"INSERT INTO belman_events (study, {', '.join(columns)}) VALUES {values}"


class Tail:
    """What is in the log, and what was added since; nobody else sees it before the commit."""

    def __init__(self, log: EventLog, transaction: Transaction, number: int) -> None:
        self._log, self._transaction = log, transaction
        self._written = number  # of the last event that is in the log
        self._new: list[Event] = []

    def add(self, events: Sequence[Event]) -> None:
        """Let events follow."""
        self._new += events
        if len(self._new) >= MOST_WAITING:
            self.write()

    def write(self) -> None:
        """Write down what waits for it."""
        if self._new:
            self._log.append(self._transaction, self._new)
            self._written += len(self._new)
            self._new = []

    def keep_snapshot(self, number: int, link: bytes, content: str) -> None:
        """Write down a snapshot that follows the last event."""
        self._log.keep_snapshot(self._transaction, number, link, content)

    def keyed(self, key: str) -> Event | None:
        """The event of a request with this key."""
        for event in self._new:
            if event.key == key:
                return event
        return self._log.find(self._transaction, "key", key)

    def event(self, number: int) -> Event | None:
        """The event of this number."""
        if number > self._written:
            position = number - self._written - 1
            return self._new[position] if position < len(self._new) else None
        return self._log.find(self._transaction, "number", number)

    def is_archived(self, number: int) -> bool:
        """Whether the event of this number is not here any more."""
        return number < self._log.first(self._transaction)

    def of_kind(self, kind: Kind) -> list[Event]:
        """All events of a kind, in order."""
        self.write()
        return self._log.of_kind(self._transaction, kind)

    def of_ticket(self, ticket: int) -> list[Event]:
        """What was told of a ticket, and how it was corrected, in order."""
        new = [event for event in self._new if event.ticket == ticket]
        return self._log.of_ticket(self._transaction, ticket) + new

    def after(self, number: int = 0, chunk: int = FIRST_CHUNK) -> Iterator[Event]:
        """All events after a number, the first chunk of the given size."""
        yield from self._log.after(self._transaction, number, chunk=chunk)
        yield from (event for event in self._new if event.number > number)
