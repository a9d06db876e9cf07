"""Which times a study takes from a clock: a wrong one is one thing, and no time is another."""

from __future__ import annotations

import math

from belman.errors import StudyError

#: Seconds from 1970, either way: 30,000 years, on which the grid of the shortest window still fits.
FARTHEST = 1e12


def is_time(value: object) -> bool:
    """Whether it is a number of seconds that a study can reckon with."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and abs(value) <= FARTHEST  # type: ignore[arg-type]


def check_time(now: float) -> float:
    """What a clock said.

    >>> check_time(float("nan"))
    Traceback (most recent call last):
        ...
    belman.errors.StudyError: the clock says nan, which is not a time: give seconds since 1970, at \
most 1e+12
    """
    if not is_time(now):
        allowed = f"give seconds since 1970, at most {FARTHEST:g}"
        raise StudyError(f"the clock says {now!r}, which is not a time: {allowed}")
    return float(now)
