"""The chain of a log: every event bears a link, by which a log that is not the same is known.

A link is the mark of a ticket (8 bytes) and a digest (16 bytes) over the link before it and the
event. An event that asks draws its mark at random, and what is told of its ticket bears the same
one: so a ticket of a future that was lost in a restore is not taken for another of its number.
Events that are about no ticket bear zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from belman.errors import RestoredError, StateError
from belman.studies.log.event_log import Event

_NO_TICKET = bytes(8)
_ROW = struct.Struct("<qqdqqdqdqq")  # its numbers, and the lengths of its two texts
_NAN = float("nan")


def link(before: bytes, event: tuple[Any, ...], mark: bytes = _NO_TICKET) -> bytes:
    """The link of an event, or of all before its link, that follows one with the link `before`.

    >>> link(b"", Event(1, 1, 0.0)).hex()
    '0000000000000000b8849c73451e83e0f800c3367abf5fdd'
    """
    number, kind, time, arm, draw, probability, ticket, reward, key, body = event[:10]
    row = _ROW.pack(
        number,
        kind,
        time + 0.0,
        -1 if arm is None else arm,
        -1 if draw is None else draw,
        _kept(probability),
        -1 if ticket is None else ticket,
        _kept(reward),
        -1 if key is None else len(key),
        -1 if body is None else len(body),
    )
    text = b"" if key is None and body is None else ((key or "") + (body or "")).encode()
    return mark + blake2b(before + mark + row + text, digest_size=16).digest()


def _kept(number: float | None) -> float:
    """A number as every database gives it back: SQLite has no NaN, and one zero."""
    return _NAN if number is None or number != number else number + 0.0


def mark(event: Event) -> bytes:
    """The mark of the ticket that an event gave, or is about."""
    return event.link[:8]


class Head(NamedTuple):
    """The last event that somebody knows of a log."""

    number: int = 0
    link: bytes = b""

    def joined(self, event: Event, own: bytes | None = None) -> tuple[Event, Head]:
        """Return the event with its link, by the mark of its ticket, and the head after it."""
        (result,), head = self.joined_all([event[:-1]], own or _NO_TICKET)
        return result, head

    def joined_all(self, rows: Iterable[tuple[Any, ...]], own: bytes) -> tuple[list[Event], Head]:
        """The same of many that follow one another, each given as all before its link."""
        last, result = self.link, []
        for row in rows:
            last = link(last, row, own)
            result.append(Event._make((*row, last)))
        return result, Head(result[-1].number, last)

    def follow(self, event: Event, study: str) -> Head:
        """The head with the event that follows; StateError where the log was edited there."""
        if event.number != self.number + 1:
            gap = f"event {self.number + 1} is missing, and {event.number} is there"
            raise StateError(f"the log of study {study!r} was edited: {gap}. {REMEDY}")
        if event.link != link(self.link, event, event.link[:8]):
            what = f"event {event.number} is not as it was written, or what was before it is not"
            raise StateError(f"the log of study {study!r} was edited: {what}. {REMEDY}")
        return Head(event.number, event.link)

    def check(self, result: Event | None, study: str) -> None:
        """RestoredError where the log does not hold this event any more."""
        if result is None:
            what = f"event {self.number} was its last, and is not in it any more"
        elif result.link != self.link:
            what = f"event {self.number} was its last, and is now another one"
        else:
            return
        cause = "restored from a backup, or edited"
        raise RestoredError(f"the log of study {study!r} was {cause}: {what}. {RESTORED}")


#: What to do about an edited log.
REMEDY = "Restore it from a backup, or open a copy of it with read_only=True to see what is there"
#: What to do about a log that went back.
RESTORED = (
    "Nothing was written. If the log is now the one to go on with, open the study anew (restart "
    "whoever has it open, or POST …/reopen to each service), and know that rewards of tickets "
    "given since that backup are lost; else bring back the log that was there"
)
