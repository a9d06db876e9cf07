"""Tickets that are given back: asked for ahead, and used for nobody.

The study is then as if they had not been asked for, but for the draws of chance, which happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from belman.errors import TicketError
from belman.studies.log.event_log import Event, Kind

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork


def give_back(unit: UnitOfWork, tickets: Sequence[object]) -> int:
    """How many of these tickets are given back, now or before; none goes where one was told."""
    open_tickets = unit.state.tickets
    out, before = [], 0
    for number in dict.fromkeys(map(unit.number_of, tickets)):
        events = unit.log.of_ticket(number)
        if number in open_tickets.answers or _was_told(events):
            shown = unit.shown(number)
            raise TicketError(f"ticket {shown!r} was told, and cannot be given back any more")
        if open_tickets.is_open(number, unit.now):
            out.append(number)
        before += _was_returned(events)
    for number in out:
        unit.write(Kind.RETURNED, arm=open_tickets.asks[number][0], ticket=number)
    return before + len(out)


def _was_told(events: Sequence[Event]) -> bool:
    return any(event.kind in (Kind.TOLD, Kind.CORRECTED) for event in events)


def _was_returned(events: Sequence[Event]) -> bool:
    return any(event.kind == Kind.RETURNED for event in events)


def check_used(events: Sequence[Event], shown: str) -> None:
    """TicketError where a ticket was given back."""
    if _was_returned(events):
        raise TicketError(f"ticket {shown!r} was given back unused, and has no reward")
