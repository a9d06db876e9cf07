"""The tickets that are out, and the moment at which each of them counts.

Without a window a ticket counts when it is told. With one it is open for that long after its ask,
may be told again meanwhile, and counts when its window closes: with what was told by then, or as
the study's `silence` says. Closing is no event, it is the passage of time: the times of a study's
events never go back, and before one of time t is folded, every window that closes at or before t is
closed, in the order of the asks.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from belman.studies.log.chain import mark
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules.metrics import Metrics, check_metrics, together, told_in
from belman.studies.settings import StudySettings
from belman.studies.tickets.runs import run_out, runs


class Counted(NamedTuple):
    """What a ticket (None for past data) counted as, None if forgotten, and when; `silent` where
    nobody had told it.
    """

    ticket: int | None
    arm: int
    reward: float | None
    time: float
    silent: bool
    metrics: Metrics = {}  # noqa: RUF012 (nobody changes it)
    mark: bytes = b""


class OpenTickets:
    """Tickets in the order of their asks, which is that in which their windows close."""

    def __init__(self, settings: StudySettings) -> None:
        self.window, self.silence = settings.window, settings.silent_reward
        self.accumulate = settings.accumulate
        self.asks: OrderedDict[int, tuple[int, float]] = OrderedDict()  # (place, time of the ask)
        self.marks: dict[int, bytes] = {}  # as their events bear them
        self.answers: dict[int, float] = {}  # what was told so far, under a window
        self.adds_rewards = settings.accumulate and settings.reward is None
        self.metrics: dict[int, Metrics] = {}  # what was told so far of those with an answer
        self.silent: dict[int, dict[int, float]] = {}  # by arm: the others, with their ask times
        self.time = 0.0  # of the last event

    def take(self, event: Event) -> list[Counted]:
        """Let an event happen: what counts on its account, and what its time closed before it."""
        counted = self.close(event.time)
        self.time = event.time
        kind, arm = event.kind, event.arm
        if kind == Kind.ASKED:
            assert arm is not None
            self._open(event.number, (arm, event.time), mark(event))
        elif kind == Kind.TOLD:
            assert arm is not None
            assert event.ticket is not None
            if self.window is None:
                del self.asks[event.ticket]
                del self.marks[event.ticket]
                told = told_in(event)
                counted.append(Counted(event.ticket, arm, event.reward, event.time, False, told))
            else:
                assert event.reward is not None
                self.answer(event.ticket, self.together(event.ticket, event.reward))
                if told := told_in(event):
                    self.metrics[event.ticket] = self.metrics_together(event.ticket, told)
        elif kind == Kind.RETURNED:
            assert arm is not None
            assert event.ticket is not None
            del self.asks[event.ticket]
            del self.marks[event.ticket]
            self.silent.get(arm, {}).pop(event.ticket, None)
        elif kind == Kind.RECORDED:
            assert arm is not None
            counted.append(Counted(None, arm, event.reward, event.time, False))
        return counted

    def open_all(self, asks: Sequence[Event]) -> None:
        """Let asks happen of one moment, which has come already, that bear one mark."""
        own, alike = mark(asks[0]), dict[int, tuple[int, float]]()  # shared, since they are many
        for event in asks:
            assert event.arm is not None
            self._open(event.number, alike.setdefault(event.arm, (event.arm, event.time)), own)

    def _open(self, number: int, ask: tuple[int, float], mark: bytes) -> None:
        self.asks[number] = ask
        self.marks[number] = mark
        if self.window is not None:
            self.silent.setdefault(ask[0], {})[number] = ask[1]

    def together(self, number: int, reward: float) -> float:
        """What an open ticket would count as, were this told of it now."""
        return self.answers.get(number, 0.0) + reward if self.adds_rewards else reward

    def metrics_together(self, number: int, metrics: Metrics) -> Metrics:
        """The metrics of an open ticket, were these told of it now."""
        return together(self.metrics.get(number, {}), metrics, add=self.accumulate)

    def answer(self, number: int, reward: float) -> None:
        """Keep what an open ticket would count as."""
        self.silent[self.asks[number][0]].pop(number, None)
        self.answers[number] = reward

    def is_open(self, number: int, now: float) -> bool:
        """Whether a ticket is out and its window, if there is one, has not closed."""
        ask = self.asks.get(number)
        return ask is not None and (self.window is None or ask[1] + self.window > now)

    def closing(self, now: float) -> Iterator[tuple[int, tuple[int, float]]]:
        """The tickets whose windows close by now, with the arm and the time of their asks."""
        window = math.inf if self.window is None else self.window
        return takewhile(lambda ask: ask[1][1] + window <= now, self.asks.items())

    def due(self, now: float) -> list[Counted]:
        """What the windows that close by now count as; nothing is changed by looking."""
        window = self.window
        if window is None:
            return []
        return [
            Counted(
                number,
                arm,
                self.answers.get(number, self.silence),
                time + window,
                number not in self.answers,
                self.metrics.get(number, {}),
                self.marks[number],
            )
            for number, (arm, time) in self.closing(now)
        ]

    def close(self, now: float) -> list[Counted]:
        """Close every window that is due: what its ticket counts as."""
        closed = self.due(now)
        for one in closed:
            assert one.ticket is not None
            del self.asks[one.ticket]
            del self.marks[one.ticket]
            if one.silent:
                del self.silent[one.arm][one.ticket]
            else:
                del self.answers[one.ticket]
                self.metrics.pop(one.ticket, None)
        return closed

    def copied(self) -> OpenTickets:
        """The same, to go its own way."""
        other = object.__new__(OpenTickets)
        vars(other).update(vars(self))
        other.asks, other.answers = self.asks.copy(), self.answers.copy()
        other.metrics, other.marks = self.metrics.copy(), self.marks.copy()
        other.silent = {arm: asks.copy() for arm, asks in self.silent.items()}
        return other

    # Snapshots

    def to_plain(self) -> dict[str, Any]:
        """For a snapshot; without a window just what is out."""
        steps = (number - i for i, number in enumerate(self.asks))
        marks = (self.marks[number].hex() for number in self.asks)
        asks: dict[str, Any] = {
            "outstanding": {
                "numbers": runs(steps),  # each less its place, so that neighbours are alike
                "arms": [arm for arm, _ in self.asks.values()],
                "times": runs(time for _, time in self.asks.values()),
                "marks": runs(marks),
            }
        }
        if self.window is None:
            return asks
        answers = list(map(list, self.answers.items()))
        metrics = {"told_metrics": list(map(list, self.metrics.items()))} if self.metrics else {}
        return {**asks, "answers": answers, **metrics, "time": self.time}

    def from_plain(self, content: dict[str, Any]) -> None:
        """Take over what `to_plain` gave."""
        asks = content["outstanding"]
        arms = asks["arms"]
        columns = (run_out(asks[name], len(arms)) for name in ("numbers", "times", "marks"))
        for i, (arm, step, time, own) in enumerate(zip(arms, *columns, strict=True)):
            self._open(step + i, (arm, time), bytes.fromhex(own))
        for number, reward in content.get("answers", ()):
            self.answer(number, reward)
        told = content.get("told_metrics", ())
        self.metrics = {number: check_metrics(metrics) for number, metrics in told}
        self.time = content.get("time", 0.0)


def what_counted(
    settings: StudySettings, events: Iterable[Event], now: float
) -> tuple[dict[int, float], set[int]]:
    """What every ticket of a log counts as, corrections included, and which tickets are out."""
    tickets, rewards = OpenTickets(settings), dict[int, float | None]()
    for event in events:
        rewards |= {one.ticket: one.reward for one in tickets.take(event) if one.ticket is not None}
        if event.kind == Kind.CORRECTED and event.ticket is not None:
            rewards[event.ticket] = event.reward
    rewards |= {one.ticket: one.reward for one in tickets.close(now) if one.ticket is not None}
    counted = {ticket: reward for ticket, reward in rewards.items() if reward is not None}
    return counted, set(tickets.asks)


def counted_between(
    settings: StudySettings, events: Iterable[Event], after: int, now: float
) -> Iterator[Event | Counted]:
    """The events that follow a number, and in their midst what tickets counted as, up to now.

    The events given begin early enough for every ask whose window was open then.
    """
    tickets = OpenTickets(settings)
    for event in events:
        about_ticket = event.kind in (Kind.TOLD, Kind.RETURNED)
        if about_ticket and event.ticket not in tickets.asks:
            continue  # of a ticket that has closed by then
        counted = tickets.take(event)
        if event.number > after:
            yield from (one for one in counted if one.ticket is not None)
            yield event
    yield from tickets.close(now)
