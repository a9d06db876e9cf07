"""What a user may set of a policy: types that say what is allowed, checked when it is made.

A setting is a field of the dataclass, and its type says what it may be: `delta: Inside = 0.1`.
"""

from __future__ import annotations

import functools
import math
import sys
import typing
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from belman.errors import PolicyError
from belman.validate import MOST as MOST
from belman.validate import is_number as is_number
from belman.validate import is_whole as is_whole

#: Of a logarithm of turns, whose power must not overflow.
MOST_EXPONENT = 100.0
#: Draws of a belief in one turn.
MOST_DRAWS = 1_000_000


class Allowed(NamedTuple):
    """What a setting may be: a test, and the same in words."""

    fits: Callable[[Any], bool]
    words: str

    def __repr__(self) -> str:
        return repr(self.words)


def number(ends: str, least: float, most: float, words: str) -> Allowed:
    """A number between two ends, which are allowed or, in round brackets, are not.

    >>> number("(]", 0.0, 1.0, "above 0 and at most 1").fits(0.0)
    False
    """

    def fits(value: Any) -> bool:
        if not is_number(value):
            return False
        above = value >= least if ends[0] == "[" else value > least
        return bool(above and (value <= most if ends[1] == "]" else value < most))

    return Allowed(fits, words)


def whole(least: int, words: str, most: int = MOST) -> Allowed:
    """A whole number from `least` to `most`."""
    return Allowed(lambda value: is_whole(value, least, most), words)


FromZero = Annotated[float, number("[]", 0.0, math.inf, "a number from 0 up")]
Positive = Annotated[float, number("(]", 0.0, math.inf, "a positive number")]
Share = Annotated[float, number("[]", 0.0, 1.0, "a number from 0 to 1")]
PositiveShare = Annotated[float, number("(]", 0.0, 1.0, "above 0 and at most 1")]
Inside = Annotated[float, number("()", 0.0, 1.0, "strictly between 0 and 1")]
UpToAMillion = Annotated[float, number("[]", 0.0, 1e6, "a number from 0 to a million")]
Flag = Annotated[bool, Allowed(lambda it: isinstance(it, (bool, np.bool_)), "True or False")]
Turns = Annotated[int, whole(1, "a whole number of turns from 1 up")]
Arms = Annotated[int, whole(1, "a whole number of arms from 1 up")]
FromOne = Annotated[int, whole(1, "a whole number from 1 up")]
Draws = Annotated[int, whole(1, "a whole number from 1 to a million", MOST_DRAWS)]
TwoDraws = Annotated[int, whole(2, "a whole number from 2 to a million", MOST_DRAWS)]


def require(policy: Any, name: str, fits: bool, allowed: str) -> None:
    """Refuse a policy whose setting of that name does not fit."""
    if not fits:
        value = getattr(policy, name)
        raise PolicyError(f"{name}={value!r} is not valid for {policy.name}: it must be {allowed}")


def check_settings(policy: Any) -> None:
    """Refuse a policy with a setting that its type does not allow."""
    for name, allowed in _allowed(policy.__class__).items():
        require(policy, name, allowed.fits(getattr(policy, name)), allowed.words)


@functools.cache
def _allowed(kind: type) -> dict[str, Allowed]:
    """What each setting of a class may be, where its type says so."""
    result: dict[str, Allowed] = {}
    for base in reversed(kind.__mro__):
        home = vars(sys.modules.get(base.__module__, typing))
        for name, words in vars(base).get("__annotations__", {}).items():
            try:
                hint = eval(words, dict(home)) if isinstance(words, str) else words
            except Exception:  # a user's annotations may name what was never imported
                continue
            parts = (hint, *typing.get_args(hint))
            for part in parts:
                for allowed in getattr(part, "__metadata__", ()):
                    if isinstance(allowed, Allowed):
                        result[name] = _or_none(allowed) if type(None) in parts else allowed
    return result


def _or_none(allowed: Allowed) -> Allowed:
    words = allowed.words if "None" in allowed.words else f"{allowed.words}, or None"
    return Allowed(lambda value: value is None or allowed.fits(value), words)
