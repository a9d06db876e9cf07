"""The past of a study as the page draws it: shares of traffic and earnings, against time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.studies.log.event_log import Kind
from belman.studies.traffic.course import Course

MAX_BARS = 60  # of the shares of traffic, so that each stands for enough decisions


class Past:
    """The course of a study in bars of equal time, for some arms by their place in the register."""

    def __init__(self, course: Course, arms: int) -> None:
        self._course = course
        numbers = np.array(sorted(course.steps), dtype=np.int64)
        steps = [course.steps[number] for number in numbers.tolist()]
        self._ends = (numbers + 1) * course.width
        self._counts = np.array([step.rewards for step in steps], dtype=np.int64)
        self._totals = np.array([step.total for step in steps], dtype=np.float64)
        spanned = int(numbers[-1] - numbers[0]) + 1 if len(numbers) else 0
        self.width = course.width * max(-(-spanned // MAX_BARS), 1)
        starts = numbers * course.width // self.width
        self.starts = np.unique(starts)
        self.asks = np.zeros((len(self.starts), arms), dtype=np.int64)
        for bar, step in zip(np.searchsorted(self.starts, starts).tolist(), steps, strict=True):
            for arm, count in step.asks.items():
                self.asks[bar, arm] += count

    def traffic(self, ids: Sequence[int]) -> dict[str, Any]:
        """Per bar of time in which anybody asked: when it starts, and the asks of each arm, the
        others, and all.
        """
        total = self.asks.sum(axis=1)
        asked = total > 0
        own = self.asks[np.ix_(asked, list(ids))]
        return {
            "width": self.width,
            "start": (self.starts[asked] * self.width).tolist(),
            "asks": own.T.tolist(),
            "others": (total[asked] - own.sum(axis=1)).tolist(),
        }

    def earnings(self, mean: float, wide: float) -> dict[str, Any]:
        """The sum of rewards by the end of each step, beside as many times a mean, give or take."""
        begin = self._ends[:1] - self._course.width
        zero: NDArray[Any] = np.zeros(len(begin))
        counts = np.concatenate([zero, np.cumsum(self._counts)])
        return {
            "time": np.concatenate([begin, self._ends]).tolist(),
            "rewards": counts.astype(np.int64).tolist(),
            "total": np.concatenate([zero, np.cumsum(self._totals)]).tolist(),
            "split": (counts * mean).tolist(),
            "low": (counts * (mean - wide)).tolist(),
            "high": (counts * (mean + wide)).tolist(),
        }

    def changes(self, register: Sequence[Hashable]) -> list[dict[str, Any]]:
        """What was done to the study, the newest first."""
        return [
            {
                "number": change.number,
                "time": datetime.fromtimestamp(change.time, UTC).isoformat(),
                "kind": Kind(change.kind).name.lower().replace("_", " "),
                "arm": None if change.arm is None else str(register[change.arm]),
                "reason": change.reason,
            }
            for change in reversed(self._course.changes)
        ]
