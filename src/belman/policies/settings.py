"""What a user may set of a policy, checked at the door."""

from __future__ import annotations

import math

import numpy as np

from belman.errors import PolicyError
from belman.policies.policy import Policy


def require(policy: Policy, name: str, fits: bool, allowed: str) -> None:
    """Refuse a policy whose setting of that name does not fit."""
    if not fits:
        value = getattr(policy, name)
        raise PolicyError(f"{name}={value!r} makes no {policy.name}: it must be {allowed}")


def is_number(value: object) -> bool:
    """Whether a setting is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    return math.isfinite(float(value))


def is_whole(value: object, least: int) -> bool:
    """Whether a setting is a whole number from `least` up."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return int(value) >= least
