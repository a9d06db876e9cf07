"""What a user may set of a policy, checked at the door."""

from __future__ import annotations

import math

import numpy as np

from belman.errors import PolicyError


def require(condition: bool, policy: str, name: str, value: object, allowed: str) -> None:
    """Refuse a setting that makes no policy of that name.

    >>> require(False, "bayes-ucb", "c", -1, "a number from 0 up")
    Traceback (most recent call last):
    belman.errors.PolicyError: c=-1 makes no bayes-ucb: it must be a number from 0 up
    """
    if not condition:
        raise PolicyError(f"{name}={value!r} makes no {policy}: it must be {allowed}")


def is_number(value: object) -> bool:
    """Whether a setting is a finite number."""
    return (
        isinstance(value, (int, float, np.number))
        and not isinstance(value, bool)
        and math.isfinite(float(value))
    )


def is_whole(value: object, least: int) -> bool:
    """Whether a setting is a whole number from `least` up."""
    return (
        isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= least
    )
