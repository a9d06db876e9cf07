"""Tickets: the receipt of a decision, to be handed in with its reward."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from belman.errors import UnknownTicketError
from belman.studies.contexts.context import CANDIDATES, CHOSEN, CONTEXT, RANKING
from belman.studies.log.chain import NO_MARK, mark
from belman.studies.log.event_log import Draw, Event


class Ticket(NamedTuple):
    """One decision: hand in `id` with the reward; `probability` is the chance that `arm` had.

    `uniform` says whether it was drawn by the share of traffic that is kept uniform; the chance is
    that of such a draw then, and that of the policy otherwise. In a study with contexts `context`
    is what was asked with; where arms are candidates, `candidate` is the one to try, and `arm` its
    place among them. `ranking` lists as many as were asked for, this one first, and then those with
    the largest indices.
    """

    id: str
    arm: Hashable
    probability: float
    uniform: bool
    time: float
    context: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    ranking: list[Any] | None = None


def ticket_of(event: Event, register: Sequence[Hashable], secret: str) -> Ticket:
    """The ticket of an ask; a chance that is not known is NaN, which SQLite keeps as NULL."""
    assert event.arm is not None
    arm, uniform = register[event.arm], event.draw == Draw.UNIFORM
    shown = ticket_id(event.number, secret, mark(event))
    chance = math.nan if event.probability is None else event.probability
    found = Ticket(shown, arm, chance, uniform, event.time)
    if event.body is None:
        return found
    body = json.loads(event.body)
    if CANDIDATES in body:
        place = body[CHOSEN]
        found = found._replace(arm=place, candidate=body[CANDIDATES][place])
    ranking = body.get(RANKING)
    if ranking is not None and CANDIDATES not in body:
        ranking = [register[place] for place in ranking]
    return found._replace(context=body.get(CONTEXT), ranking=ranking)


def ticket_id(number: int, secret: str, mark: bytes) -> str:
    """An ask's number in the log, and a check that other studies, other histories of this one and
    slips of the pen get wrong; tickets from before there were marks have a shorter one.

    >>> ticket_id(17, "secret", b"12345678"), ticket_id(17, "secret", NO_MARK)
    ('17-pht2ghxb8k', '17-hn9691')
    """
    is_old = mark == NO_MARK
    text = str(number).encode() if is_old else b"%d %b" % (number, mark)
    digest = hashlib.blake2b(text, digest_size=8, key=secret.encode()).digest()
    value = int.from_bytes(digest, "big")
    first = _PAIRS[value & 1023] + _PAIRS[value >> 10 & 1023] + _PAIRS[value >> 20 & 1023]
    if is_old:
        return f"{number}-{first}"
    return f"{number}-{first}{_PAIRS[value >> 30 & 1023]}{_PAIRS[value >> 40 & 1023]}"


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
    shown = repr(ticket.id if isinstance(ticket, Ticket) else ticket)
    shown = shown if len(shown) <= 80 else f"{shown[:80]}…"
    looks = "a ticket looks like '17-pht2ghxb8k'"
    never = f"study {study!r} never gave it, or its log was restored to a time before it did"
    return UnknownTicketError(f"unknown ticket {shown}: {never} ({looks})")


_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [one + other for other in _LETTERS for one in _LETTERS]  # two letters are ten bits
