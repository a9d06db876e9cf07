"""What people say of a context or an arm, as numbers: a slot for each number and each category.

Numbers are standardised as they come: by the mean and the standard deviation of the values seen up
to the last power of two of them, or up to the last value that made the deviation much larger than
the one in use. Categories have a slot for each level, given when it is first met.
What is missing (not given, None or not a number) has a slot of its own, and counts as the average.
Numbers of a context have a second slot, for the square.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.deciders.featured.arrays import Arrays
from belman.deciders.validate import is_text
from belman.errors import SettingError, shown, unknown

Floats = NDArray[np.float64]

MOST_LEVELS = 1_000
_LONGEST, _LARGEST = 200, 1e12  # characters of a word, and a number
_OTHERS = "…"  # the level of all levels that are too many
_FURTHEST = 10.0  # standard deviations that a number counts at most
_FURTHEST_SQUARE = 3.0  # standard deviations whose square counts at most
_ROOT_HALF = math.sqrt(0.5)
_GROWN = 2.0  # times the variance in use, beyond which it is renewed
_MANY = 100  # values after which none counts as further than 2√n deviations: it may be a slip
NUMBER, CATEGORY = "number", "category"


class Slot(NamedTuple):
    """One number of an encoding: the value itself, its square, whether it is missing, or one of its
    levels.
    """

    name: str
    kind: str  # "number", "square", "missing" or "level"
    level: str = ""

    @property
    def label(self) -> str:
        """As a person reads it."""
        if self.kind in ("number", "square"):
            return self.name + ("²" if self.kind == "square" else "")
        return f"{self.name}={self.level if self.kind == 'level' else 'missing'}"


class Moments:
    """The values of a number so far, and the scale in use: its centre and spread, 0 before any."""

    __slots__ = ("centre", "mean", "seen", "spread", "squares")

    def __init__(
        self,
        seen: int = 0,
        mean: float = 0.0,
        squares: float = 0.0,
        centre: float = 0.0,
        spread: float = 0.0,
    ) -> None:
        self.seen, self.mean, self.squares = seen, mean, squares
        self.centre, self.spread = centre, spread

    def add(self, value: float) -> bool:
        """Count a value, and return whether the scale in use was renewed.

        No value is cut before `_MANY`: a scale that is renewed whenever the variance has doubled
        has none of up to 100 values beyond 10 deviations.
        """
        self.seen = count = self.seen + 1
        if count > _MANY and self.spread > 0.0:
            furthest = 2.0 * math.sqrt(count) * self.spread
            value = min(max(value, self.centre - furthest), self.centre + furthest)
        apart = value - self.mean
        self.mean += apart / count
        self.squares += apart * (value - self.mean)
        grown = self.squares > _GROWN * self.spread * self.spread * (count - 1)
        if count & (count - 1) != 0 and not grown:
            return False
        self.renew()
        return True

    def renew(self) -> None:
        """Use the scale of the values so far."""
        spread = math.sqrt(self.squares / (self.seen - 1)) if self.seen > 1 else 0.0
        if spread > 1e-12 * abs(self.mean):  # with one value all along the scale stays
            self.spread = spread
        self.centre = self.mean

    def standardised(self, value: float) -> float:
        """The value in use."""
        if self.spread == 0.0:
            return 0.0
        score = (value - self.centre) / self.spread
        if -_FURTHEST <= score <= _FURTHEST:
            return score
        return _FURTHEST if score > 0.0 else -_FURTHEST

    def plain(self) -> list[float]:
        """As plain data."""
        return [self.seen, self.mean, self.squares, self.centre, self.spread]


class Rescaled(NamedTuple):
    """A number that is measured on another scale from now on: z = factor·z′ + shift. Where it was
    `missing`, it was and is at the centre; −1 stands for a slot that there is not. It had no scale
    before if `first`: z was 0, and so was its square.
    """

    slot: int
    square: int
    missing: int
    factor: float
    shift: float
    first: bool


class Slots:
    """The slots of some named values; what they are is told by the first value of each, but for
    arrays, which are declared.
    """

    def __init__(
        self, names: Sequence[str], constant: bool, what: str, squared: bool = False
    ) -> None:
        self.arrays, self.squared = Arrays(names), squared
        self.names, self.what, self.constant = self.arrays.names, what, constant
        self.kinds: dict[str, str] = {}
        self.moments: dict[str, Moments] = {}
        self.slots: list[Slot] = []
        self._numbers: dict[str, int] = {}  # the place of each number
        self._others: dict[tuple[str, str | None], int] = {}  # of each level, and of missing ones
        self._levels: dict[str, int] = {}  # how many levels a name has
        if constant:
            self._add(Slot("constant", "number"))

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def squares(self) -> bool:
        """Whether there is a number with a square."""
        return self.squared and NUMBER in self.kinds.values()

    def check(self, given: Any) -> dict[str, Any]:
        """Named values as they are kept: numbers, words, and None for what is missing."""
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise SettingError(f"{self.what} {given!r} is not a mapping: give {{name: value}}")
        if self.arrays.by_name:
            given = self.arrays.flat(given)
        found: dict[str, Any] = {}
        known = 0
        for name in self.names:
            value = given.get(name)
            known += name in given
            if type(value) is not float or not abs(value) <= _LARGEST:
                value = self._plain(name, value)
            kind = self.kinds.get(name)
            if value is not None and kind is not None and kind != _kind(value):
                article = "a number" if kind == NUMBER else "a category"
                raise SettingError(
                    f"{name}={shown(value)} is not allowed: {name} is {article} here"
                )
            found[name] = value
        if known < len(given):
            stranger = next(name for name in given if name not in found)
            raise SettingError(unknown(f"name in {self.what}", stranger, self.arrays.declared))
        return found

    def _plain(self, name: str, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if _is_missing(value):
            return None
        if isinstance(value, bool):
            return str(value)
        is_short = isinstance(value, str) and len(value) <= _LONGEST
        if is_short and (value.isascii() or is_text(value)):
            return value
        if isinstance(value, (int, float)) and abs(value) <= _LARGEST:
            return float(value)
        allowed = f"a number up to {_LARGEST:g}, or a word of up to {_LONGEST} characters"
        raise SettingError(f"{name}={shown(value)} is not allowed: it must be {allowed}")

    def news(self, values: Mapping[str, Any]) -> bool:
        """Whether some of these values have no slot yet."""
        numbers = self._numbers
        for name, value in values.items():
            known = (
                name in numbers if type(value) is float else self._place(name, value) is not None
            )
            if not known:
                return True
        return False

    def _place(self, name: str, value: Any) -> int | None:
        """The place of a value; the levels beyond the most that there can be share one."""
        if type(value) is float:
            return self._numbers.get(name)
        place = self._others.get((name, value))
        if place is None and value is not None and self._levels.get(name, 0) >= MOST_LEVELS:
            place = self._others.get((name, _OTHERS))
        return place

    def meet(self, values: Mapping[str, Any], count: bool = True) -> list[Rescaled]:
        """Give slots to what is new, and count numbers; what is measured otherwise from now on."""
        changed = []
        for name, value in values.items():
            place = self._place(name, value)
            if place is None:
                place = self._add(self._slot(name, value))
            if type(value) is float and count:
                moments = self.moments[name]
                first = moments.spread == 0.0
                centre, spread = moments.centre, moments.spread or 1.0
                if moments.add(value) and moments.seen > 1:
                    missing = self._others.get((name, None), -1)
                    factor = (moments.spread or 1.0) / spread
                    shift = (moments.centre - centre) / spread
                    square = place + 1 if self.squared else -1
                    changed.append(Rescaled(place, square, missing, factor, shift, first))
        return changed

    def _slot(self, name: str, value: Any) -> Slot:
        """The slot of a value that has none."""
        if value is None:
            return Slot(name, "missing")
        self.kinds.setdefault(name, _kind(value))
        if type(value) is float:
            return Slot(name, "number")
        many = self._levels.get(name, 0) >= MOST_LEVELS
        return Slot(name, "level", _OTHERS if many else value)

    def _add(self, slot: Slot) -> int:
        place = len(self.slots)
        self.slots.append(slot)
        if slot.kind == "number":
            self._numbers[slot.name] = place
            self.moments.setdefault(slot.name, Moments())
            if self.squared and place > 0:
                self.slots.append(Slot(slot.name, "square"))
        else:
            self._others[slot.name, slot.level if slot.kind == "level" else None] = place
            self._levels[slot.name] = self._levels.get(slot.name, 0) + (slot.kind == "level")
        return place

    def fill(self, values: Mapping[str, Any], out: Floats) -> None:
        """The numbers of values that were met."""
        out[:] = 0.0
        if self.constant:
            out[0] = 1.0
        numbers, moments = self._numbers, self.moments
        for name, value in values.items():
            if type(value) is float:
                place = numbers[name]
                out[place] = score = moments[name].standardised(value)
                if self.squared and moments[name].spread > 0.0:
                    near = min(abs(score), _FURTHEST_SQUARE)
                    out[place + 1] = (near * near - 1.0) * _ROOT_HALF
            else:
                other = self._place(name, value)
                assert other is not None
                out[other] = 1.0

    def spread(self, place: int) -> float:
        """The standard deviation by which a number is divided; 1 for what is none."""
        slot = self.slots[place]
        if slot.kind not in ("number", "square"):
            return 1.0
        spread = self.moments[slot.name].spread or 1.0
        return spread if slot.kind == "number" else spread * spread / _ROOT_HALF

    def plain(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "names": self.arrays.declared,
            "kinds": self.kinds,
            "moments": {name: one.plain() for name, one in self.moments.items()},
            "slots": [list(slot) for slot in self.slots],
        }

    @classmethod
    def of(
        cls, content: Mapping[str, Any], constant: bool, what: str, squared: bool = False
    ) -> Slots:
        """Slots from plain data; raises ValueError or KeyError for what cannot be."""
        found = cls([str(name) for name in content["names"]], constant, what, squared)
        found.kinds = {str(name): str(kind) for name, kind in content["kinds"].items()}
        if not set(found.kinds.values()) <= {NUMBER, CATEGORY}:
            raise ValueError(f"{what} holds kinds that there are not")
        for one in content["slots"][constant:]:
            slot = Slot(*(str(part) for part in one))
            if slot.kind == "square" and slot in found.slots[-1:]:
                continue  # it came with its number
            value = {"number": 0.0, "missing": None, "level": slot.level}[slot.kind]
            fits = value is None or found.kinds[slot.name] == _kind(value)
            fits = fits and slot.name in found.names and found._place(slot.name, value) is None
            if not fits:
                raise ValueError(f"{what} holds a slot of no name, or one twice: {slot}")
            found._add(slot)
        for name, numbers in content["moments"].items():
            moments = Moments(int(numbers[0]), *(float(part) for part in numbers[1:]))
            sound = np.isfinite(moments.plain()).all() and moments.seen >= 0
            if name not in found._numbers or not sound or not moments.spread >= 0.0:
                raise ValueError(f"{what} holds moments that no numbers have")
            found.moments[name] = moments
        return found


def _is_missing(value: Any) -> bool:
    """None, not a number, or what pandas has in their place (which is not imported here)."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _kind(value: Any) -> str:
    return NUMBER if isinstance(value, float) else CATEGORY
