"""Where a unit falls: a point from 0 to 2³² − 1, by its name and a salt alone."""

from __future__ import annotations

from hashlib import blake2s

from .refusals import WeightsError

Unit = str | int


def as_text(unit: object) -> str:
    """The name of a unit: text, or a whole number in decimals."""
    if isinstance(unit, str):
        return unit
    if isinstance(unit, int) and not isinstance(unit, bool):
        return str(unit)
    raise WeightsError(f"unit={unit!r} cannot be assigned: give text or a whole number")


def prefix_of(salt: str) -> bytes:
    """What stands before the name of a unit when it is hashed."""
    return salt.encode() + b"\0"


def point(salt: str, unit: Unit) -> int:
    """The first four bytes, the highest first, of BLAKE2s-256(salt ‖ 0 ‖ unit), both in UTF-8.

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
