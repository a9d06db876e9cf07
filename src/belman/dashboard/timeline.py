"""The past of a study in a few hundred points: who got the traffic, and what it earned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.studies import Event, Kind, Settings
from belman.studies.corrections import change
from belman.studies.open_tickets import Counted, OpenTickets

MAX_POINTS = 240  # points that are kept of a series
MAX_SHARES = 48  # points of the shares, so that each stands for enough decisions


class Shares(NamedTuple):
    """The share of each arm of the register in the decisions between one point and the next."""

    decisions: NDArray[np.int64]  # (n)
    share: NDArray[np.float64]  # (n, K)


class Timeline:
    """Takes in events as they come, and keeps two series that grow coarser as they grow longer.

    A point stands for `stride` decisions (or rewards); when there are more than `MAX_POINTS`,
    neighbours become one.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        windowed = settings is not None and settings.window is not None
        self._tickets = OpenTickets(settings) if windowed and settings is not None else None
        self._due: list[float] = []  # what windows that closed since the last event have earned
        self.number = 0
        self.asked: NDArray[np.int64] = np.zeros(0, dtype=np.int64)  # (K) by place in the register
        self._asks: list[NDArray[np.int64]] = []
        self._open = np.zeros(0, dtype=np.int64)
        self._stride = 1
        self.rewards = 0
        self.earned = 0.0
        self._points: list[tuple[int, float]] = []
        self._step = 1

    def take(self, events: Iterable[Event], now: float = 0.0) -> None:
        """Take in the events that follow number `self.number`, and what windows closed by now."""
        for event in events:
            self.number = event.number
            if event.kind == Kind.ASKED and event.arm is not None:
                self._ask(event.arm)
            for reward in self._counted(event):
                self._earn(reward)
            if event.kind == Kind.CORRECTED:
                self.earned += change(event)
        self._due = [] if self._tickets is None else _rewards(self._tickets.due(now))

    def _counted(self, event: Event) -> list[float]:
        """What counts with an event, past data aside."""
        if self._tickets is not None:
            return _rewards(self._tickets.take(event))
        told = event.kind in (Kind.TOLD, Kind.EXPIRED) and event.reward is not None
        return [event.reward] if told and event.reward is not None else []

    def _ask(self, place: int) -> None:
        if place >= len(self.asked):
            self.asked = _grown(self.asked, place + 1)
            self._open = _grown(self._open, place + 1)
        self.asked[place] += 1
        self._open[place] += 1
        if self._open.sum() == self._stride:
            self._asks.append(self._open)
            self._open = np.zeros_like(self._open)
            if len(self._asks) > MAX_POINTS:
                last = len(self._asks) - len(self._asks) % 2
                pairs = zip(self._asks[:last:2], self._asks[1:last:2], strict=True)
                rest = self._asks[last:]
                self._asks = [_grown(first, len(second)) + second for first, second in pairs]
                self._stride *= 2
                for counts in rest:
                    self._open = _grown(counts, len(self._open)) + self._open

    def _earn(self, reward: float) -> None:
        self.rewards += 1
        self.earned += reward
        if self.rewards % self._step == 0:
            self._points.append((self.rewards, self.earned))
            if len(self._points) > MAX_POINTS:
                self._step *= 2
                self._points = [point for point in self._points if point[0] % self._step == 0]

    def shares(self) -> Shares:
        """The share of every arm, point by point; the last point may stand for fewer decisions."""
        counts = [*self._asks, *([self._open] if self._open.any() else [])]
        if not counts:
            return Shares(np.zeros(0, dtype=np.int64), np.zeros((0, len(self.asked))))
        table = np.array([_grown(row, len(self.asked)) for row in counts])
        starts = np.arange(0, len(table), -(-len(table) // MAX_SHARES))
        table = np.add.reduceat(table, starts, axis=0)
        totals = table.sum(axis=1)
        return Shares(np.cumsum(totals), table / totals[:, None])

    def earnings(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(rewards told, their sum) from the beginning to now."""
        points = [(0, 0.0), *self._points]
        last = (self.rewards + len(self._due), self.earned + sum(self._due))
        if points[-1] != last:
            points.append(last)
        return np.array([count for count, _ in points]), np.array([total for _, total in points])


def _rewards(counted: Iterable[Counted]) -> list[float]:
    return [one.reward for one in counted if one.reward is not None and one.ticket is not None]


def _grown(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    more = max(size - len(counts), 0)
    return np.concatenate([counts, np.zeros(more, dtype=np.int64)]) if more else counts
