"""Assign a unit to an arm: pure, stateless, by the weights document and the unit's name alone.

A unit falls on a point from 0 to 2³² − 1, by its name and a salt, and a document says to which arm
that point belongs.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2s
from typing import Any

from .documents import Assignment, Weights, prefix_of
from .refusals import WeightsError, shown

Unit = str | int

_LARGEST = 10**1_000


def as_text(unit: object) -> str:
    """The name of a unit: text, or a whole number in decimals."""
    if isinstance(unit, str):
        return unit
    if isinstance(unit, int) and not isinstance(unit, bool):
        if abs(unit) >= _LARGEST:
            raise WeightsError(f"unit={shown(unit)} cannot be assigned: it has too many digits")
        return str(unit)
    raise WeightsError(f"unit={shown(unit)} cannot be assigned: give text or a whole number")


def point(salt: str, unit: Unit) -> int:
    """Hash a unit to a point: the first four bytes, the highest first, of BLAKE2s-256(salt ‖ 0 ‖
    unit), both in UTF-8.

    Parameters
    ----------
    salt
        The salt of a weights document.
    unit
        The name of the unit: text, or a whole number, which is hashed as its decimals.

    Returns
    -------
    int
        The point, from 0 to 2³² − 1.

    Raises
    ------
    WeightsError
        If the name is neither, or cannot be written in UTF-8.

    >>> point("checkout", "user-1")
    1198925601
    """
    text = as_text(unit)
    try:
        digest = blake2s(prefix_of(salt) + text.encode()).digest()
    except UnicodeEncodeError:
        raise WeightsError(
            f"unit={unit!r} cannot be assigned: half a character is not text"
        ) from None
    return int.from_bytes(digest[:4], "big")


def point_in(weights: Weights, unit: Unit) -> int:
    """Return the point of a unit by whoever assigns units of these weights, below 0 where the unit
    takes no part.
    """
    if weights.assigner is None:
        return point(weights.salt, unit)
    name = as_text(unit)
    try:
        name.encode()  # GrowthBook's hash would take half a character too
        return weights.assigner.point(weights.salt, name)
    except UnicodeEncodeError:
        raise WeightsError(
            f"unit={unit!r} cannot be assigned: half a character is not text"
        ) from None


def assign(weights: Weights, unit: Unit, context: Mapping[str, Any] | None = None) -> Assignment:
    """Assign a unit to an arm: the same unit gets the same arm while the weights are in force, in
    the same context.

    docs/reference/assignment.md specifies the function for other languages.

    Parameters
    ----------
    weights
        A weights document.
    unit
        The name of the unit.
    context
        Values by name, where the weights are those of a study with contexts.

    Returns
    -------
    Assignment
        The arm, its probability, and the version of the weights.

    >>> weights = Weights.of("checkout", {"blue": 0.75, "green": 0.25}, salt="s1")
    >>> assign(weights, "user-1")
    Assignment(arm='green', chance=0.25, version=1)
    """
    if weights.assigner is not None:
        return weights.answer(point_in(weights, unit), context)
    try:
        digest = blake2s(weights.prefix + unit.encode()).digest()  # type: ignore[union-attr]
    except (AttributeError, UnicodeEncodeError):
        position = point(weights.salt, unit)
    else:
        position = int.from_bytes(digest[:4], "big")
    return weights.answer(position, context)
