"""Asks for several slots of a page at once: no candidate is shown twice.

There is one ask a slot, in their order, among the candidates that may stand there and that no slot
before has taken. So each has the chance that it had *given those before*, and is learnt from in its
own context like any other ask. Candidates without which a later slot would stay empty are left to
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from belman.errors import SettingError
from belman.studies.requests.asking import Ask, ask
from belman.studies.requests.filling import Filling
from belman.studies.requests.telling import Tell, tell
from belman.studies.ticket import Ticket
from belman.studies.unit_of_work import UnitOfWork, check_key, is_writable

#: Slots that one request fills.
MOST_SLOTS = 50


class Slot(NamedTuple):
    """One slot of a page that is to be filled.

    Attributes
    ----------
    name
        The name of the slot; each slot of a request has another one.
    context
        The context of whoever looks at it, values by name.
    among
        The candidates that may stand there, as positions in the list of all candidates.
    """

    name: str
    context: Mapping[str, Any]
    among: Sequence[int]


class AskSlots(NamedTuple):
    """A request to fill slots with different candidates: one ticket a slot, whose arm is the
    position of its candidate in the list of all.

    Attributes
    ----------
    key
        An idempotency key: the same key, with equal candidates and slots, gives the same tickets.
    candidates
        The features of each candidate, by name.
    slots
        The slots in the order in which they are filled, from 1 to 50.
    deferred
        Whether the rewards of these tickets count only once they are activated (`Activate`).
    """

    key: str
    candidates: Sequence[Mapping[str, Any]]
    slots: Sequence[Slot]
    deferred: bool = False

    @property
    def tickets(self) -> int:
        """How many tickets that takes."""
        return len(self.slots)


class TellAll(NamedTuple):
    """Rewards of several tickets: all of them are learnt, or none if one is refused.

    Attributes
    ----------
    tells
        A `Tell` for each ticket.
    """

    tells: Sequence[Tell]


def key_of(key: str, position: int) -> str:
    """The idempotency key of the ask for the slot in this place."""
    return f"{key}/{position}"


def ask_slots(unit: UnitOfWork, request: AskSlots) -> list[Ticket]:
    """Return a ticket for each slot, or those that the same key was given before."""
    check_key(key_of(request.key, len(request.slots)))
    names = [slot.name for slot in request.slots]
    if not 0 < len(names) <= MOST_SLOTS:
        raise SettingError(f"{len(names):,} slots are not allowed: give from 1 to {MOST_SLOTS}")
    if len(set(names)) < len(names) or not all(map(is_writable, names)):
        raise SettingError("give slots, each with a name of its own, of plain text")
    for slot in request.slots:
        unit.state.check_asking(slot.context, request.candidates)
        if not all(one in range(len(request.candidates)) for one in slot.among):
            raise SettingError(f"slot {slot.name!r} names candidates that there are not, by place")
    if not _is_known(unit, request):
        out, _ = unit.state.book.waiting(unit.now)
        unit.limits.check(len(names), out, unit.name, len(request.candidates))
    filling = Filling([slot.among for slot in request.slots])
    if not filling.is_possible:
        raise SettingError("there are too few candidates to fill every slot with another one")
    result = list[Ticket]()
    for i, slot in enumerate(request.slots):
        free = filling.choices(i)
        candidates = [request.candidates[position] for position in free]
        key = key_of(request.key, i)
        asked = Ask(1, key, None, slot.context, candidates, None, request.deferred, slot.name)
        (ticket,) = ask(unit, asked)
        filling.take(free[ticket.arm])
        result.append(ticket._replace(arm=free[ticket.arm]))
    return result


def _is_known(unit: UnitOfWork, request: AskSlots) -> bool:
    """Whether the key was given before; SettingError where it was with another number of slots."""
    there = [
        unit.log.keyed(f"{key_of(request.key, position)}/0") is not None
        for position in (0, len(request.slots) - 1, len(request.slots))
    ]
    if there not in ([True, True, False], [False] * 3):
        was = "was given with another number of slots before: use a new key"
        raise SettingError(f"key={request.key!r} {was}")
    return there[0]


def tell_all(unit: UnitOfWork, request: TellAll) -> bool:
    """Whether any of the rewards was news; where one is refused, none is learnt."""
    news = [tell(unit, one) for one in request.tells]
    return any(news)
