"""Asks whose reward is not told yet, by their tickets, where a reward needs its context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from belman.deciders import Choice, validate
from belman.errors import TicketError, UnknownTicketError

#: Asks whose reward may come; older ones are forgotten.
MOST_OPEN = 10_000


class OpenAsks:
    """Tickets are 0, 1, …; the oldest asks are forgotten when there are too many."""

    def __init__(self) -> None:
        self.given = 0
        self.open: dict[int, Choice] = {}

    def add(self, choice: Choice) -> Choice | None:
        """Give the next ticket to an ask; return the ask that is forgotten for it, if any."""
        self.open[self.given] = choice
        self.given += 1
        return self.open.pop(next(iter(self.open))) if len(self.open) > MOST_OPEN else None

    def of(self, arm: Any, context: Any = None) -> Iterator[int]:
        """Yield the tickets of an arm's open asks, oldest first; in a context if one is given."""
        for ticket, choice in self.open.items():
            here = context is None or choice.context == context
            if here and (choice.arm is arm or validate.is_among(arm, [choice.arm])):
                yield ticket

    def find(self, ticket: Any, arm: Any = None) -> Choice:
        """Return the ask of a ticket, which was for this arm if one is named."""
        is_one = isinstance(ticket, int) and not isinstance(ticket, bool)
        found = self.open.get(ticket) if is_one else None
        if found is None:
            raise UnknownTicketError(f"ticket {ticket!r} is not open: it was told, or never given")
        if arm is not None and found.arm is not arm and not validate.is_among(arm, [found.arm]):
            raise TicketError(f"ticket {ticket!r} was for arm {found.arm!r}, not {arm!r}")
        return found
