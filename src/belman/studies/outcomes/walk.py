"""A walk over a log: what every outcome counts as, in the order in which that happened.

Replays, reports by segment, lines of an export and corrections all go by it, so that none of them
has a rule of its own for what counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import Book, Counted
from belman.studies.settings import StudySettings

_ABOUT_TICKETS = (Kind.TOLD, Kind.RETURNED, Kind.ACTIVATED)


class Step(NamedTuple):
    """An event (None at the end of the log) with its body, what counted by the passage of time
    before it, and what counts on its account.
    """

    event: Event | None
    body: Mapping[str, Any]
    closed: list[Counted]
    counted: list[Counted]


def walk(
    settings: StudySettings, events: Iterable[Event], now: float, after: int = 0
) -> Iterator[Step]:
    """Yield the events of a log, each with what counted, and at last what has closed by now.

    A log may be read from its middle: steps up to the event `after` are left out, and so is what
    was told of tickets that had closed when the reading began.
    """
    book = Book().under(settings)
    for event in events:
        body = event.content
        if event.kind in _ABOUT_TICKETS and event.ticket not in book.open:
            continue
        step = Step(event, body, book.close(event.time), book.take(event, body))
        if event.number > after:
            yield step
    yield Step(None, {}, book.close(now), [])


class Standing(NamedTuple):
    """What the outcomes of a log count as, corrections included, by key; the rewards of tickets
    whose outcome counts; and the tickets that are out, or were given back.
    """

    counted: dict[Any, Counted]
    rewards: dict[int, float]
    out: set[int]
    returned: set[int]


def standing(settings: StudySettings, events: Iterable[Event], now: float) -> Standing:
    """Return what stands at the end of a log."""
    result = Standing({}, {}, set(), set())
    for event, body, closed, own in walk(settings, events, now):
        for one in (*closed, *own):
            if one.key is not None:
                result.counted[one.key] = one
                result.out.discard(one.key)
        if event is None:
            break
        if event.kind == Kind.ASKED:
            result.out.add(event.number)
        elif event.kind == Kind.RETURNED:
            result.returned.add(event.ticket or 0)
            result.out.discard(event.ticket or 0)
        elif event.kind == Kind.CORRECTED:
            result.counted[event.ticket] = corrected(result.counted[event.ticket], event, body)
    for key, one in result.counted.items():
        if type(key) is int and one.outcome.reward is not None:
            result.rewards[key] = one.outcome.reward
    return result


def corrected(before: Counted, event: Event, body: Mapping[str, Any]) -> Counted:
    """Return what an outcome counts as by the event of a correction."""
    metrics = {**body.get("metrics_before", {}), **body.get("metrics", {})}
    result = before.outcome._replace(reward=event.reward, metrics=dict(sorted(metrics.items())))
    return before._replace(outcome=result, time=event.time)
