"""What a user may set of a policy, checked at the door."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from belman.errors import PolicyError

#: Turns, plays and arms: floats hold every whole number up to it.
MOST = 10**15
#: Of a logarithm of turns, whose power must not overflow.
MOST_EXPONENT = 100.0
#: Draws of a belief in one turn.
MOST_DRAWS = 1_000_000


def require(policy: Any, name: str, fits: bool, allowed: str) -> None:
    """Refuse a policy whose setting of that name does not fit."""
    if not fits:
        value = getattr(policy, name)
        raise PolicyError(f"{name}={value!r} is not valid for {policy.name}: it must be {allowed}")


def is_number(value: object) -> bool:
    """Whether a setting is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    return bool(abs(value) <= MOST)  # type: ignore[operator]


def is_whole(value: object, least: int, most: int = MOST) -> bool:
    """Whether a setting is a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return least <= int(value) <= most


def is_between(value: object, least: float, most: float) -> bool:
    """Whether a setting is a number between two ends."""
    return is_number(value) and least <= value <= most  # type: ignore[operator]
