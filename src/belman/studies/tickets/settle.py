"""What is told of a ticket, told again while its window is open, and corrected after that."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from belman.agent.learnt import Learnt
from belman.errors import RewardError, SettingError, TicketError, listing
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules import guards
from belman.studies.rules.metrics import Metrics, check_values, together, told_in
from belman.studies.rules.metrics import body as metrics_body
from belman.studies.rules.utility import Utility
from belman.studies.settings import StudySettings
from belman.studies.tickets import corrections
from belman.studies.tickets.returns import check_used
from belman.studies.tickets.ticket import unknown

if TYPE_CHECKING:
    from belman.studies.unit_of_work import Tell, UnitOfWork


def tell(unit: UnitOfWork, request: Tell) -> bool:
    """Whether the reward was news; raises TicketError where it contradicts what is known."""
    number = unit.number_of(request.ticket)
    tickets, metrics = unit.state.tickets, unit.check_metrics(request.metrics)
    _check_said(unit.state.settings.reward, request.reward, metrics)
    if tickets.window is None:
        return _tell_once(unit, request, number, metrics)
    key = None if request.key is None else f"{request.key}/tell"
    if key is not None and _known(unit, key, number, request.reward, metrics):
        return False
    if not tickets.is_open(number, unit.now):
        return _tell_late(unit, request, number, metrics)
    whole = check_values(tickets.metrics_together(number, metrics))
    guards.check_values(unit.state.settings.guard, whole)
    reward = _so_far(unit, number, request.reward, whole)
    is_same = tickets.answers.get(number) == reward and tickets.metrics.get(number, {}) == whole
    if is_same and not tickets.accumulate:
        return False
    _check_reach(unit, number, reward)
    told = check_number(request.reward) if tickets.adds_rewards else reward
    arm, text = tickets.asks[number][0], metrics_body(metrics)
    unit.write(Kind.TOLD, arm=arm, ticket=number, reward=told, key=key, body=text)
    return True


def _tell_late(unit: UnitOfWork, request: Tell, number: int, metrics: Metrics) -> bool:
    """After the window what counted may be told once more, and nothing else."""
    if request.reward is not None:
        check_number(request.reward)
    tickets, counted = unit.state.tickets, standing(unit, number, request.ticket)
    ask, before = unit.log.event(number), _standing_metrics(unit, number)
    whole = together(before, metrics)
    is_told = not tickets.accumulate and before == whole
    if is_told and counted.reward == _checked(unit, request.reward, whole):
        return False
    assert ask is not None
    assert tickets.window is not None
    closed = _when(ask.time + tickets.window)
    told = f"its reward {request.reward!r} comes" if not metrics else "what is told comes"
    raise TicketError(
        f"the window of ticket {unit.shown(number)!r} closed at {closed}, and it "
        f"{_as(counted.reward)}: {told} too late "
        "(correct(ticket, reward, reason) corrects what counted)"
    )


def _check_said(utility: Utility | None, reward: object, metrics: Metrics) -> None:
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


def _checked(unit: UnitOfWork, reward: float | None, metrics: Metrics) -> float:
    """The reward that was told, or else that of the metrics."""
    utility = unit.state.settings.reward
    if utility is None:
        return unit.check_reward(reward)
    try:
        return unit.check_reward(utility(metrics))
    except RewardError as error:
        declared = f"the study's reward is {utility.text!r}"
        shown = "" if utility.text in str(error) else f" ({declared} of {metrics})"
        raise RewardError(f"{error}{shown}") from None


def _so_far(unit: UnitOfWork, number: int, reward: float | None, metrics: Metrics) -> float:
    """What an open ticket would count as with this reward, or with these metrics."""
    tickets = unit.state.tickets
    before = tickets.answers.get(number)
    if not tickets.adds_rewards or before is None:
        return _checked(unit, reward, metrics)
    try:
        return unit.check_reward(tickets.together(number, check_number(reward)))
    except RewardError as error:
        raise RewardError(f"{error} ({before:g} was told before, and {reward!r} now)") from None


def _tell_once(unit: UnitOfWork, request: Tell, number: int, metrics: Metrics) -> bool:
    """The first reward stands, and counts at once."""
    reward = _checked(unit, request.reward, metrics)
    out = unit.state.tickets.asks.get(number)
    if out is not None:
        _check_reach(unit, number, reward)
        text = metrics_body(metrics)
        unit.write(Kind.TOLD, arm=out[0], ticket=number, reward=reward, body=text)
        return True
    first = next(iter(unit.log.of_ticket(number)), None)
    if first is None:
        raise unknown(request.ticket, unit.name)
    shown = unit.shown(number)
    check_used([first], shown)
    if first.reward != reward:
        now = f"now {reward!r}: the first one stands"
        raise TicketError(f"ticket {shown!r} was told {first.reward!r} already, and {now}")
    if together(before := told_in(first), metrics) != before:
        now = f"now {metrics}: the first ones stand"
        raise TicketError(f"ticket {shown!r} was told the metrics {before} already, and {now}")
    return False


def _check_reach(unit: UnitOfWork, number: int, reward: float) -> None:
    """Refuse a reward of a ticket, out or closed, that could not be learnt."""
    contexts, asks = unit.state.contexts, unit.state.tickets.asks
    ask = None if number in asks else unit.log.event(number)
    place = asks[number][0] if ask is None else ask.arm
    assert place is not None
    asked = None if contexts is None else contexts.asked(number if ask is None else None, ask)
    unit.state.check_reward(place, reward, asked)


def correct(unit: UnitOfWork, request: Tell, reason: str) -> bool:
    """Whether another reward for a ticket that counted is a change; None forgets the ticket, or
    with metrics leaves it to them what it counts as, where the study's reward is declared so.
    """
    ticket, reward, key, _ = request
    number = unit.number_of(ticket)
    metrics, utility = unit.check_metrics(request.metrics), unit.state.settings.reward
    if utility is not None and reward is not None:
        _check_said(utility, reward, metrics)
    if utility is None and reward is None and metrics:
        raise RewardError(f"a ticket that is forgotten has no metrics, and {metrics} were given")
    new = None if reward is None else unit.check_reward(reward)
    keyed = None if key is None else f"{key}/correct"
    if keyed is not None and _known(unit, keyed, number, new, metrics):
        return False
    tickets = unit.state.tickets
    if tickets.is_open(number, unit.now):
        shown = unit.shown(number)
        until = "" if tickets.window is None else _when(tickets.asks[number][1] + tickets.window)
        still = f"is open until {until}" if until else "was not told yet"
        raise TicketError(f"ticket {shown!r} {still}, and has nothing to correct: tell its reward")
    counted, before = standing(unit, number, ticket), _standing_metrics(unit, number)
    whole = together(before, metrics)
    if utility is not None and metrics:
        new = _checked(unit, None, whole)
    if counted.reward == new and before == whole:
        return False
    assert counted.arm is not None
    if new is not None:
        _check_reach(unit, number, new)
    unit.dirty = True
    unit.state.close(unit.now)  # the event that follows has this time
    learnt, by_context = _learnt(unit, counted, new), _learnt_by_context(unit, counted, new)
    body = corrections.body(reason, counted.reward, learnt, metrics, before, by_context)
    unit.write(Kind.CORRECTED, arm=counted.arm, ticket=number, reward=new, key=keyed, body=body)
    return True


def _learnt(unit: UnitOfWork, counted: Event, new: float | None) -> Learnt:
    """What is learnt of the ticket's arm if it counts as this."""
    state, arm = unit.state, counted.arm
    assert arm is not None
    agent, now = state.agent, state.learnt(arm)
    if counted.reward == new:
        return now
    if state.settings.discount == 1.0:
        old, put = (None if x is None else agent.scale.inward(x) for x in (counted.reward, new))
        if found := corrections.swapped(agent.family, now, old, put):
            return found
    if state.publishing.observed[arm]:
        why = "it has outcomes in bulk, of which the log keeps the sums"
        raise TicketError(
            f"a reward of arm {state.register[arm]!r} cannot be corrected so far: {why}"
        )
    counts = {event.ticket: event.reward for event in unit.log.corrections()}
    counts[counted.ticket] = new
    found = corrections.refolded(
        state.settings,
        agent.scale,
        agent.family,
        arm,
        now.prior,
        unit.log.after(),
        unit.now,
        counts,
    )
    return found._replace(pending=now.pending)


def _learnt_by_context(
    unit: UnitOfWork, counted: Event, new: float | None
) -> dict[str, Any] | None:
    """What is learnt by context if a ticket counts as this, from the whole log; None where there
    are no contexts, or nothing changes.
    """
    state = unit.state
    if state.contexts is None or counted.reward == new:
        return None
    if any(state.publishing.observed):
        why = "it has outcomes in bulk, of which the log keeps the sums"
        raise TicketError(f"a reward of study {unit.name!r} cannot be corrected so far: {why}")
    counts = {event.ticket: event.reward for event in unit.log.corrections()}
    counts[counted.ticket] = new
    return corrections.refolded_contexts(
        state.settings, unit.log.after(), unit.now, counts
    ).learnt()


def standing(unit: UnitOfWork, number: int, ticket: object) -> Event:
    """What a ticket counts as now and since when, as an event that tells it."""
    events = unit.log.of_ticket(number)
    settings = unit.state.settings
    ask = unit.log.event(number)
    if ask is None or ask.kind != Kind.ASKED or (settings.window is None and not events):
        raise unknown(ticket, unit.name)
    check_used(events, unit.shown(number))
    return counted_as(settings, ask, events)


def counted_as(settings: StudySettings, ask: Event, events: Sequence[Event]) -> Event:
    """What a closed ticket counts as, by all that was told of it and how it was corrected."""
    told = [event for event in events if event.kind != Kind.CORRECTED]
    corrected = [event for event in events if event.kind == Kind.CORRECTED]
    if corrected:
        return corrected[-1]
    if settings.window is None:
        return told[0]
    rewards = [event.reward or 0.0 for event in told]
    adds = settings.accumulate and settings.reward is None
    last = sum(rewards) if adds else rewards[-1] if rewards else None
    reward = settings.silent_reward if not told else last
    closed = ask._replace(time=ask.time + settings.window, ticket=ask.number, reward=reward)
    return closed._replace(kind=int(Kind.TOLD))


def _standing_metrics(unit: UnitOfWork, number: int) -> Metrics:
    """The metrics of a closed ticket, by all that was told of it and how it was corrected."""
    whole: Metrics = {}
    for event in unit.log.of_ticket(number):
        add = unit.state.settings.accumulate and event.kind != Kind.CORRECTED
        whole = together(whole, told_in(event), add)
    return whole


def _known(unit: UnitOfWork, key: str, number: int, reward: float | None, metrics: Metrics) -> bool:
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


def check_number(reward: object) -> float:
    """A finite number, which may be one of several that add up to a reward."""
    try:
        number = float(reward) if isinstance(reward, (int, float, np.number)) else math.nan
    except (OverflowError, TypeError):  # a whole number beyond all floats, or a complex one
        number = math.nan
    if not math.isfinite(number):
        raise RewardError(
            f"reward {reprlib.repr(reward)} is not allowed: it is not a finite number"
        )
    return number + 0.0


def _when(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")


def _as(reward: float | None) -> str:
    return "was forgotten" if reward is None else f"counted as {reward:g}"
