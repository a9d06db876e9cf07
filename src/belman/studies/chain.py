"""The chain of a log: every event bears a link, by which a log that is not the same is known.

A link is the mark of a ticket (8 bytes) and a digest (16 bytes) over the link before it and the
event. An event that asks draws its mark at random, and what is told of its ticket bears the same
one: so a ticket of a future that was lost in a restore is not taken for another of its number.
Events from before there were links were given the mark 0.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from belman.errors import StateError
from belman.studies.event_log import Event

NO_MARK = bytes(8)
_ROW = struct.Struct("<BqqdqqdqdqQ")  # what is None, nine values, and the lengths of two texts


def link(before: bytes, event: Event, mark: bytes = NO_MARK) -> bytes:
    """The link of an event that follows one with the link `before`.

    >>> link(b"", Event(1, 1, 0.0)).hex()
    '000000000000000071197865a5b02cd7de320b5e29944756'
    """
    number, kind, time, arm, draw, probability, ticket, reward, key, body, _ = event
    absent = 0
    for i, value in enumerate((arm, draw, probability, ticket, reward, key, body)):
        absent |= (value is None) << i
    first, second = (key or "").encode(), (body or "").encode()
    row = _ROW.pack(
        absent,
        number,
        kind,
        time,
        arm or 0,
        draw or 0,
        probability or 0.0,
        ticket or 0,
        reward or 0.0,
        len(first),
        len(second),
    )
    digest = hashlib.blake2b(before + mark + row + first + second, digest_size=16).digest()
    return mark + digest


def mark(event: Event) -> bytes:
    """The mark of the ticket that an event gave, or is about."""
    return NO_MARK if event.link is None else event.link[:8]


class Head(NamedTuple):
    """The last event that somebody knows of a log."""

    number: int = 0
    link: bytes = b""

    def joined(self, event: Event, own: bytes) -> tuple[Event, Head]:
        """The event that follows, with its link, and the head that it is then."""
        new = link(self.link, event, own)
        return Event._make((*event[:-1], new)), Head(event.number, new)

    def follow(self, event: Event, study: str) -> Head:
        """The head with the event that follows; StateError where the log was edited there."""
        if event.number != self.number + 1:
            gap = f"event {self.number + 1} is missing, and {event.number} is there"
            raise StateError(f"the log of study {study!r} was edited: {gap}. {REMEDY}")
        if event.link is None or event.link != link(self.link, event, event.link[:8]):
            what = f"event {event.number} is not as it was written, or what was before it is not"
            raise StateError(f"the log of study {study!r} was edited: {what}. {REMEDY}")
        return Head(event.number, event.link)

    def check(self, found: Event | None, study: str) -> None:
        """StateError where the log does not hold this event any more."""
        if found is None:
            what = f"event {self.number} was its last, and is not in it any more"
        elif found.link != self.link:
            what = f"event {self.number} was its last, and is now another one"
        else:
            return
        cause = "restored from a backup, or edited"
        raise StateError(f"the log of study {study!r} was {cause}: {what}. {RESTORED}")


#: What to do about an edited log.
REMEDY = "Restore it from a backup, or open a copy of it with read_only=True to see what is there"
#: What to do about a log that went back.
RESTORED = (
    "Nothing was written. If the log is now the one to go on with, open the study anew (restart "
    "whoever has it open), and know that rewards of tickets given since that backup are lost; "
    "else bring back the log that was there"
)


def linked(events: Iterable[Event]) -> Iterator[Event]:
    """Events from before there were links, with theirs."""
    head = Head()
    for event in events:
        joined, head = head.joined(event, NO_MARK)
        yield joined
