"""The log of a study within a transaction, with what is about to be written at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from belman.studies.log.chain import Head
from belman.studies.log.event_log import FIRST_CHUNK, Event, EventLog, Kind
from belman.studies.log.storage import Transaction

MOST_WAITING = 480  # events that wait to be written: few enough that Python forgets them young


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

    def keep_snapshot(self, head: Head, content: str) -> None:
        """Write down a snapshot that follows the last event."""
        self._log.keep_snapshot(self._transaction, head.number, head.link, content)

    def keyed(self, key: str) -> Event | None:
        """The event of a request with this key."""
        for event in self._new:
            if event.key == key:
                return event
        return self._log.find(self._transaction, "key", key)

    def event(self, number: int) -> Event | None:
        """The event of this number."""
        if number > self._written:
            place = number - self._written - 1
            return self._new[place] if place < len(self._new) else None
        return self._log.find(self._transaction, "number", number)

    def of_ticket(self, ticket: int) -> list[Event]:
        """What was told of a ticket, and how it was corrected, in order."""
        new = [event for event in self._new if event.ticket == ticket]
        return self._log.of_ticket(self._transaction, ticket) + new

    def corrections(self) -> list[Event]:
        """All corrections so far, in order."""
        new = [event for event in self._new if event.kind == Kind.CORRECTED]
        return self._log.corrections(self._transaction) + new

    def after(self, number: int = 0, chunk: int = FIRST_CHUNK) -> Iterator[Event]:
        """All events that follow a number, so many of them read at first."""
        yield from self._log.after(self._transaction, number, chunk=chunk)
        yield from (event for event in self._new if event.number > number)
