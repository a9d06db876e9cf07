"""Assign a unit to an arm: pure, stateless, by the weights document and the unit's name alone."""

from __future__ import annotations

from bisect import bisect_right
from hashlib import blake2s

from .documents import Assignment, Weights
from .hashing import Unit, point


def assign(weights: Weights, unit: Unit) -> Assignment:
    """The arm of a unit, its chance, and the version of the weights.

    The same unit gets the same arm while the weights stand; docs/reference/assignment.md says how,
    for other languages.

    >>> weights = Weights.of("checkout", {"blue": 0.75, "green": 0.25}, salt="s1")
    >>> assign(weights, "user-1")
    Assignment(arm='green', chance=0.25, version=1)
    """
    try:
        digest = blake2s(weights.prefix + unit.encode()).digest()  # type: ignore[union-attr]
    except (AttributeError, UnicodeEncodeError):
        place = point(weights.salt, unit)
    else:
        place = int.from_bytes(digest[:4], "big")
    return weights.answers[bisect_right(weights.ends, place)]
