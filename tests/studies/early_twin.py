"""A slow and obvious twin of early learning: everything from the list of tickets, ticket by ticket.

It shares the grid of cells with the code, and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

CELLS, PRIOR = 256, 4.0


@dataclass
class Slip:
    """One ticket: when it was asked, and what it was told last, when."""

    arm: Any
    asked: float
    reward: float | None = None
    told: float = 0.0


class EarlyTwin:
    """All tickets of a study with a window that learns early from rewards of 0 and 1."""

    def __init__(self, window: float) -> None:
        self.window, self.width = window, window / CELLS
        self.slips: dict[str, Slip] = {}

    def is_open(self, slip: Slip, now: float) -> bool:
        return slip.asked + self.window > now

    def settled(self, arm: Any, now: float) -> tuple[float, float]:
        closed = [s for s in self.slips.values() if s.arm == arm and not self.is_open(s, now)]
        won = sum(slip.reward == 1.0 for slip in closed)
        return 1.0 + won, 1.0 + len(closed) - won

    def _age(self, slip: Slip, now: float) -> int:
        return math.floor(now / self.width) - math.floor(slip.asked / self.width)

    def distribution(self, now: float) -> tuple[list[float], list[float]]:
        """F at the edges of the cells, and ln(1 + v), v its variance over its square."""
        told = [slip for slip in self.slips.values() if slip.reward == 1.0]
        delays = [min(int((slip.told - slip.asked) / self.width), CELLS - 1) for slip in told]
        cdf, doubt = [1.0] * (CELLS + 1), [0.0] * (CELLS + 1)
        for s in range(CELLS - 1, -1, -1):
            risk = 0.0
            for slip, delay in zip(told, delays, strict=True):
                age = self._age(slip, now) if self.is_open(slip, now) else math.inf
                risk += 0.0 if delay > s or age < s else 0.5 if age == s else 1.0
            events = delays.count(s)
            risk = max(risk, events) + PRIOR * math.sqrt((s + 1) / CELLS)
            events += PRIOR * (math.sqrt((s + 1) / CELLS) - math.sqrt(s / CELLS))
            cdf[s] = cdf[s + 1] * (1.0 - events / risk)
            if s > 0:  # the hazard is Beta(events, risk − events)
                square = (risk - events) * (risk - events + 1.0) / (risk * (risk + 1.0))
                doubt[s] = doubt[s + 1] + math.log(square / (1.0 - events / risk) ** 2)
        cdf[0], doubt[0] = 0.0, doubt[1]
        return cdf, doubt

    def counts(self, arm: Any, now: float) -> tuple[float, float, float]:
        """Successes and failures that the open tickets of an arm count, and the doubt."""
        cdf, doubt = self.distribution(now)
        mine = [s for s in self.slips.values() if s.arm == arm and self.is_open(s, now)]
        won, lost = self.settled(arm, now)
        told = sum(slip.reward == 1.0 for slip in mine)
        part = now / self.width - math.floor(now / self.width)
        ages = []
        for slip in mine:
            if slip.reward != 1.0:
                age = self._age(slip, now)
                middle = 0.5 * part if age == 0 else age + part - 0.5
                ages.append(float(CELLS) if age >= CELLS else middle)
        won += told
        p = won / (won + lost)
        less = more = 0.0
        for _ in range(500):
            known = [_between(cdf, age) for age in ages]
            more = sum(f * (1.0 - p) ** 2 / (1.0 - p * f) ** 2 for f in known)
            less = -sum(p * p * f * (1.0 - f) / (1.0 - p * f) ** 2 for f in known)
            less = max(less, -0.5 * won)
            p = (won + less) / (won + less + lost + more)
        worth = won + less + lost + more
        spread = sum(
            _between(cdf, age) * math.sqrt(math.expm1(_between(doubt, age)))
            for age in ages
            if age < CELLS
        )
        return told + less, more, (spread / worth) ** 2


def _between(values: list[float], x: float) -> float:
    left = min(int(x), CELLS - 1)
    return values[left] + (x - left) * (values[left + 1] - values[left])
