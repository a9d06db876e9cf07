"""Asks whose reward is not told yet, by their tickets."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from belman.errors import TicketError, UnknownTicketError

#: Asks whose reward may come; older ones are forgotten.
MOST_OPEN = 10_000


class Asked(NamedTuple):
    """One ask: the arm (or the place of a candidate, and its features), and the context."""

    arm: Hashable
    candidate: dict[str, Any] | None
    context: dict[str, Any]


class OpenAsks:
    """Tickets are 0, 1, …; the oldest asks are forgotten when there are too many."""

    def __init__(self) -> None:
        self.given = 0
        self.open: dict[int, Asked] = {}

    def add(self, asked: Asked) -> None:
        """Give the next ticket to an ask."""
        self.open[self.given] = asked
        self.given += 1
        if len(self.open) > MOST_OPEN:
            del self.open[next(iter(self.open))]

    def oldest(self, arm: Any) -> int | None:
        """The ticket of the oldest open ask of an arm."""
        return next((ticket for ticket, asked in self.open.items() if asked.arm == arm), None)

    def find(self, ticket: Any, arm: Any = None) -> Asked:
        """The ask of a ticket, which was for this arm if one is named."""
        is_one = isinstance(ticket, int) and not isinstance(ticket, bool)
        found = self.open.get(ticket) if is_one else None
        if found is None:
            raise UnknownTicketError(f"ticket {ticket!r} is not open: it was told, or never given")
        if arm is not None and found.arm != arm:
            raise TicketError(f"ticket {ticket!r} was for arm {found.arm!r}, not {arm!r}")
        return found
