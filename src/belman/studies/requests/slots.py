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
from belman.studies.requests.telling import Tell, tell
from belman.studies.ticket import Ticket
from belman.studies.unit_of_work import UnitOfWork, check_key, is_writable


class Slot(NamedTuple):
    """A place to fill: its name, the context of whoever looks at it, and which candidates may stand
    there, by their places.
    """

    name: str
    context: Mapping[str, Any]
    among: Sequence[int]


class AskSlots(NamedTuple):
    """A request to fill slots with different candidates, under an idempotency `key`; each ticket
    has as its arm the place of its candidate among all of them.
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
    """Rewards of several tickets, all of them or none."""

    tells: Sequence[Tell]


def key_of(key: str, place: int) -> str:
    """The idempotency key of the ask for the slot in this place."""
    return f"{key}/{place}"


def ask_slots(unit: UnitOfWork, request: AskSlots) -> list[Ticket]:
    """Return a ticket for each slot, or those that the same key was given before."""
    check_key(key_of(request.key, len(request.slots)))
    names = [slot.name for slot in request.slots]
    if not names or len(set(names)) < len(names) or not all(map(is_writable, names)):
        raise SettingError("give slots, each with a name of its own, of plain text")
    for slot in request.slots:
        unit.state.check_asking(slot.context, request.candidates)
    _check_known(unit, request)
    among = [list(slot.among) for slot in request.slots]
    if not fillable(among):
        raise SettingError("there are too few candidates to fill every slot with another one")
    found = list[Ticket]()
    for i, slot in enumerate(request.slots):
        taken = {ticket.arm for ticket in found}
        rest = [[one for one in own if one not in taken] for own in among[i:]]
        free = [one for one in rest[0] if fillable([_without(own, one) for own in rest[1:]])]
        candidates = [request.candidates[place] for place in free]
        key = key_of(request.key, i)
        asked = Ask(1, key, None, slot.context, candidates, None, request.deferred, slot.name)
        (ticket,) = ask(unit, asked)
        found.append(ticket._replace(arm=free[ticket.arm]))
    return found


def _check_known(unit: UnitOfWork, request: AskSlots) -> None:
    """Refuse a key that was given with more slots, or with fewer."""
    there = [
        unit.log.keyed(f"{key_of(request.key, place)}/0") is not None
        for place in (0, len(request.slots) - 1, len(request.slots))
    ]
    if there not in ([True, True, False], [False] * 3):
        was = "was given with another number of slots before: use a new key"
        raise SettingError(f"key={request.key!r} {was}")


def _without(own: Sequence[int], taken: int) -> list[int]:
    return [one for one in own if one != taken]


def fillable(among: Sequence[Sequence[int]]) -> bool:
    """Whether every slot can have a candidate of its own, of those that may stand there.

    >>> fillable([[0, 1], [0]]), fillable([[0], [0]])
    (True, False)
    """
    holder: dict[int, int] = {}

    def place(slot: int, tried: set[int]) -> bool:
        for one in among[slot]:
            if one not in tried:
                tried.add(one)
                if one not in holder or place(holder[one], tried):
                    holder[one] = slot
                    return True
        return False

    return all(place(slot, set()) for slot in range(len(among)))


def tell_all(unit: UnitOfWork, request: TellAll) -> bool:
    """Whether any of the rewards was news; where one is refused, none is learnt."""
    news = [tell(unit, one) for one in request.tells]
    return any(news)
