"""Checks of what a person gives: whole numbers, numbers, and names of a list."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from belman.errors import SettingError, listing, nearest, shown

#: Turns, plays and arms: floats hold every whole number up to it.
MOST = 10**15


def is_number(value: object) -> bool:
    """Whether a setting is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    return bool(abs(value) <= MOST)  # type: ignore[operator]


def is_whole(value: object, least: int, most: float = MOST) -> bool:
    """Whether a setting is a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return least <= int(value) <= most


def is_between(value: object, least: float, most: float) -> bool:
    """Whether a setting is a number between two ends."""
    plain = value.item() if isinstance(value, np.generic) else value  # compared without a cast
    return is_number(plain) and least <= plain <= most  # type: ignore[operator]


def require_whole(
    name: str, value: object, least: int = 1, most: float = math.inf, *, optional: bool = False
) -> None:
    """Refuse a setting that is not a whole number from `least` to `most`, nor None if `optional`.

    >>> require_whole("runs", 0)
    Traceback (most recent call last):
    belman.errors.SettingError: runs=0 is not valid: it must be a whole number from 1 up
    """
    if not is_whole(value, least, most) and not (optional and value is None):
        raise _refused(name, value, "a whole number", least, most, optional)


def require_number(
    name: str, value: object, least: float = 0.0, most: float = math.inf, *, optional: bool = False
) -> None:
    """Refuse a setting that is not a finite number from `least` to `most`, nor None if `optional`.

    >>> require_number("delta", 2.0, 0.0, 1.0, optional=True)
    Traceback (most recent call last):
    belman.errors.SettingError: delta=2.0 is not valid: it must be a number from 0 to 1, or None
    """
    if not is_between(value, least, most) and not (optional and value is None):
        raise _refused(name, value, "a number", least, most, optional)


def _refused(
    name: str, value: object, kind: str, least: float, most: float, optional: bool
) -> SettingError:
    end = "up" if most == math.inf else f"to {most:,.10g}"
    end = f"{end}, or None" if optional else end
    return SettingError(
        f"{name}={shown(value)} is not valid: it must be {kind} from {least:g} {end}"
    )


def require_one_of(name: str, value: object, known: Iterable[object]) -> None:
    """Refuse a setting that is none of those known.

    >>> require_one_of("order", "wild", ["drawn", "kept"])
    Traceback (most recent call last):
    belman.errors.SettingError: order='wild' is unknown: there are 'drawn', 'kept'
    """
    if value not in (there := list(known)):
        what = f"{name}={shown(value)} is unknown: there are {listing(there)}"
        raise SettingError(f"{what}{nearest(value, there)}")
