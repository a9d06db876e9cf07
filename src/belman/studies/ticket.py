"""Tickets: the receipt of a decision, to be handed in with its reward."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from belman.deciders import Draw
from belman.errors import UnknownTicketError, shown
from belman.studies.log.chain import mark
from belman.studies.log.event_log import Event
from belman.studies.outcomes.book import CHANCES, CONTEXT, RANKING
from belman.studies.outcomes.candidates import CANDIDATE, CHOSEN


class Ticket(NamedTuple):
    """One decision: hand in its `id` with the reward.

    Attributes
    ----------
    id
        The id, such as '17-pht2ghxb8k'; only its own study accepts it.
    arm
        The arm to try; where arms are candidates, the position of the candidate in the list.
    probability
        The chance that `arm` had: that of a uniform draw where `uniform`, else that of the policy
        and the floors. NaN where it is not known.
    uniform
        Whether it was drawn by the share of traffic that is kept uniform.
    time
        When it was asked for, in seconds since 1970.
    context
        What was asked with, in a study with contexts; else None.
    candidate
        The features of the candidate to try, where arms are candidates; else None.
    ranking
        As many arms (or positions of candidates) as `top` asked for: the one to try, then those
        with the largest indices. None where no ranking was asked for.
    chances
        The chance that each of the ranking had of being the first; None where it is not known.
    """

    id: str
    arm: Any
    probability: float
    uniform: bool
    time: float
    context: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    ranking: list[Any] | None = None
    chances: list[float] | None = None


def ticket_of(event: Event, register: Sequence[Hashable], secret: str) -> Ticket:
    """The ticket of an ask; a chance that is not known is NaN, which SQLite keeps as NULL."""
    number, _, time, position, draw, chance, *_ = event
    assert position is not None
    name = ticket_id(number, secret, mark(event))
    chance = math.nan if chance is None else chance
    result = Ticket(name, register[position], chance, draw == _UNIFORM, time)
    if not (body := event.content):
        return result
    if CANDIDATE in body:
        result = result._replace(arm=body[CHOSEN], candidate=body[CANDIDATE])
    ranking = body.get(RANKING)
    if ranking is not None and CANDIDATE not in body:
        ranking = [register[position] for position in ranking]
    return result._replace(context=body.get(CONTEXT), ranking=ranking, chances=body.get(CHANCES))


def ticket_id(number: int, secret: str, mark: bytes) -> str:
    """An ask's number in the log, and a check that other studies, other histories of this one and
    slips of the pen get wrong.

    >>> ticket_id(17, "secret", b"12345678")
    '17-pht2ghxb8k'
    """
    check = _keyed(secret).copy()
    check.update(b"%d %b" % (number, mark))
    value = int.from_bytes(check.digest(), "big")
    first = _TRIPLES[value & 32767] + _TRIPLES[value >> 15 & 32767]
    return f"{number}-{first}{_TRIPLES[value >> 30 & 32767]}{_LETTERS[value >> 45 & 31]}"


@lru_cache
def _keyed(secret: str) -> Any:
    """Where the check of every ticket of a study begins."""
    return hashlib.blake2b(digest_size=8, key=secret.encode())


def ticket_number(
    ticket: object, secret: str, study: str, mark_of: Callable[[int], bytes | None]
) -> int:
    """The number of the ask that a ticket is for, given the mark of an ask by its number."""
    text = ticket.id if isinstance(ticket, Ticket) else ticket
    if isinstance(text, str):
        head, dash, _ = text.partition("-")
        if dash and head.isascii() and head.isdigit() and len(head) < 19:
            own = mark_of(int(head))
            if own is not None and ticket_id(int(head), secret, own) == text:
                return int(head)
    raise unknown(ticket, study)


def unknown(ticket: object, study: str) -> UnknownTicketError:
    """The error for a ticket that a study never gave."""
    given = shown(ticket.id if isinstance(ticket, Ticket) else ticket)
    looks = "a ticket looks like '17-pht2ghxb8k'"
    never = f"study {study!r} never gave it, or its log was restored to a time before it did"
    return UnknownTicketError(f"unknown ticket {given}: {never} ({looks})")


_UNIFORM = int(Draw.UNIFORM)
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_TRIPLES = ["".join(reversed(three)) for three in product(_LETTERS, repeat=3)]  # 15 bits
