"""A unit of work: one transaction on a study, alone and up to date, and what it writes down."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from belman.deciders import Asking
from belman.deciders.validate import is_text
from belman.errors import BudgetError, PausedError, SettingError, StudyError, TicketError, shown
from belman.studies import saving
from belman.studies.consequences import consequences, looks
from belman.studies.deciding import check_budget
from belman.studies.folding import close, fold, fold_asks
from belman.studies.log.chain import Head, mark
from belman.studies.log.event_log import MOST_WAITING, Event, EventLog, Kind, Tail
from belman.studies.log.storage import Transaction
from belman.studies.rules import guards
from belman.studies.rules.metrics import Metrics, check_metrics
from belman.studies.state import State
from belman.studies.ticket import ticket_id, ticket_number

SNAPSHOT_EVERY = 10_000
LONGEST = 300  # characters of an idempotency key


class Limits(NamedTuple):
    """The most that a study gives or writes at once; each limit is a whole number from 1 up.

    Attributes
    ----------
    tickets
        The most tickets of one ask.
    out
        The most tickets that may be outstanding at a time.
    candidates
        The most candidates that one ask weighs, summed over its tickets.
    event
        The most characters of one event of the log.

    >>> Limits(out=10).check(4, 7, "study")
    Traceback (most recent call last):
        ...
    belman.errors.StudyError: study 'study' has 7 tickets out, and 4 more would be over the limit \
of 10: tell some, let them expire, or open the study with limits=Limits(out=…)
    """

    tickets: int = 100_000
    out: int = 1_000_000
    candidates: int = 100_000
    event: int = 200_000_000

    def check(self, wanted: int, out: int, study: str, candidates: int = 1) -> None:
        """Refuse a request for more tickets, or more candidates each, than the limits allow.

        Parameters
        ----------
        wanted
            How many tickets are asked for.
        out
            How many tickets are outstanding already.
        study
            The name of the study, for the message.
        candidates
            How many candidates each ticket chooses among.

        Raises
        ------
        SettingError
            If one ask may not give them, or a limit is no whole number from 1 up.
        StudyError
            If more tickets would be outstanding than may be.
        """
        for name, limit in self._asdict().items():
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
                raise SettingError(f"limits: {name}={limit!r} must be a whole number from 1 up")
        most, name, among = self.tickets, "tickets", ""
        if candidates > 1 and self.candidates // candidates < most:
            most, name = max(self.candidates // candidates, 1), "candidates"
            among = f" among {candidates:,} candidates"
        if wanted > most:
            remedy = f"ask for fewer, or open the study with limits=Limits({name}=…)"
            given = f"one ask gives at most {most:,}{among}"
            raise SettingError(f"{wanted:,} tickets were asked for, and {given}: {remedy}")
        if out + wanted > self.out:
            over = f"{wanted:,} more would be over the limit of {self.out:,}"
            remedy = "tell some, let them expire, or open the study with limits=Limits(out=…)"
            raise StudyError(f"study {study!r} has {out:,} tickets out, and {over}: {remedy}")


class UnitOfWork:
    """Decides, learns and writes down, on a state that is up to date."""

    def __init__(
        self,
        name: str,
        secret: str,
        state: State,
        head: Head,
        log: EventLog,
        transaction: Transaction,
        now: float,
        limits: Limits,
    ) -> None:
        self.name, self.secret, self.state, self.head = name, secret, state, head
        self.now = max(now, state.book.time)  # never goes back, whatever a writer's clock says
        self.log, self.limits = Tail(log, transaction, state.number), limits
        self.changes = 0  # of the world that were written down
        self.dirty = False  # whether anything was done that a refusal must undo
        self._mark = secrets.token_bytes(8)  # of the tickets that are given here
        self._before = state.number
        self._told = state.tally.told

    # Writing

    def write(self, kind: Kind, **content: Any) -> None:
        """Let an event that is no ask happen, to be written down at the end."""
        self.dirty = True
        if len(content.get("body") or "") > self.limits.event:
            length, most = len(content["body"]), self.limits.event
            remedy = "bring less at a time, or open the study with limits=Limits(event=…)"
            words = f"this would be an event of {length:,} characters, and one has at most {most:,}"
            raise SettingError(f"{words}: {remedy}")
        event = Event(self.state.number + 1, int(kind), self.now, **content)
        own = None if event.ticket is None else self.mark_of(event.ticket)
        event, self.head = self.head.joined(event, own)
        fold(self.state, event)
        self.log.add([event])
        self.changes += kind == Kind.CHANGE_NOTICED
        self.follow()

    def write_asks(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[Event]:
        """Let asks happen whose arms are outstanding already, as the log keeps them but for their
        links.
        """
        while some := list(islice(rows, MOST_WAITING)):
            asks, self.head = self.head.joined_all(some, self._mark)
            fold_asks(self.state, asks)
            self.log.add(asks)
            yield from asks

    def follow(self) -> None:
        """Write down what follows from all that has counted."""
        told, state = self.state.tally.told, self.state
        may_ship = state.ships_itself and told != self._told
        if not (may_ship or state.guards.touched or state.follows_changes):
            return
        before, self._told = looks(self._told), told
        for kind, arm, body in consequences(state, is_look=before != looks(told)):
            text = json.dumps(body, ensure_ascii=False, allow_nan=False)
            self.write(kind, arm=arm, body=text)

    def close(self) -> None:
        """Count what has closed by now; an event of this time has to follow."""
        self.dirty = True
        close(self.state, self.now)

    def close_and_play(self) -> None:
        """Count what has closed by now, and write down what follows from it; refuse where the study
        was paused by that, which is written down.
        """
        self.close()
        self.follow()
        self.dirty = not self.state.paused
        self.check_playing()

    def flush(self) -> None:
        """Write down what happened."""
        self.log.write()

    @property
    def is_snapshot_due(self) -> bool:
        """Whether so much happened that a snapshot of where it led is to be kept."""
        return self.state.number // SNAPSHOT_EVERY > self._before // SNAPSHOT_EVERY

    def keep_snapshot(self) -> None:
        """Write down what happened, and a snapshot of where it led."""
        self.log.write()
        self.log.keep_snapshot(*self.head, saving.to_text(self.state))

    # Once under a key

    def change(
        self,
        kind: Kind,
        key: str | None,
        request: tuple[Any, ...],
        body: dict[str, Any],
        **content: Any,
    ) -> None:
        """Write a change down, so that the same request under the same key is known again."""
        if key is not None:
            body = {**body, "request": _digest(kind, request)}
            content["key"] = f"{key}/change"
        self.write(kind, body=json.dumps(body, ensure_ascii=False), **content)

    def made_before(self, key: str | None, kind: Kind, request: tuple[Any, ...]) -> Event | None:
        """Return the event of the same change under the same key; SettingError where it was another
        one.
        """
        before = None if key is None else self.log.keyed(f"{key}/change")
        if before is not None and before.content["request"] != _digest(kind, request):
            raise used_for_another(key, before.kind)
        return before

    # Checks

    def check_playing(self) -> None:
        """Refuse where the study is paused."""
        if self.state.paused:
            effect = "it decides nothing until it is resumed"
            raise PausedError(f"study {self.name!r} is paused: {effect}")

    def check_budget(self, count: int, asking: Asking) -> None:
        """Refuse where the budget has no room; what was written down at this time stays."""
        try:
            check_budget(self.state, count, asking, self.now, self.name)
        except BudgetError:
            self.dirty = self.dirty and self.state.number == self._before
            raise

    def check_reward(self, reward: Any) -> float:
        """A reward of the study's family as the log keeps it."""
        self.state.decider.inward(reward)
        return float(reward) + 0.0  # a log has one zero

    def check_metrics(self, given: object) -> Metrics:
        """Metrics as the log keeps them, of names that are few."""
        if given is None:
            return {}
        declared = self.state.settings.reward
        known = self.state.tally.metrics.names.union(() if declared is None else declared.names)
        result = check_metrics(given, known)
        guards.check_values(self.state.guards.limits, result)
        return result

    # Tickets

    def number_of(self, ticket: object) -> int:
        """The number of the ask that a ticket is for."""
        return ticket_number(ticket, self.secret, self.name, self.mark_of)

    def shown(self, number: int) -> str:
        """The id of the ticket of an ask."""
        return ticket_id(number, self.secret, self.mark_of(number) or b"")

    def mark_of(self, number: int) -> bytes | None:
        """The mark of a ticket that was given, by the number of its ask."""
        if (result := self.state.book.open.get(number)) is not None:
            return result.mark
        ask = self.log.event(number)
        if ask is None and self.log.is_archived(number):
            if since := self.log.of_ticket(number):
                return mark(since[0])
            raise archived(number)
        return None if ask is None or ask.kind != Kind.ASKED else mark(ask)


def _digest(kind: Kind, request: tuple[Any, ...]) -> str:
    return hashlib.blake2b(repr((int(kind), *request)).encode(), digest_size=8).hexdigest()


def archived(number: int) -> TicketError:
    """Return what is wrong with a ticket of an event that is archived."""
    words = "what became of it cannot be changed any more"
    return TicketError(f"the ask of ticket {number:,} is archived, and {words}")


def used_for_another(key: str | None, kind: int) -> SettingError:
    """Return what is wrong with a key under which a change of that kind was made."""
    what = Kind(kind).name.lower().replace("_", " ")
    remedy = "and is now given with another: use a new key"
    return SettingError(f"key={key!r} was given with a change before ({what}), {remedy}")


def is_writable(text: str) -> bool:
    """Whether every database can keep a text."""
    return "\0" not in text and is_text(text)


def check_key(key: object) -> str | None:
    """The key of a request, where it has one."""
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST or not is_writable(key):
        allowed = f"it must be a string of 1 to {LONGEST} characters"
        raise SettingError(f"key={shown(key)} is not a key: {allowed}")
    return key


def check_reason(reason: object) -> str:
    """A reason for a change."""
    if isinstance(reason, str) and not reason:
        return ""
    if not isinstance(reason, str) or len(reason) > 10_000 or not is_writable(reason):
        allowed = "it must be a string of at most 10,000 characters"
        raise SettingError(f"reason={shown(reason)} is not a reason: {allowed}")
    return reason
