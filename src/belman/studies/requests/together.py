"""Several requests in one transaction, which costs one wait for the disk (group commit)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from belman.errors import BelmanError
from belman.studies.requests.activating import Activate, activate
from belman.studies.requests.asking import Ask, ask
from belman.studies.requests.slots import AskSlots, TellAll, ask_slots, tell_all
from belman.studies.requests.telling import Tell, tell
from belman.studies.ticket import Ticket
from belman.studies.unit_of_work import UnitOfWork

Request = Ask | Tell | AskSlots | TellAll | Activate
Answer = list[Ticket] | bool | BelmanError

#: Seconds after which a transaction takes in no more requests: others wait for it.
PATIENCE = 0.02


class SpoiltError(BelmanError):
    """One of several requests was refused after it had changed something: none of them may be kept,
    and each is to be made alone.
    """

    def __init__(self, refusal: BelmanError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def answers(unit: UnitOfWork, requests: Sequence[Request]) -> list[Answer]:
    """Return what each of several requests gets, be it an error; only of the first ones, where
    that takes long.
    """
    result: list[Answer] = []
    until = time.monotonic() + PATIENCE
    for request in requests:
        if result and time.monotonic() > until:
            break
        unit.dirty = False
        try:
            result.append(_made(unit, request))
        except BelmanError as error:
            if unit.dirty:
                raise SpoiltError(error) from error
            result.append(error)
    return result


def _made(unit: UnitOfWork, request: Request) -> Answer:
    if isinstance(request, Ask):
        return ask(unit, request)
    if isinstance(request, Tell):
        return tell(unit, request)
    if isinstance(request, AskSlots):
        return ask_slots(unit, request)
    if isinstance(request, TellAll):
        return tell_all(unit, request)
    return activate(unit, request)


def first_batch(requests: Sequence[Request], start: int, most: int) -> Sequence[Request]:
    """Return the requests from a place on, with at most so many tickets (one ask may be more, which
    it alone is refused).
    """
    total = 0
    for position in range(start, len(requests)):
        request = requests[position]
        tickets = request.tickets if isinstance(request, Ask | AskSlots) else 0
        total += tickets if isinstance(tickets, int) else 0
        if position > start and total > most:
            return requests[start:position]
    return requests[start:]
