"""A unit of work: what a study is asked and told in one transaction, alone and up to date."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple

from belman.agent import doors
from belman.agent.contextual.mind import Asking
from belman.errors import (
    ArmError,
    BelmanError,
    PausedError,
    RewardError,
    SettingError,
    listing,
    nearest,
)
from belman.studies import consequences
from belman.studies.contexts import context as contexts
from belman.studies.contexts.context import Open
from belman.studies.log import change_keys
from belman.studies.log.chain import Head, mark
from belman.studies.log.event_log import FIRST_CHUNK, Event, EventLog, Kind
from belman.studies.log.storage import Transaction
from belman.studies.log.tail import MOST_WAITING, Tail
from belman.studies.rules import guards, shipping
from belman.studies.rules.attributes import check_attributes
from belman.studies.rules.limits import Limits
from belman.studies.rules.metrics import Metrics, check_metrics
from belman.studies.rules.written import is_encodable
from belman.studies.state import State
from belman.studies.tickets import settle
from belman.studies.tickets.ticket import Ticket, ticket_id, ticket_number, ticket_of

Answer = list[Ticket] | bool | BelmanError

SNAPSHOT_EVERY = 10_000
LONGEST = 250  # characters of an idempotency key


class Ask(NamedTuple):
    """A request for so many `tickets`, perhaps in a `context` and among `candidates`; an
    idempotency `key` makes it safe to send again.
    """

    tickets: int = 1
    key: str | None = None
    attributes: Mapping[str, Any] | None = None
    context: Mapping[str, Any] | None = None
    candidates: Sequence[Mapping[str, Any]] | None = None
    top: int | None = None  # how many to rank, the chosen one first


class Tell(NamedTuple):
    """The reward of a ticket, its metrics, or both; an idempotency `key` makes it safe to send
    again under a window, within which a ticket may be told several times (without one a tell is
    safe by itself).
    """

    ticket: str | Ticket
    reward: float | None = None
    key: str | None = None
    metrics: Mapping[str, float] | None = None


class SpoiltError(BelmanError):
    """One of several requests was refused after it had changed something: none of them may be kept,
    and each is to be made alone.
    """

    def __init__(self, refusal: BelmanError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class UnitOfWork:
    """Decides, learns and writes down, on a state that is up to date; due tickets expire first."""

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
        self.now = max(now, state.tickets.time)  # never goes back, whatever a writer's clock says
        self._mark = secrets.token_bytes(8)  # of the tickets that are given here
        self.log, self._limits = Tail(log, transaction, state.number), limits
        self._before = state.number
        self.changes = 0  # of the world that were written down
        self._looks = shipping.looks(state.told)
        self.dirty = False  # whether anything was done that a refusal must undo

    # Requests

    def answers(self, requests: Sequence[Ask | Tell]) -> list[Answer]:
        """What each of several requests gets, be it an error."""
        found: list[Answer] = []
        for request in requests:
            self.dirty = False
            try:
                found.append(self.ask(request) if isinstance(request, Ask) else self.tell(request))
            except BelmanError as error:
                if self.dirty:
                    raise SpoiltError(error) from error
                found.append(error)
        return found

    def ask(self, request: Ask) -> list[Ticket]:
        """Tickets for the arms to try now, or those that the same key was given before."""
        doors.check_count(request.tickets)
        attributes = check_attributes(request.attributes, self.state.attribute_names)
        asking = self.state.check_asking(request.context, request.candidates)
        self._check_top(request, asking)
        body: dict[str, Any] = {"attributes": attributes} if attributes else {}
        body |= {} if asking is None else contexts.body(asking)
        given = [] if request.key is None else self._given(request, check_key(request.key), body)
        if given:
            return given
        self.check_playing()
        self._check_room(request, asking)
        self.dirty = True
        self.state.close(self.now)  # the asks that follow have this time
        self.follow()
        self.check_still_playing()
        self.state.count_early(self.now)
        rows = self._rows(request, asking, body)
        while some := list(islice(rows, MOST_WAITING)):
            asks, self.head = self.head.joined_all(some, self._mark)
            self.state.fold_asks(asks)
            self.log.add(asks)
            given += [ticket_of(event, self.state.register, self.secret) for event in asks]
        return given

    def _rows(
        self, request: Ask, asking: Asking | None, body: dict[str, Any]
    ) -> Iterator[tuple[Any, ...]]:
        """The asks of a request as the log keeps them, but for their links."""
        ranking, first = self._ranking(request, asking), self.state.number + 1
        kind, now, key, text = int(Kind.ASKED), self.now, None, _text(body)
        decisions = self.state.decide(request.tickets, asking)
        for i, (place, draw, probability, candidate) in enumerate(decisions):
            if request.key is not None:
                key = f"{request.key}/{i}"
            if asking is not None:
                text = _chosen(body, place, candidate, ranking, request.top)
            yield first + i, kind, now, place, draw, probability, None, None, key, text

    def _check_room(self, request: Ask, asking: Asking | None) -> None:
        """Refuse more tickets than may be, and what a context brings that there is no room for."""
        tickets = self.state.tickets
        out = len(tickets.asks) - len(tickets.due(self.now))
        candidates = 1 if asking is None or asking.candidates is None else len(asking.candidates)
        self._limits.check(request.tickets, out, self.name, candidates)
        if asking is not None and self.state.contexts is not None:
            self.state.contexts.check_room(asking, request.tickets)

    @staticmethod
    def _check_top(request: Ask, asking: Asking | None) -> None:
        if request.top is None:
            return
        if asking is None:
            raise SettingError("top=… ranks arms in a context: this study decides without")
        doors.check_count(request.top, f"top={request.top!r}")

    def _ranking(self, request: Ask, asking: Asking | None) -> list[int] | None:
        """The places of all arms, or candidates, the largest index first, if that is asked for."""
        return None if request.top is None or asking is None else self.state.rank(asking)

    def check_playing(self) -> None:
        """Refuse where the study is paused."""
        if self.state.paused:
            effect = "it decides nothing until it is resumed"
            raise PausedError(f"study {self.name!r} is paused: {effect}")

    def check_still_playing(self) -> None:
        """Refuse where the study was paused by what has just counted, which is written down."""
        self.dirty = not self.state.paused
        self.check_playing()

    def check_waiting(self, rows: int) -> None:
        """Refuse more rows that wait for their window than tickets may be out."""
        self._limits.check(0, rows, self.name)

    def _given(self, request: Ask, key: str, body: dict[str, Any]) -> list[Ticket]:
        """The tickets that an earlier request with this key was given."""
        found: list[Ticket] = []
        if (first := self.log.keyed(f"{key}/0")) is None:
            return found
        at_once = min(request.tickets + 1, FIRST_CHUNK)
        for event in self.log.after(first.number - 1, at_once):  # they lie together
            if event.key != f"{key}/{len(found)}":
                break
            before = json.loads(event.body or "{}")
            for name in (contexts.CHOSEN, contexts.RANKING):
                before.pop(name, None)
            if before != body:
                was = "was given with other attributes, or another context, before: use a new key"
                raise SettingError(f"key={key!r} {was}")
            found.append(ticket_of(event, self.state.register, self.secret))
        if found and len(found) != request.tickets:
            now = f"now asks for {request.tickets}: use a new key"
            raise SettingError(f"key={key!r} was given {len(found)} tickets before, and {now}")
        return found

    def tell(self, request: Tell) -> bool:
        """Whether the reward was news; raises TicketError where it contradicts what is known."""
        if request.key is not None:
            check_key(request.key)
        return settle.tell(self, request)

    def correct(self, request: Tell, reason: str) -> bool:
        """Whether another reward for a ticket that counted is a change."""
        if not check_reason(reason).strip():
            raise SettingError("a correction needs a reason, which the log keeps: reason='refund'")
        if request.key is not None:
            check_key(request.key)
        return settle.correct(self, request, reason)

    def record(self, rows: Sequence[tuple[Any, ...]], reason: str, key: str | None = None) -> int:
        """Past data, checked as a whole before any of it counts."""
        if key is not None:
            check_key(key)
        request = (reason, *rows)
        if change_keys.made_before(self, key, Kind.RECORDED, request) is not None:
            return len(rows)
        known = self.state.places
        checked: list[tuple[int, float, Open | None]] = []
        bodies: list[dict[str, Any]] = []
        names: Set[str] = self.state.attribute_names
        in_contexts = self.state.contexts is not None
        for i, row in enumerate(rows, start=1):
            try:
                arm, reward, *rest = row
                (more,) = rest or (None,)
                attributes = None if in_contexts else more
                candidate = [arm] if in_contexts and isinstance(arm, Mapping) else None
                place = known.get(arm) if candidate is None else 0
            except (TypeError, ValueError):
                third = "context" if in_contexts else "attributes"
                give = f"give (arm, reward), or (arm, reward, {third})"
                raise SettingError(f"row {i} of the past data is {row!r}: {give}") from None
            if place is None:
                there = f"this study knows {listing(known)}{nearest(arm, known)}"
                raise ArmError(f"row {i}: unknown arm {arm!r}: {there}")
            try:
                value = self.check_reward(reward)
                names = names | set(found := check_attributes(attributes, names))
                asking = self.state.check_asking(more, candidate) if in_contexts else None
                checked.append((place, value, asking and Open(asking, place)))
            except (RewardError, SettingError) as error:
                raise type(error)(f"row {i}: {error}") from None
            body = {"attributes": found} if found else {}
            chosen = None if candidate is None else 0
            bodies.append(body if asking is None else contexts.body(asking, chosen))
        why = {"reason": reason, "rows": len(checked)}
        for i, (place, reward, where) in enumerate(checked):
            try:
                self.state.check_reward(place, reward, where)
            except RewardError as error:
                raise RewardError(f"row {i + 1}: {error}") from None
            own: dict[str, Any] = {}
            if i == 0:
                own = change_keys.marked(key, Kind.RECORDED, request, {**why, **bodies[i]})
            elif bodies[i]:
                own = {"body": json.dumps(bodies[i], ensure_ascii=False)}
            self.write(Kind.RECORDED, arm=place, reward=reward, **own)
        return len(checked)

    def check_reward(self, reward: Any) -> float:
        """A reward of the study's family as the log keeps it."""
        self.state.agent.scale.inward(reward)
        return float(reward) + 0.0  # a log has one zero

    def check_metrics(self, given: object) -> Metrics:
        """Metrics as the log keeps them, of names that are few."""
        declared = self.state.settings.reward
        known = self.state.metric_names.union(() if declared is None else declared.names)
        found = check_metrics(given, known)
        guards.check_values(self.state.settings.guard, found)
        return found

    # Writing

    def write(self, kind: Kind, **content: Any) -> None:
        """Let an event that is no ask happen, to be written down at the end."""
        self.dirty = True
        event = Event(self.state.number + 1, int(kind), self.now, **content)
        own = None if event.ticket is None else self.mark_of(event.ticket)
        event, self.head = self.head.joined(event, own)
        self.state.fold(event)
        self.log.add([event])
        self.changes += kind == Kind.CHANGE_NOTICED
        self.follow()

    def follow(self) -> None:
        """Write down what follows from all that has counted."""
        before, self._looks = self._looks, shipping.looks(self.state.told)
        consequences.write(self, is_look=before != self._looks)

    def flush(self) -> None:
        """Write down what happened, and now and then a snapshot of where it led."""
        self.log.write()
        if self.state.number // SNAPSHOT_EVERY > self._before // SNAPSHOT_EVERY:
            self.log.keep_snapshot(self.head, self.state.to_text())

    # Tickets

    def number_of(self, ticket: object) -> int:
        """The number of the ask that a ticket is for."""
        return ticket_number(ticket, self.secret, self.name, self.mark_of)

    def shown(self, number: int) -> str:
        """The id of the ticket of an ask."""
        return ticket_id(number, self.secret, self.mark_of(number) or b"")

    def mark_of(self, number: int) -> bytes | None:
        """The mark of a ticket that was given, by the number of its ask."""
        tickets = self.state.tickets
        if number in tickets.asks:
            return tickets.marks[number]
        ask = self.log.event(number)
        return None if ask is None or ask.kind != Kind.ASKED else mark(ask)


def _chosen(
    body: dict[str, Any],
    place: int,
    candidate: int | None,
    ranking: list[int] | None,
    top: int | None,
) -> str | None:
    """The body of an ask in a context, with what was chosen."""
    own = body if candidate is None else {**body, contexts.CHOSEN: candidate}
    if ranking is not None:
        chosen = place if candidate is None else candidate
        rest = [place for place in ranking if place != chosen]
        own = {**own, contexts.RANKING: [chosen, *rest][:top]}
    return _text(own)


def _text(body: dict[str, Any]) -> str | None:
    return json.dumps(body, ensure_ascii=False) if body else None


def is_writable(text: str) -> bool:
    """Whether every database can keep a text."""
    return "\0" not in text and is_encodable(text)


def check_key(key: object) -> str:
    """A key of a request."""
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST or not is_writable(key):
        allowed = f"it must be a string of 1 to {LONGEST} characters"
        raise SettingError(f"key={str(key)[:80]!r} is not a key: {allowed}")
    return key


def check_reason(reason: object) -> str:
    """A reason for a change."""
    if not isinstance(reason, str) or len(reason) > 10_000 or not is_writable(reason):
        allowed = "it must be a string of at most 10,000 characters"
        raise SettingError(f"reason={str(reason)[:80]!r} is not a reason: {allowed}")
    return reason


def batches(requests: Sequence[Ask | Tell], most: int) -> Iterator[list[Ask | Tell]]:
    """The requests in their order, with at most so many tickets at a time (one ask may be more,
    which it alone is refused).
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
