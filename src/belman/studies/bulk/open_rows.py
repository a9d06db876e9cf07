"""Rows of units whose window is open: they wait, may be brought again, and then count.

As with a ticket, the window begins when the unit was assigned, the last row of a unit and version
stands (or they add up, where the study accumulates), and closing is no event but the passage of
time. What has counted is not kept.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from belman.agent.scale import Scale
from belman.studies.bulk.outcomes import Side
from belman.studies.rules.attributes import Attributes
from belman.studies.settings import StudySettings

Key = tuple[int | None, Any]  # version and unit


class OpenRow(NamedTuple):
    """What is known of a unit so far: its version, its arm by place, its reward, when it was
    assigned, and its attributes.
    """

    version: int | None
    unit: Any
    arm: int
    reward: float
    time: float
    attributes: Attributes | None = None


class OpenRows:
    """Rows by version and unit, in the order in which they came."""

    def __init__(self, settings: StudySettings) -> None:
        self.window = math.inf if settings.window is None else settings.window
        self.accumulate = settings.accumulate
        self.rows: dict[Key, OpenRow] = {}
        self._ends: list[tuple[float, int, Key]] = []  # a heap
        self._order = 0

    def __len__(self) -> int:
        return len(self.rows)

    def together(self, row: OpenRow) -> OpenRow:
        """What a unit would count as, were this brought of it now."""
        before = self.rows.get((row.version, row.unit))
        if before is None:
            return row
        reward = before.reward + row.reward if self.accumulate else row.reward
        attributes = row.attributes or before.attributes
        return row._replace(reward=reward, time=before.time, attributes=attributes)

    def take(self, row: OpenRow) -> None:
        """A row is brought, for the first time or anew."""
        key, whole = (row.version, row.unit), self.together(row)
        if key not in self.rows:
            heapq.heappush(self._ends, (whole.time + self.window, self._order, key))
            self._order += 1
        self.rows[key] = whole

    def is_due(self, now: float) -> bool:
        """Whether a window has closed by now, and was not counted yet."""
        return bool(self._ends) and self._ends[0][0] <= now

    def waiting(self, now: float) -> int:
        """How many windows are open."""
        return sum(end > now for end, _, _ in self._ends)

    def close(self, now: float) -> list[tuple[float, OpenRow]]:
        """Close every window that is due: when that was, and what its row counts as."""
        closed = []
        while self._ends and self._ends[0][0] <= now:
            end, _, key = heapq.heappop(self._ends)
            closed.append((end, self.rows.pop(key)))
        return closed

    def copied(self) -> OpenRows:
        """The same, to go its own way."""
        other = object.__new__(OpenRows)
        vars(other).update(vars(self))
        other.rows, other._ends = self.rows.copy(), self._ends.copy()
        return other

    def to_plain(self) -> list[list[Any]]:
        """For a snapshot."""
        return [list(row) for row in self.rows.values()]

    def from_plain(self, content: Iterable[list[Any]]) -> None:
        """Take over what `to_plain` gave."""
        for row in content:
            self.take(OpenRow(*row))


def sides(closed: Iterable[OpenRow], scale: Scale) -> dict[int, Side]:
    """What came of every arm."""
    rewards = defaultdict[int, list[float]](list)
    for row in closed:
        rewards[row.arm].append(row.reward)
    return {place: side_of(own, scale) for place, own in sorted(rewards.items())}


def side_of(rewards: list[float], scale: Scale) -> Side:
    """What came of one arm, for its family."""
    values = [scale.inward(reward) for reward in rewards]
    squares = math.fsum(value * value for value in values)
    return Side(len(values), math.fsum(rewards), math.fsum(values), squares, values)
