"""Outcomes in bulk as the asks that they stand for: arm, chance and reward of every unit.

The log keeps how often every reward came of a version and an arm, or their sums, which say as much
of coins. Units of a version are assigned by a hash, each for itself, with the weights of the
version as their chances; so their order tells nothing, and is drawn. Of rows in contexts it keeps
each, with the chances that it had. Rows whose window is open are left out, told or not, as tickets
are.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from belman import chance, codec
from belman.assignment import Weights
from belman.deciders import Draw
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import CONTEXT, Counted, Outcome
from belman.studies.outcomes.bulk import Bulk, Group
from belman.studies.outcomes.walk import walk
from belman.studies.requests.row_corrections import corrected_in
from belman.studies.settings import StudySettings
from belman.studies.traffic.publishing import version_in

#: Rows that are asks, at most; of more than these so many are drawn.
MOST_ROWS = 100_000
_ROUNDING = 1e-9
_FIRST = 2**40  # number of an ask that was none: beyond those of a log


class _Cell(NamedTuple):
    """Rows that are alike; in place of a version perhaps logged chances of all arms, by place."""

    version: int | tuple[float, ...] | None
    arm: int
    reward: float


class BulkRows:
    """What came in bulk of a log up to now: how many outcomes, their sum, and how many of them have
    rewards that the log does not tell one by one.
    """

    def __init__(self, settings: StudySettings, events: Iterable[Event], now: float) -> None:
        self.n, self.total, self.untold = 0, 0.0, 0
        self._ends = settings.range or (0.0, 1.0)
        self._coin = settings.family.coin
        self._cells = Counter[_Cell]()
        self._in_contexts: list[tuple[int, Outcome]] = []  # by version, or event that brought it
        self._first: dict[tuple[float, ...], Event] = {}  # that brought outcomes with such chances
        self._event: Event | None = None
        self._positions = {arm: position for position, arm in enumerate(settings.arms)}
        self._versions: dict[int, tuple[Event, Weights]] = {}
        for event, body, closed, counted in walk(settings, events, now):
            for one in (*closed, *counted):
                self._close(one)
            if event is not None:
                self._event = event
                self._take(event, body)

    def asks(self, seed: int) -> dict[int, list[tuple[Event, float]]]:
        """By version: the asks of units to which every arm could fall, with what came of each."""
        words = np.random.default_rng(chance.generator(seed, 2))
        cells = [cell for cell, count in self._cells.items() if count > 0 and self._usable(cell)]
        counts = np.array([self._cells[cell] for cell in cells], dtype=np.int64)
        if counts.sum() > MOST_ROWS:
            counts = words.multivariate_hypergeometric(counts, MOST_ROWS)
        by_version: dict[Any, list[_Cell]] = {}
        for cell, count in zip(cells, counts.tolist(), strict=True):
            if cell.version is not None and count:
                by_version.setdefault(cell.version, []).extend([cell] * count)
        result: dict[int, list[tuple[Event, float]]] = {}
        number = _FIRST
        for version, rows in sorted(by_version.items(), key=lambda one: self._at(one[0])):
            order = words.permutation(len(rows))
            there = result.setdefault(self._at(version)[0], [])
            there += self._asked(version, (rows[i] for i in order), number)
            number += len(rows)
        own = self._in_contexts
        if len(own) > MOST_ROWS:
            own = [own[i] for i in sorted(words.permutation(len(own))[:MOST_ROWS])]
        for at, (version, outcome) in enumerate(own, start=number):
            result.setdefault(version, []).append(self._asked_in(version, outcome, at))
        return result

    def _asked_in(self, version: int, outcome: Outcome, number: int) -> tuple[Event, float]:
        """The ask of a row in its context."""
        chance = (outcome.chances or ())[outcome.arm]
        asked = (number, Kind.ASKED, outcome.time, outcome.arm)
        body = None if outcome.context is None else json.dumps({CONTEXT: outcome.context})
        return Event(*asked, int(Draw.RANDOM), chance, body=body), outcome.reward or 0.0

    def _usable(self, cell: _Cell) -> bool:
        return cell.version is not None and min(self._chances(cell.version).values()) > 0.0

    def _chances(self, version: int | tuple[float, ...]) -> dict[int, float]:
        """The chance of every arm, by its place."""
        if isinstance(version, tuple):
            return dict(enumerate(version))
        weights = self._versions[version][1]
        positions = (self._positions[arm] for arm in weights.arms)
        return dict(zip(positions, weights.weights, strict=True))

    def _at(self, version: int | tuple[float, ...]) -> tuple[int, tuple[float, ...]]:
        """The event that rows of a version follow, and what tells them apart from others there."""
        if isinstance(version, tuple):
            return self._first[version].number, version
        return version, ()

    def _asked(
        self, version: int | tuple[float, ...], rows: Iterable[_Cell], first: int
    ) -> Iterator[tuple[Event, float]]:
        by_chances = isinstance(version, tuple)
        event = self._first[version] if by_chances else self._versions[version][0]  # type: ignore[index]
        chances = self._chances(version)
        even = max(chances.values()) - min(chances.values()) <= _ROUNDING
        draw = int(Draw.UNIFORM if even else Draw.RANDOM)
        context = None if by_chances else event.content.get(CONTEXT)
        body = None if context is None else json.dumps({CONTEXT: context})
        for number, row in enumerate(rows, start=first):
            asked = Event(
                number, Kind.ASKED, event.time, row.arm, draw, chances[row.arm], body=body
            )
            yield asked, row.reward

    def average_with(self, rewards: Iterable[float]) -> float:
        """What a study earned per reward, of tickets and in bulk."""
        told = list(rewards)
        return (math.fsum(told) + self.total) / max(len(told) + self.n, 1)

    # The log

    def _take(self, event: Event, body: Mapping[str, Any]) -> None:
        if event.kind == Kind.ARM_ADDED and event.arm == len(self._positions):
            self._positions[codec.decode_arm(body["name"])] = len(self._positions)
        elif event.kind == Kind.PUBLISHED:
            self._versions[event.number] = (event, version_in(event, event.number))
        elif event.kind == Kind.OBSERVED:
            result = Bulk.of(body)
            logged = {number: tuple(own) for number, own in result.shares if number < 0}
            for own in logged.values():
                self._first.setdefault(own, event)
            for i, group in enumerate(result.groups):
                version = logged.get(group.version or 0, group.version)
                self._add(group, version, result.values[i] if result.values else ())
        elif event.kind == Kind.ROWS_CORRECTED:
            for row in corrected_in(body):
                version = row.version if row.chances is None else tuple(row.chances)
                self._swap(version, self._positions[row.arm], row.was, row.reward)

    def _add(
        self,
        group: Group,
        version: int | tuple[float, ...] | None,
        values: Iterable[tuple[float, int]],
    ) -> None:
        self.n += group.n
        self.total += group.sum
        known = list(values) or self._coins(group)
        self.untold += 0 if known else group.n
        for reward, count in known:
            self._cells[_Cell(version, group.arm, reward)] += count

    def _coins(self, group: Group) -> list[tuple[float, int]]:
        """How many rewards lay at either end, where all did."""
        low, high = self._ends
        ones = (group.sum - group.n * low) / (high - low)
        inside = (low + high) * group.sum - group.squares - group.n * low * high
        if not self._coin or abs(inside) > _ROUNDING * group.n * (high - low) ** 2:
            return []
        return [(low, group.n - round(ones)), (high, round(ones))]

    def _close(self, one: Counted) -> None:
        """A row whose window was open counts."""
        if type(one.key) is tuple and one.outcome.reward is not None:
            self.n += 1
            self.total += one.outcome.reward
            (version, _), outcome = one.key, one.outcome
            if version is None and outcome.chances is not None:
                if min(outcome.chances) > 0.0 and self._event is not None:
                    self._in_contexts.append((self._event.number, outcome))
            elif outcome.context is None:
                self._cells[_Cell(version, outcome.arm, one.outcome.reward)] += 1
            elif version is not None and outcome.chances is not None:
                positions = (self._positions[arm] for arm in self._versions[version][1].arms)
                if min(outcome.chances[position] for position in positions) > 0.0:
                    self._in_contexts.append((version, outcome))

    def _swap(
        self, version: int | tuple[float, ...] | None, arm: int, was: float, reward: float | None
    ) -> None:
        """A row counts otherwise, or not at all."""
        old = _Cell(version, arm, was)
        told = self._cells[old] > 0
        self._cells[old] -= told
        self.untold -= not told and reward is None
        self.total -= was
        self.n -= reward is None
        if reward is not None:
            self.total += reward
            self._cells[old._replace(reward=reward)] += told
