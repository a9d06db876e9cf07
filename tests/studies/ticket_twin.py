"""A slow and obvious twin of a study's tickets: a dict of them, counted anew whenever asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Slip:
    """One ticket, with all that was ever said of it."""

    number: int
    arm: Any
    asked: float
    told: list[tuple[int, float]] = field(default_factory=list)  # (number of the event, reward)
    corrections: list[float | None] = field(default_factory=list)


class Twin:
    """All tickets of a study with these settings; it knows nothing of logs, folds or snapshots."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.slips: dict[str, Slip] = {}
        self.time = 0.0

    def is_open(self, slip: Slip, now: float) -> bool:
        if self.settings.window is None:
            return not slip.told
        return slip.asked + self.settings.window > now

    def _order(self, slip: Slip) -> tuple[float, float]:
        """When it counted: at the end of its window, or when it was told."""
        if self.settings.window is None:
            return slip.told[0]
        return slip.asked + self.settings.window, slip.number

    def first_count(self, slip: Slip) -> float | None:
        """What it counted as when its time was over."""
        if not slip.told:
            return self.settings.silent_reward
        rewards = [reward for _, reward in slip.told]
        return sum(rewards) if self.settings.accumulate else rewards[-1]

    def counts_as(self, slip: Slip) -> float | None:
        return slip.corrections[-1] if slip.corrections else self.first_count(slip)

    def closed(self, now: float) -> list[Slip]:
        """Tickets that count, in the order in which they came to."""
        there = [slip for slip in self.slips.values() if not self.is_open(slip, now)]
        return sorted(there, key=self._order)

    def natural(self, arm: Any, now: float, statistic: Any, prior: Any) -> Any:
        """η₀ + Σ γ^age T(x), term by term."""
        closed, total = self.closed(now), np.array(prior, dtype=float)
        fades = [self.first_count(slip) is not None for slip in closed]
        for i, slip in enumerate(closed):
            reward = self.counts_as(slip)
            if slip.arm == arm and reward is not None:
                total += self.settings.discount ** sum(fades[i + 1 :]) * statistic(reward)
        return total

    def status(self, now: float) -> dict[str, Any]:
        closed = self.closed(now)
        rewards = [self.counts_as(slip) for slip in closed]
        return {
            "asked": len(self.slips),
            "told": sum(reward is not None for reward in rewards),
            "outstanding": len(self.slips) - len(closed),
            "expired": sum(not slip.told for slip in closed),
            "reward": sum(reward or 0.0 for reward in rewards),
        }
