"""The scale on which a person counts: rewards or costs, in [0, 1] or between other ends."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.errors import RewardError, SettingError
from belman.families import Family
from belman.families.family import LARGEST_REWARD


class Scale(NamedTuple):
    """How a reward of the user becomes one of the family, and back."""

    base: Family
    range: tuple[float, float] | None
    minimise: bool
    clip: bool = False

    @property
    def quantity(self) -> str:
        """What the user counts."""
        return "expected cost" if self.minimise else "expected reward"

    def inward(self, reward: float) -> float:
        """A reward of the user as the family sees it; raises RewardError where there is none."""
        inside = self.nearest(reward) if self.clip else reward
        inside = inside if self.range is None else _share(inside, *self.range)
        value = self.base.check_reward(inside)
        return -value if self.minimise else value

    def nearest(self, reward: float) -> float:
        """A number beyond the range as the end that it lies beyond; anything else as it is."""
        ends = self.range or self.base.reward_range
        if ends is None or not _is_number(reward):
            return reward
        return min(max(reward, ends[0]), ends[1])

    def outward(self, value: float) -> float:
        """A reward of the family as the user sees it."""
        value = float(-value if self.minimise and value < math.inf else value)
        if self.range is None:
            return value
        low, high = self.range
        return low + value * (high - low)


def _is_number(reward: object) -> bool:
    real = isinstance(reward, (int, float, np.number)) and not isinstance(reward, bool)
    return real and math.isfinite(reward)  # type: ignore[arg-type]


def _share(reward: float, low: float, high: float) -> float:
    """Where a reward lies between two ends, from 0 to 1."""
    try:
        value = float(reward)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(reward, (str, bytes)) or not low <= value <= high:
        ends = f"this agent's range is from {low:g} to {high:g}"
        raise RewardError(f"reward {reward!r} is not allowed: {ends}")
    return min(max((value - low) / (high - low), 0.0), 1.0)


def scale(
    base: Family, range: tuple[float, float] | None, minimise: bool, clip: bool = False
) -> Scale:
    """The scale with these ends, checked."""
    if clip and range is None and base.reward_range is None:
        none = f"{base.name} rewards ({base.support}) have no ends"
        raise SettingError(f"clip={clip!r} needs a range to clip to: {none}, and no range is given")
    if range is None:
        return Scale(base, None, bool(minimise), bool(clip))
    unit = base.reward_range == (0.0, 1.0) and base.supports(0.0) and base.supports(1.0)
    if not unit:
        own = f"{base.name} rewards have their own"
        raise SettingError(f"range={range!r} is for rewards in [0, 1] on another scale: {own}")
    try:
        low, high = (float(end) for end in range)
    except (TypeError, ValueError, OverflowError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingError(
            f"range={range!r} is not an interval: give (low, high) with low below high"
        )
    if max(abs(low), abs(high)) > LARGEST_REWARD:
        allowed = f"no reward may be larger than {LARGEST_REWARD:g}"
        raise SettingError(f"range={range!r} is too wide: {allowed}")
    return Scale(base, (low, high), bool(minimise), bool(clip))
