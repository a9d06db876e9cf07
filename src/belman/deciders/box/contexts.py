"""What comes with an ask of a box: named numbers and categories, and how far contexts are apart.

Numbers are measured in units of their spread over what was told, as long as an even spread between
two ends is. Two categories are alike or one apart; so are what is missing and what is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from belman.assignment.contexts import CATEGORY, LARGEST, LONGEST, NUMBER
from belman.deciders.box.points import Context
from belman.deciders.validate import is_text
from belman.errors import SettingError, shown, unknown

Floats = NDArray[np.float64]
Kind = Annotated[str, (NUMBER, CATEGORY).__contains__]

MOST_NAMES = 10
_EVEN = np.sqrt(12.0)  # the length of an even spread in its standard deviations


class Contexts:
    """The names of a context, and of each whether it is a number or a category, once it is known.

    >>> contexts = Contexts(["hour", "country"])
    >>> contexts.check({"hour": 9, "country": "FR"})
    {'hour': 9.0, 'country': 'FR'}
    """

    def __init__(self, names: Sequence[str], kinds: Mapping[str, str] | None = None) -> None:
        self.names = _checked_names(names)
        self.kinds = dict(kinds or {})
        for name in self.kinds.keys() - {*self.names}:
            raise SettingError(unknown("name in context", name, self.names))

    def check(self, given: Any) -> Context:
        """Return a context as it is kept: numbers, words, and None for what is missing."""
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise SettingError(f"context {given!r} is not a mapping: give {{name: value}}")
        for name in given:
            if name not in self.names:
                raise SettingError(unknown("name in context", name, self.names))
        result = {name: _plain(name, given.get(name)) for name in self.names}
        for name, value in result.items():
            kind = self.kinds.get(name)
            if value is not None and kind is not None and kind != _kind(value):
                article = "a number" if kind == NUMBER else "a category"
                raise SettingError(
                    f"{name}={shown(value)} is not allowed: {name} is {article} here"
                )
        return result

    def meet(self, context: Context) -> None:
        """Note what is a number and what a category."""
        for name, value in context.items():
            if value is not None:
                self.kinds.setdefault(name, _kind(value))

    def apart(self, one: Sequence[Context], other: Sequence[Context], units: Floats) -> Floats:
        """Return squared distances, of shape (names, contexts, others)."""
        result = np.zeros((len(self.names), len(one), len(other)))
        for at, name in enumerate(self.names):
            here, there = ([context[name] for context in each] for each in (one, other))
            if self.kinds.get(name) == NUMBER:
                known = np.array([value is not None for value in here], dtype=bool)[:, None]
                known_there = np.array([value is not None for value in there], dtype=bool)
                numbers = np.array([value or 0.0 for value in here], dtype=float)[:, None]
                steps = (numbers - np.array([value or 0.0 for value in there])) / units[at]
                result[at] = np.where(known & known_there, steps**2, known != known_there)
            else:
                codes = {value: code for code, value in enumerate(dict.fromkeys([*here, *there]))}
                coded = np.array([codes[value] for value in here])[:, None]
                result[at] = coded != np.array([codes[value] for value in there])
        return result

    def units(self, contexts: Sequence[Context], counts: Floats) -> Floats:
        """Return the length of each number that counts as a side of a box does."""
        result = np.ones(len(self.names))
        for at, name in enumerate(self.names):
            if self.kinds.get(name) != NUMBER:
                continue
            values = np.array([np.nan if (v := c[name]) is None else v for c in contexts])
            weights = counts * ~np.isnan(values)
            if weights.sum() == 0.0:
                continue
            known = np.nan_to_num(values)
            centre = weights @ known / weights.sum()
            spread = np.sqrt(weights @ (known - centre) ** 2 / weights.sum())
            result[at] = _EVEN * spread if spread > 1e-9 * abs(centre) else max(abs(centre), 1.0)
        return result


def _kind(value: Any) -> str:
    return NUMBER if isinstance(value, float) else CATEGORY


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and len(value) <= LONGEST and is_text(value):
        return value
    if isinstance(value, (int, float)) and abs(value) <= LARGEST:
        return float(value)
    allowed = f"a number up to {LARGEST:g}, or a word of up to {LONGEST} characters"
    raise SettingError(f"{name}={shown(value)} is not allowed: it must be {allowed}")


def _checked_names(names: Any) -> list[str]:
    remedy = 'give a list of names, such as context=["hour", "country"]'
    if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
        raise SettingError(f"context={shown(names)} is not a list of names: {remedy}")
    result = list(names)
    for name in result:
        if not isinstance(name, str) or not name or len(name) > LONGEST or not is_text(name):
            raise SettingError(f"context={shown(names)} holds {shown(name)}: {remedy}")
        if name.endswith("]"):
            raise SettingError(
                f"context={shown(names)} holds an array: a box takes numbers and categories"
            )
    if len(set(result)) < len(result):
        raise SettingError(f"context={shown(names)} holds a name twice")
    if len(result) > MOST_NAMES:
        raise SettingError(f"a box takes at most {MOST_NAMES} names of a context: {shown(names)}")
    return result
