"""What people say of a context or an arm, as numbers: a slot for each number and each category.

Numbers are standardised as they come (`moments.py`); those of a context have two slots more, for
the square and for the logarithm. What is missing (not given, None or not a number) has a slot of
its own, and counts as the average. A level of a category has a slot of its own from its first
meeting on, as long as there is room for its columns. The levels beyond share one slot, "others". Of
those, the last 500 of a name are counted. One that was met 10 times, and twice as often as a level
with a slot of its own, takes the slot of the level met least, which joins the others with all that
was learnt of it. All counts are halved at every 8,192th request, so that levels that come no more
make room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.assignment.contexts import CATEGORY as CATEGORY
from belman.assignment.contexts import FURTHEST_SQUARE, LARGEST, LEVEL, LONGEST, MISSING, OTHERS
from belman.assignment.contexts import LOG as LOG
from belman.assignment.contexts import NUMBER as NUMBER
from belman.assignment.contexts import SQUARE as SQUARE
from belman.codec import Count
from belman.deciders.featured.arrays import Arrays
from belman.deciders.featured.moments import Moments
from belman.deciders.validate import is_text
from belman.errors import SettingError, StateError, shown, unknown

Floats = NDArray[np.float64]

ROOT_HALF = math.sqrt(0.5)
_WAITING, _OFTEN, _HALVED = 500, 10, 8_192  # as the docstring says
#: The kind of a slot of a level that joined the others; the next level takes it.
FREE = "free"

Kind = Annotated[str, (NUMBER, CATEGORY).__contains__]
Level = Annotated[str, is_text]
Levels = dict[Level, Count]


class Slot(NamedTuple):
    """One number of an encoding: the value itself, its square or its logarithm, whether it is
    missing, or one of its levels.
    """

    name: str
    kind: str
    level: str = ""

    @property
    def label(self) -> str:
        """As a person reads it."""
        if self.kind in (NUMBER, SQUARE, LOG):
            return {SQUARE: f"{self.name}²", LOG: f"ln {self.name}"}.get(self.kind, self.name)
        return f"{self.name}={self.level if self.kind == LEVEL else self.kind}"


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


class Pooled(NamedTuple):
    """A level that joined the others: all that was learnt of its slot is of theirs."""

    slot: int
    others: int


class Room(NamedTuple):
    """Whether one level more of a name may have a slot, and how many columns that takes."""

    allows: Callable[[str], bool]
    cost: Callable[[str], int]


@dataclass
class Slots:
    """The slots of some named values; what they are is told by the first value of each, but for
    arrays, which are declared.
    """

    declared: list[str]
    what: Annotated[str, ("context", "features").__contains__]
    squared: bool = False
    kinds: dict[str, Kind] = field(default_factory=dict)
    moments: dict[str, Moments] = field(default_factory=dict)
    logs: dict[str, Moments] = field(default_factory=dict)
    slots: list[Slot] = field(default_factory=list)
    #: How often levels were met of late, by name: those with a slot, and those that wait for one.
    levels: dict[str, Levels] = field(default_factory=dict)
    waiting: dict[str, Levels] = field(default_factory=dict)
    requests: Count = 0
    #: Whether levels have no budget, and bags of words are let in.
    wide: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.arrays = Arrays(self.declared)
        if self.arrays.bags and not self.wide:
            remedy = 'belman.models.Logistic(covariance="diagonal") is a model that can'
            raise SettingError(f"a full belief has no bags of words ({self.arrays.bags}): {remedy}")
        self.names, self.constant = self.arrays.names, self.what == "context"
        #: Where numbers, levels, others and missing values are.
        self._numbers: dict[str, int] = {}
        self._levels: dict[tuple[str, str], int] = {}
        self._rest: dict[tuple[str, str], int] = {}
        self._free: list[int] = []
        kept, self.slots = self.slots, []
        if self.constant:
            self._add(Slot("constant", NUMBER))
        for slot in kept[self.constant :]:
            self._check(slot)
            if slot.kind not in (SQUARE, LOG):
                self._add(slot, again=True)
        levels = {(name, level) for name, known in self.levels.items() for level in known}
        sound = kept in ([], self.slots) and levels == self._levels.keys()
        scaled = self.moments.keys() | self.logs.keys()
        if not sound or not scaled <= self._numbers.keys():
            raise StateError(f"{self.what} holds slots and levels that do not belong together")

    def _check(self, slot: Slot) -> None:
        """Raise StateError for a slot of a state that no values have."""
        kind = self.kinds.get(slot.name)
        fits = slot.kind == FREE or slot.name in self.names
        fits = fits and {
            NUMBER: kind == NUMBER and slot.name not in self._numbers,
            SQUARE: self.squared and slot in self.slots[-2:],
            LOG: self.squared and slot in self.slots[-2:],
            MISSING: (slot.name, MISSING) not in self._rest,
            OTHERS: kind == CATEGORY and (slot.name, OTHERS) not in self._rest,
            LEVEL: kind == CATEGORY and (slot.name, slot.level) not in self._levels,
            FREE: True,
        }.get(slot.kind, False)
        if not fits:
            raise StateError(f"{self.what} holds a slot of no name, or one twice: {slot}")

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def squares(self) -> bool:
        """Whether there is a number with a square."""
        return self.squared and NUMBER in self.kinds.values()

    def size(self, name: str) -> int:
        """Return how many slots a name has or may need, squares apart: a number and missing, or
        others, missing and each level.
        """
        return 2 + len(self.levels.get(name, ()))

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
            if type(value) is not float or not abs(value) <= LARGEST:
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
        is_short = isinstance(value, str) and len(value) <= LONGEST
        if is_short and (value.isascii() or is_text(value)):
            return value
        if isinstance(value, (int, float)) and abs(value) <= LARGEST:
            return float(value)
        allowed = f"a number up to {LARGEST:g}, or a word of up to {LONGEST} characters"
        raise SettingError(f"{name}={shown(value)} is not allowed: it must be {allowed}")

    def whole(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Named values as a person gives them: bags of words in one piece."""
        return dict(values)

    def news(self, values: Mapping[str, Any]) -> bool:
        """Whether some of these values have no slot yet."""
        return any(self._place(name, value) is None for name, value in values.items())

    def _place(self, name: str, value: Any) -> int | None:
        """The place of a value; levels without a slot are among the others, once there are any."""
        if type(value) is float:
            return self._numbers.get(name)
        if value is None:
            return self._rest.get((name, MISSING))
        place = self._levels.get((name, value))
        return self._rest.get((name, OTHERS)) if place is None else place

    def meet(
        self, values: Mapping[str, Any], room: Callable[[], Room], count: bool = True
    ) -> list[Rescaled | Pooled]:
        """Give slots to what is new, and `count` numbers and levels; what changed of other slots,
        in order.
        """
        changed: list[Rescaled | Pooled] = []
        for name, value in values.items():
            if type(value) is float:
                place = self._numbers.get(name)
                if place is None:
                    self.kinds[name] = NUMBER
                    place = self._add(Slot(name, NUMBER))
                if count:
                    changed += self._count_number(name, value, place)
            elif value is not None:
                changed += self._meet_level(name, value, room, count)
            elif (name, MISSING) not in self._rest:
                self._add(Slot(name, MISSING))
        if count and self.levels:
            self.requests += 1
            if self.requests % _HALVED == 0:
                for levels in (*self.levels.values(), *self.waiting.values()):
                    for level in levels:
                        levels[level] //= 2
        return changed

    def _count_number(self, name: str, value: float, place: int) -> list[Rescaled | Pooled]:
        missing, squared = self._rest.get((name, MISSING), -1), self.squared
        found = _counted(self.moments[name], value, place, place + 1 if squared else -1, missing)
        if squared:
            found += _counted(self.logs[name], _log(value), place + 2, -1, missing)
        return found

    def _meet_level(
        self, name: str, value: str, room: Callable[[], Room], count: bool
    ) -> list[Rescaled | Pooled]:
        self.kinds[name] = CATEGORY
        known = self.levels.setdefault(name, {})
        changed: list[Rescaled | Pooled] = []
        if value not in known:
            waiting = self.waiting.setdefault(name, {})
            times = waiting.pop(value, 0)
            space = room()
            if not space.allows(name):
                if (name, OTHERS) not in self._rest:
                    self._add(Slot(name, OTHERS))
                least = self._least(space.cost, space.cost(name)) if times + 1 >= _OFTEN else None
                if least is None or times + 1 < 2 * self.levels[least.name][least.level]:
                    waiting[value] = times + count  # the last one met is the last one
                    if len(waiting) > _WAITING:
                        del waiting[next(iter(waiting))]
                    return []
                changed.append(self.pool(least))
            known[value] = times
            self._add(Slot(name, LEVEL, value))
        known[value] += count
        return changed

    def _least(self, cost: Callable[[str], int], enough: int) -> Slot | None:
        """The level met least of those that take enough columns, the first of equals."""
        able = [
            (self.levels[name][level], place, Slot(name, LEVEL, level))
            for (name, level), place in self._levels.items()
            if cost(name) >= enough
        ]
        return min(able)[-1] if able else None

    def pool(self, slot: Slot | None = None) -> Pooled:
        """Let a level, or the one met least, join the others."""
        slot = slot or self._least(lambda _: 1, 1)
        assert slot is not None
        others = self._rest.get((slot.name, OTHERS))
        if others is None:
            others = self._add(Slot(slot.name, OTHERS))
        del self.levels[slot.name][slot.level]
        place = self._levels.pop((slot.name, slot.level))
        self.slots[place] = Slot("", FREE)
        self._free.append(place)
        self._free.sort()
        return Pooled(place, others)

    def _add(self, slot: Slot, again: bool = False) -> int:
        """Have a slot, in a free place or as the last one; `again` as the last one in any case."""
        reuses = self._free and slot.kind != NUMBER and not again
        place = self._free.pop(0) if reuses else len(self.slots)
        self.slots[place : place + 1] = [slot]
        if slot.kind == NUMBER:
            self._numbers[slot.name] = place
            self.moments.setdefault(slot.name, Moments())
            if self.squared and place > 0:
                self.slots += [Slot(slot.name, SQUARE), Slot(slot.name, LOG)]
                self.logs.setdefault(slot.name, Moments())
        elif slot.kind == LEVEL:
            self._levels[slot.name, slot.level] = place
        elif slot.kind == FREE:
            self._free.append(place)
        else:
            self._rest[slot.name, slot.kind] = place
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
                    near = min(abs(score), FURTHEST_SQUARE)
                    out[place + 1] = (near * near - 1.0) * ROOT_HALF
                    out[place + 2] = self.logs[name].standardised(_log(value))
            else:
                other = self._place(name, value)
                assert other is not None
                out[other] = 1.0

    def spread(self, place: int) -> float:
        """The standard deviation by which a number is divided; 1 for what is none."""
        slot = self.slots[place]
        if slot.kind == LOG:
            return self.logs[slot.name].spread or 1.0
        if slot.kind not in (NUMBER, SQUARE):
            return 1.0
        spread = self.moments[slot.name].spread or 1.0
        return spread if slot.kind == NUMBER else spread * spread / ROOT_HALF


def _log(value: float) -> float:
    """Return ln(1 + x), and its mirror image below 0."""
    return math.copysign(math.log1p(abs(value)), value)


def _counted(
    moments: Moments, value: float, place: int, square: int, missing: int
) -> list[Rescaled | Pooled]:
    """Count a value, and return the scale that it changed, if it did."""
    first = moments.spread == 0.0
    centre, spread = moments.centre, moments.spread or 1.0
    if not moments.add(value) or moments.seen == 1:
        return []
    factor, shift = (moments.spread or 1.0) / spread, (moments.centre - centre) / spread
    return [Rescaled(place, square, missing, factor, shift, first)]


def _is_missing(value: Any) -> bool:
    """None, not a number, or what pandas has in their place (which is not imported here)."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _kind(value: Any) -> str:
    return NUMBER if isinstance(value, float) else CATEGORY
