"""Several requests in one transaction, which costs one wait for the disk (group commit)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from belman.errors import BelmanError
from belman.studies.requests.asking import Ask, ask
from belman.studies.requests.telling import Tell, tell
from belman.studies.ticket import Ticket
from belman.studies.unit_of_work import UnitOfWork

Answer = list[Ticket] | bool | BelmanError


class SpoiltError(BelmanError):
    """One of several requests was refused after it had changed something: none of them may be kept,
    and each is to be made alone.
    """

    def __init__(self, refusal: BelmanError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def answers(unit: UnitOfWork, requests: Sequence[Ask | Tell]) -> list[Answer]:
    """Return what each of several requests gets, be it an error."""
    found: list[Answer] = []
    for request in requests:
        unit.dirty = False
        try:
            answer = ask(unit, request) if isinstance(request, Ask) else tell(unit, request)
            found.append(answer)
        except BelmanError as error:
            if unit.dirty:
                raise SpoiltError(error) from error
            found.append(error)
    return found


def batches(requests: Sequence[Ask | Tell], most: int) -> Iterator[list[Ask | Tell]]:
    """Yield the requests in their order, with at most so many tickets at a time (one ask may be
    more, which it alone is refused).
    """
    batch: list[Ask | Tell] = []
    total = 0
    for request in requests:
        tickets = request.tickets if isinstance(request, Ask) else 0
        size = tickets if isinstance(tickets, int) else 0
        if batch and total + size > most:
            yield batch
            batch, total = [], 0
        batch.append(request)
        total += size
    if batch:
        yield batch
