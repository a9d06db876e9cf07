"""Activations: the arm of a deferred ask was used, so that what comes of it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from belman.errors import TicketError
from belman.studies.log.event_log import Kind
from belman.studies.requests.telling import counted, when
from belman.studies.ticket import Ticket
from belman.studies.unit_of_work import UnitOfWork


class Activate(NamedTuple):
    """A request to activate tickets of deferred asks, whose arms were used: all of them, or none if
    one is refused.

    Attributes
    ----------
    tickets
        Tickets, or their ids. Those of asks that were not deferred are left as they are.
    """

    tickets: Sequence[str | Ticket]


def activate(unit: UnitOfWork, request: Activate) -> bool:
    """Whether that was news for any of the tickets; it is none where an ask was not deferred.

    A ticket is activated while its window is open. One whose window closed before was forgotten,
    and raises TicketError.
    """
    book = unit.state.book
    waiting = []
    for number in dict.fromkeys(map(unit.number_of, request.tickets)):
        if book.is_open(number, unit.now):
            if book.open[number].deferred:
                waiting.append(number)
            continue
        outcome, _ = counted(unit, number, unit.shown(number))  # says where it was given back
        if outcome.deferred:
            closed = when(outcome.time + (book.window or 0.0))
            words = f"the window of ticket {unit.shown(number)!r} closed at {closed}"
            raise TicketError(f"{words}, and it was forgotten: it is activated too late")
    for number in waiting:
        result = book.open[number]
        counts = result.reward if book.window is None else None
        unit.write(Kind.ACTIVATED, arm=result.arm, ticket=number, reward=counts)
    return bool(waiting)
