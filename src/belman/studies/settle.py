"""What is told of a ticket, told again while its window is open, and corrected after that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from belman.agent.learnt import Learnt
from belman.errors import RewardError, SettingError, TicketError
from belman.studies import corrections
from belman.studies.event_log import Event, Kind
from belman.studies.settings import Settings
from belman.studies.tickets import Ticket, unknown

if TYPE_CHECKING:
    from belman.studies.unit_of_work import Tell, UnitOfWork


def tell(unit: UnitOfWork, request: Tell) -> bool:
    """Whether the reward was news; raises TicketError where it contradicts what is known."""
    number = unit.number_of(request.ticket)
    tickets = unit.state.tickets
    if tickets.window is None:
        return _tell_once(unit, request, number)
    if request.key is not None and _known(unit, f"{request.key}/tell", number, request.reward):
        return False
    if tickets.is_open(number, unit.now):
        reward = _so_far(unit, number, request.reward)
        if not tickets.accumulate and tickets.answers.get(number) == reward:
            return False
        told = check_number(request.reward) if tickets.accumulate else reward
        key = None if request.key is None else f"{request.key}/tell"
        unit.write(Kind.TOLD, arm=tickets.asks[number][0], ticket=number, reward=told, key=key)
        return True
    check_number(request.reward)
    counted, ask = standing(unit, number, request.ticket), unit.event(number)
    if not tickets.accumulate and counted.reward == unit.check_reward(request.reward):
        return False
    assert ask is not None
    closed = _when(ask.time + tickets.window)
    raise TicketError(
        f"the window of ticket {unit.shown(number)!r} closed at {closed}, and it "
        f"{_as(counted.reward)}: its reward {request.reward!r} comes too late "
        "(correct(ticket, reward, reason) corrects what counted)"
    )


def _so_far(unit: UnitOfWork, number: int, reward: float) -> float:
    """What an open ticket would count as with this reward."""
    tickets = unit.state.tickets
    before = tickets.answers.get(number)
    if not tickets.accumulate or before is None:
        return unit.check_reward(reward)
    try:
        return unit.check_reward(tickets.together(number, check_number(reward)))
    except RewardError as error:
        raise RewardError(f"{error} ({before:g} was told before, and {reward!r} now)") from None


def _tell_once(unit: UnitOfWork, request: Tell, number: int) -> bool:
    """The first reward stands, and counts at once."""
    reward = unit.check_reward(request.reward)
    out = unit.state.tickets.asks.get(number)
    if out is not None:
        unit.write(Kind.TOLD, arm=out[0], ticket=number, reward=reward)
        return True
    first = next(iter(unit.of_ticket(number)), None)
    if first is None:
        raise unknown(request.ticket, unit.name)
    shown = unit.shown(number)
    if first.kind == Kind.EXPIRED:
        late = f"its reward {reward:g} comes too late"
        how = _as(first.reward, "was counted as")
        raise TicketError(f"ticket {shown!r} expired at {_when(first.time)} and {how}: {late}")
    if first.reward != reward:
        now = f"now {reward!r}: the first one stands"
        raise TicketError(f"ticket {shown!r} was told {first.reward!r} already, and {now}")
    return False


def correct(
    unit: UnitOfWork, ticket: str | Ticket, reward: float | None, reason: str, key: str | None
) -> bool:
    """Whether another reward for a ticket that counted is a change; None forgets the ticket."""
    number = unit.number_of(ticket)
    new = None if reward is None else unit.check_reward(reward)
    keyed = None if key is None else f"{key}/correct"
    if keyed is not None and _known(unit, keyed, number, new):
        return False
    tickets = unit.state.tickets
    if tickets.is_open(number, unit.now):
        shown = unit.shown(number)
        until = "" if tickets.window is None else _when(tickets.asks[number][1] + tickets.window)
        still = f"is open until {until}" if until else "was not told yet"
        raise TicketError(f"ticket {shown!r} {still}, and has nothing to correct: tell its reward")
    counted = standing(unit, number, ticket)
    if counted.reward == new:
        return False
    assert counted.arm is not None
    unit.dirty = True
    unit.state.close(unit.now)  # the event that follows has this time
    learnt = _learnt(unit, counted, new)
    body = corrections.body(reason, counted.reward, learnt)
    unit.write(Kind.CORRECTED, arm=counted.arm, ticket=number, reward=new, key=keyed, body=body)
    return True


def _learnt(unit: UnitOfWork, counted: Event, new: float | None) -> Learnt:
    """What is learnt of the ticket's arm if it counts as this."""
    state, arm = unit.state, counted.arm
    assert arm is not None
    agent, now = state.agent, state.learnt(arm)
    if state.settings.discount == 1.0:
        old, put = (None if x is None else agent.scale.inward(x) for x in (counted.reward, new))
        if found := corrections.swapped(agent.family, now, old, put):
            return found
    counts = {event.ticket: event.reward for event in unit.corrections()}
    counts[counted.ticket] = new
    found = corrections.refolded(
        state.settings, agent.scale, agent.family, arm, now.prior, unit.log(), unit.now, counts
    )
    return found._replace(pending=now.pending)


def standing(unit: UnitOfWork, number: int, ticket: object) -> Event:
    """What a ticket counts as now and since when, as an event that tells it."""
    events = unit.of_ticket(number)
    settings = unit.state.settings
    ask = unit.event(number)
    if ask is None or ask.kind != Kind.ASKED or (settings.window is None and not events):
        raise unknown(ticket, unit.name)
    return counted_as(settings, ask, events)


def counted_as(settings: Settings, ask: Event, events: Sequence[Event]) -> Event:
    """What a closed ticket counts as, by all that was told of it and how it was corrected."""
    told = [event for event in events if event.kind != Kind.CORRECTED]
    corrected = [event for event in events if event.kind == Kind.CORRECTED]
    if corrected:
        return corrected[-1]
    if settings.window is None:
        return told[0]
    rewards = [event.reward or 0.0 for event in told]
    last = sum(rewards) if settings.accumulate else rewards[-1] if rewards else None
    reward = settings.silence if not told else last
    closed = ask._replace(time=ask.time + settings.window, ticket=ask.number, reward=reward)
    return closed._replace(kind=int(Kind.TOLD))


def _known(unit: UnitOfWork, key: str, number: int, reward: float | None) -> bool:
    """Whether the same request was heard before under its idempotency key."""
    before = unit.keyed(key)
    if before is None:
        return False
    if before.ticket != number or before.reward != reward:
        was = f"{before.reward!r} of ticket {unit.shown(before.ticket or 0)!r}"
        given, _, _ = key.rpartition("/")
        raise SettingError(f"key={given!r} was given with {was} before: use a new key")
    return True


def check_number(reward: object) -> float:
    """A finite number, which may be one of several that add up to a reward."""
    is_number = isinstance(reward, (int, float, np.number)) and math.isfinite(reward)
    if not is_number:
        raise RewardError(f"reward {reward!r} cannot be: it is no finite number")
    return float(reward) + 0.0  # type: ignore[arg-type]


def _when(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")


def _as(reward: float | None, counted: str = "counted as") -> str:
    return "was forgotten" if reward is None else f"{counted} {reward:g}"
