"""The course of a study: who got the traffic and what it earned, in a few hundred steps of time.

It is kept with the state, event by event, so that a page shows the past of a study of a million
events from its snapshot, without reading the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from belman.codec import DERIVED, Count, Number, Place, Whole
from belman.studies.log.event_log import Event

#: Seconds that a step may be wide, each a multiple of the one before it; a day is doubled further.
WIDTHS = (1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400)
MOST_STEPS = 240
#: Counts by step and arm that are kept, while there are more than so few steps.
MOST_CELLS, FEWEST_STEPS = 20_000, 24
MOST_CHANGES = 50
_LONGEST_REASON = 200


@dataclass(slots=True)
class Step:
    """Asks by an arm's place in the register, how many rewards counted, and their sum."""

    asks: dict[Place, Count]
    rewards: int = 0
    total: float = 0.0


class Change(NamedTuple):
    """What was done to a study: number, kind and time of the event, an arm, and a reason."""

    number: Number
    kind: Count
    time: float
    arm: Place | None
    reason: str


@dataclass
class Course:
    """Steps of one width, by their number since 1970; they grow wider as time goes on.

    >>> course = Course()
    >>> for second in range(1_000):
    ...     course.ask(0, 1_700_000_000.0 + second)
    >>> course.width, sum(step.asks[0] for step in course.steps.values())
    (5, 1000)
    """

    width: Annotated[int, Whole(1)] = WIDTHS[0]
    steps: dict[int, Step] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    _cells: int = field(default=0, metadata=DERIVED)

    def __post_init__(self) -> None:
        self._cells = sum(len(step.asks) for step in self.steps.values())

    def ask(self, arm: int, time: float, count: int = 1) -> None:
        """A ticket for an arm was given, or many."""
        asks = self._step(time).asks
        if arm in asks:
            asks[arm] += count
        else:
            asks[arm] = count
            self._cells += 1
            if self._cells > MOST_CELLS:
                self._widen()

    def earn(self, time: float, reward: float, rewards: int = 1) -> None:
        """A reward counted, or a correction changed the sum by so much."""
        step = self._step(time)
        step.rewards += rewards
        step.total += reward

    def change(self, event: Event, body: Mapping[str, Any]) -> None:
        """Somebody changed the study; the last changes are kept."""
        reason = str(body.get("reason") or "")[:_LONGEST_REASON]
        self.changes.append(Change(event.number, int(event.kind), event.time, event.arm, reason))
        del self.changes[:-MOST_CHANGES]

    def _step(self, time: float) -> Step:
        result = self.steps.get(int(time // self.width))
        if result is None:
            self.steps[int(time // self.width)] = Step({})
            if len(self.steps) > MOST_STEPS:
                self._widen()
            result = self.steps[int(time // self.width)]
        return result

    def _widen(self) -> None:
        """Make steps wider until they are few, and their counts too."""
        while len(self.steps) > MOST_STEPS or (
            self._cells > MOST_CELLS and len(self.steps) > FEWEST_STEPS
        ):
            wider = next((width for width in WIDTHS if width > self.width), 2 * self.width)
            steps: dict[int, Step] = {}
            for number, step in self.steps.items():
                kept = steps.setdefault(number * self.width // wider, Step({}))
                for arm, count in step.asks.items():
                    kept.asks[arm] = kept.asks.get(arm, 0) + count
                kept.rewards += step.rewards
                kept.total += step.total
            self.width, self.steps = wider, steps
            self._cells = sum(len(step.asks) for step in steps.values())
