"""What is told of a ticket, told again while its window is open, and tickets that are given back
unused; `correcting.py` corrects what counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from belman.errors import RewardError, SettingError, TicketError, listing, shown
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import DEFERRED, Outcome
from belman.studies.outcomes.walk import standing
from belman.studies.rules import guards
from belman.studies.rules.metrics import Metrics, check_values, together, told_in
from belman.studies.rules.metrics import body as metrics_body
from belman.studies.rules.utility import Utility
from belman.studies.ticket import Ticket, unknown
from belman.studies.unit_of_work import UnitOfWork, archived, check_key


class Tell(NamedTuple):
    """What is told of a ticket: its reward, metrics, or both.

    Without a window a ticket has one reward, and telling it twice is safe without a key.

    Attributes
    ----------
    ticket
        A ticket, or its id.
    reward
        The reward; None where the study computes it from metrics.
    key
        An idempotency key, for a request that may be sent again under a window, within which a
        ticket may be told several times.
    metrics
        Other measurements by name, such as {"latency": 0.8, "refund": 0}.
    """

    ticket: str | Ticket
    reward: float | None = None
    key: str | None = None
    metrics: Mapping[str, float] | None = None


def tell(unit: UnitOfWork, request: Tell) -> bool:
    """Whether the reward was news; raises TicketError where it contradicts what is known."""
    check_key(request.key)
    number, book = unit.number_of(request.ticket), unit.state.book
    metrics = unit.check_metrics(request.metrics)
    check_said(unit.state.settings.reward, request.reward, metrics)
    key = None if request.key is None or book.window is None else f"{request.key}/tell"
    if key is not None and known(unit, key, number, request.reward, metrics):
        return False
    if not book.is_open(number, unit.now):
        if book.window is None:
            return _told_before(unit, request, number, metrics)
        return _tell_late(unit, request, number, metrics, book.window)
    before = book.open[number]
    if book.window is None and before.reward is not None:  # it waits to be activated
        return _told_before(unit, request, number, metrics)
    whole = before.metrics or {}
    if metrics:
        whole = check_values(together(whole, metrics, book.accumulate))
        guards.check_values(unit.state.guards.limits, whole)
    utility = unit.state.settings.reward
    is_part = utility is not None and book.window is not None and utility.has_part(whole)
    reward = None if is_part else _so_far(unit, before, request.reward, whole)
    is_same = before.reward == reward and (before.metrics or {}) == whole
    is_news = book.accumulate or not is_same
    if not is_news and key is None:  # a key is kept: sent again later, it would be news
        return False
    if reward is not None:
        unit.state.decider.check_reward(unit.state.choice(before), reward)
    told = check_number(request.reward) if book.adds_rewards else reward
    text = metrics_body(metrics) if metrics else None
    if before.deferred and book.window is None:  # an export says that it does not count yet
        text = json.dumps({**json.loads(text or "{}"), DEFERRED: True}, ensure_ascii=False)
    unit.write(Kind.TOLD, arm=before.arm, ticket=number, reward=told, key=key, body=text)
    return is_news


def _told_before(unit: UnitOfWork, request: Tell, number: int, metrics: Metrics) -> bool:
    """Answer a tell of a ticket that was told, where there is no window: the first one stands."""
    reward = checked(unit, request.reward, metrics)
    events, shown = unit.log.of_ticket(number), unit.shown(number)
    told = [event for event in events if event.kind == Kind.TOLD]
    if not told or was_returned(events):
        counted(unit, number, request.ticket)  # says what is wrong
    first = told[0]
    if first.reward != reward:
        now = f"now {reward!r}: the first one stands"
        raise TicketError(f"ticket {shown!r} was told {first.reward!r} already, and {now}")
    if together(before := told_in(first), metrics) != before:
        now = f"now {metrics}: the first ones stand"
        raise TicketError(f"ticket {shown!r} was told the metrics {before} already, and {now}")
    return False


def _tell_late(
    unit: UnitOfWork, request: Tell, number: int, metrics: Metrics, window: float
) -> bool:
    """Answer a tell after the window: what counted when it closed may be told once more, and
    nothing else. Corrections do not change that: a request has the same answer for ever.
    """
    if request.reward is not None:
        check_number(request.reward)
    outcome, _ = counted(unit, number, request.ticket, at_first=True)
    before = outcome.metrics or {}
    whole = together(before, metrics)
    is_told = not unit.state.book.accumulate and before == whole
    if is_told and outcome.reward == checked(unit, request.reward, whole):
        return False
    now, _ = counted(unit, number, request.ticket)
    since = "" if now.reward == outcome.reward else f" (since corrected: it {_as(now.reward)})"
    closed = when(outcome.time + window)
    told = f"its reward {request.reward!r} comes" if not metrics else "what is told comes"
    raise TicketError(
        f"the window of ticket {unit.shown(number)!r} closed at {closed}, and it "
        f"{_as(outcome.reward)}{since}: {told} too late "
        "(correct(ticket, reward, reason) corrects what counted)"
    )


def check_said(utility: Utility | None, reward: object, metrics: Metrics) -> None:
    """Refuse a reward beside a declared one, and nothing at all."""
    if utility is not None and reward is not None:
        remedy = f"tell the metrics {listing(utility.names)} alone"
        said = f"reward {reward!r} was told"
        raise RewardError(f"{said}, and the study's reward is {utility.text!r}: {remedy}")
    if utility is not None and not metrics:
        utility({})  # says what is missing
    if utility is None and reward is None:
        declared = "a study with open_study(…, reward='margin - 0.2*latency') needs none"
        raise RewardError(f"no reward was told: give one ({declared})")


def checked(unit: UnitOfWork, reward: float | None, metrics: Metrics) -> float:
    """Return the reward that was told, or else that of the metrics."""
    utility = unit.state.settings.reward
    if utility is None:
        return unit.check_reward(reward)
    try:
        return unit.check_reward(utility(metrics))
    except RewardError as error:
        declared = f"the study's reward is {utility.text!r}"
        shown = "" if utility.text in str(error) else f" ({declared} of {metrics})"
        if utility.lacks(metrics) and unit.state.book.window is None:
            shown = " (with window=… metrics may come one by one)"
        raise RewardError(f"{error}{shown}") from None


def _so_far(unit: UnitOfWork, before: Outcome, reward: float | None, metrics: Metrics) -> float:
    """Return what an open ticket would count as with this reward, or with these metrics."""
    if not unit.state.book.adds_rewards or before.reward is None:
        return checked(unit, reward, metrics)
    try:
        return unit.check_reward(before.reward + check_number(reward))
    except RewardError as error:
        was = f"{before.reward:g} was told before"
        raise RewardError(f"{error} ({was}, and {reward!r} now)") from None


# What is known of a ticket


def counted(
    unit: UnitOfWork, number: int, ticket: object, at_first: bool = False
) -> tuple[Outcome, float]:
    """Return what a ticket that is not open counts as now, or counted as `at_first`, before any
    correction; and when it first counted.
    """
    ask, events = unit.log.event(number), unit.log.of_ticket(number)
    settings = unit.state.settings
    if ask is None and unit.log.is_archived(number):
        raise archived(number)
    if ask is None or ask.kind != Kind.ASKED or (settings.window is None and not events):
        raise unknown(ticket, unit.name)
    if was_returned(events):
        shown = unit.shown(number)
        raise TicketError(f"ticket {shown!r} was given back unused, and has no reward")
    own = [event for event in events if event.kind != Kind.CORRECTED]
    first = own[-1].time if settings.window is None else ask.time + settings.window
    events = own if at_first else events
    return standing(settings, [ask, *events], unit.now).counted[number].outcome, first


def known(unit: UnitOfWork, key: str, number: int, reward: float | None, metrics: Metrics) -> bool:
    """Whether the same request was heard before under its idempotency key."""
    before = unit.log.keyed(key)
    if before is None:
        return False
    declared = unit.state.settings.reward is not None and bool(metrics)
    is_reward = declared or before.reward == reward
    if before.ticket != number or not is_reward or told_in(before) != metrics:
        was = f"{before.reward!r} of ticket {unit.shown(before.ticket or 0)!r}"
        given, _, _ = key.rpartition("/")
        raise SettingError(f"key={given!r} was given with {was} before: use a new key")
    return True


# Giving back


def give_back(unit: UnitOfWork, tickets: Sequence[object]) -> int:
    """Return how many of these tickets, asked for ahead and used for nobody, are given back, now or
    before; none goes where one was told. The study is then as if they had not been asked for, but
    for the draws of chance, which happened.
    """
    book = unit.state.book
    # without a window only what was told is corrected, and the tell may be archived
    of_told = (Kind.TOLD,) if book.window is not None else (Kind.TOLD, Kind.CORRECTED)
    out, before = [], 0
    for number in dict.fromkeys(map(unit.number_of, tickets)):
        events = unit.log.of_ticket(number)
        if any(event.kind in of_told for event in events):
            shown = unit.shown(number)
            raise TicketError(f"ticket {shown!r} was told, and cannot be given back any more")
        if book.is_open(number, unit.now):
            out.append(number)
        before += was_returned(events)
    for number in out:
        unit.write(Kind.RETURNED, arm=book.open[number].arm, ticket=number)
    return before + len(out)


def was_returned(events: Sequence[Event]) -> bool:
    """Whether a ticket was given back, by what happened to it."""
    return any(event.kind == Kind.RETURNED for event in events)


def check_number(reward: object) -> float:
    """A finite number, which may be one of several that add up to a reward."""
    try:
        number = float(reward) if isinstance(reward, (int, float, np.number)) else math.nan
    except (OverflowError, TypeError):  # a whole number beyond all floats, or a complex one
        number = math.nan
    if not math.isfinite(number):
        raise RewardError(f"reward {shown(reward)} is not allowed: it is not a finite number")
    return number + 0.0


def when(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")


def _as(reward: float | None) -> str:
    return "was forgotten" if reward is None else f"counted as {reward:g}"
