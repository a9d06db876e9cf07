"""What people say of a context or an arm, as numbers: a slot for each number and each category.

Numbers are standardised as they come (`moments.py`); those of a context have two slots more, for
the square and for the logarithm, and after some values there are waves of all of them together
(`waves.py`). What is missing (not given, None or not a number) has a slot of
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
from belman.assignment.contexts import LARGEST, LEVEL, LONGEST, MISSING, OTHERS
from belman.assignment.contexts import LOG as LOG
from belman.assignment.contexts import NUMBER as NUMBER
from belman.assignment.contexts import SQUARE as SQUARE
from belman.codec import Array, Count
from belman.deciders.featured import waves
from belman.deciders.featured.arrays import Arrays
from belman.deciders.featured.moments import (
    CENTRE,
    SEEN,
    SPREAD,
    SQUARES,
    Moments,
    count_all,
    fill_all,
    renew,
)
from belman.deciders.featured.waves import Waves
from belman.deciders.validate import is_text
from belman.engine import LATER, entry
from belman.errors import SettingError, StateError, shown, unknown

Floats = NDArray[np.float64]
Rows = Annotated[NDArray[np.float64], Array((None, 5))]

ROOT_HALF = math.sqrt(0.5)
_WAITING, _OFTEN, _HALVED = 500, 10, 8_192  # as the docstring says
#: The kind of a slot of a level that joined the others; the next level takes it.
FREE = "free"
#: The kind of the slots of waves.
WAVE = "wave"

Kind = Annotated[str, (NUMBER, CATEGORY).__contains__]
Level = Annotated[str, is_text]
Levels = dict[Level, Count]


class Slot(NamedTuple):
    """One number of an encoding: the value itself, its square or its logarithm, whether it is
    missing, or one of its levels; or a wave of several values, by its number.
    """

    name: str
    kind: str
    level: str = ""

    @property
    def label(self) -> str:
        """As a person reads it."""
        if self.kind == WAVE:
            return f"wave {self.level} of {waves.COUNT}"
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
    #: Values of numbers and of their logarithms so far (`moments.py`), in the order of the slots.
    values: Rows = field(default_factory=lambda: np.zeros((0, 5)))
    logarithms: Rows = field(default_factory=lambda: np.zeros((0, 5)))
    slots: list[Slot] = field(default_factory=list)
    #: How often levels were met of late, by name: those with a slot, and those that wait for one.
    levels: dict[str, Levels] = field(default_factory=dict)
    waiting: dict[str, Levels] = field(default_factory=dict)
    requests: Count = 0
    waves: Waves | None = None
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
        self._first_wave = -1
        self._rows: dict[str, int] = {}  # where numbers are among the values
        kept_values = self.values, self.logarithms
        self.values, self.logarithms = np.zeros((0, 5)), np.zeros((0, 5))
        self._held = -1  # how many slots calls of kernels are for
        self._known: Mapping[str, Any] | None = None  # the values that they have
        kept, self.slots = self.slots, []
        if self.constant:
            self._add(Slot("constant", NUMBER))
        for slot in kept[self.constant :]:
            self._check(slot)
            if slot.kind == WAVE:
                self._add_waves()
            elif slot.kind not in (SQUARE, LOG):
                self._add(slot, again=True)
        levels = {(name, level) for name, known in self.levels.items() for level in known}
        sound = kept in ([], self.slots) and levels == self._levels.keys()
        waved = [] if self.waves is None else self.waves.names
        sound = sound and (self._first_wave < 0) == (self.waves is None)
        for rows, kept_rows in zip((self.values, self.logarithms), kept_values, strict=True):
            fit = kept_rows.shape == rows.shape and (kept_rows[:, [SEEN, SQUARES, SPREAD]] >= 0.0)
            sound = sound and bool(np.all(fit))
        self.values, self.logarithms = kept_values
        if not sound or not {*waved} <= self._rows.keys():
            raise StateError(f"{self.what} holds slots and levels that do not belong together")

    def _check(self, slot: Slot) -> None:
        """Raise StateError for a slot of a state that no values have."""
        kind = self.kinds.get(slot.name)
        fits = slot.kind in (FREE, WAVE) or slot.name in self.names
        fits = fits and {
            NUMBER: kind == NUMBER and slot.name not in self._numbers,
            SQUARE: self.squared and slot in self.slots[-2:],
            LOG: self.squared and slot in self.slots[-2:],
            MISSING: (slot.name, MISSING) not in self._rest,
            OTHERS: kind == CATEGORY and (slot.name, OTHERS) not in self._rest,
            LEVEL: kind == CATEGORY and (slot.name, slot.level) not in self._levels,
            FREE: True,
            WAVE: self.squared and self.waves is not None,
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
        if type(given) is not dict and not isinstance(given, Mapping):
            raise SettingError(f"{self.what} {given!r} is not a mapping: give {{name: value}}")
        if self.arrays.by_name:
            given = self.arrays.flat(given)
        result: dict[str, Any] = {}
        known = len(self.names)
        for name in self.names:
            value, kind = given.get(name), NUMBER
            if type(value) is not float or not abs(value) <= LARGEST:
                known -= value is None and name not in given
                value = self._plain(name, value)
                kind = NUMBER if isinstance(value, float) else CATEGORY
            if value is not None and kind != self.kinds.get(name, kind):
                article = "a number" if kind != NUMBER else "a category"
                raise SettingError(
                    f"{name}={shown(value)} is not allowed: {name} is {article} here"
                )
            result[name] = value
        if known < len(given):
            stranger = next(name for name in given if name not in result)
            raise SettingError(unknown(f"name in {self.what}", stranger, self.arrays.declared))
        return result

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
        return any(self._position(name, value) is None for name, value in values.items())

    def _position(self, name: str, value: Any) -> int | None:
        """The place of a value; levels without a slot are among the others, once there are any."""
        if type(value) is float:
            return self._numbers.get(name)
        if value is None:
            return self._rest.get((name, MISSING))
        position = self._levels.get((name, value))
        return self._rest.get((name, OTHERS)) if position is None else position

    def meet(
        self, values: Mapping[str, Any], room: Callable[[], Room], count: bool = True
    ) -> list[Rescaled | Pooled]:
        """Give slots to what is new, and `count` numbers and levels; what changed of other slots,
        in order.
        """
        changed: list[Rescaled | Pooled] = []
        for name, value in values.items():
            if type(value) is float:
                if name not in self._numbers:
                    self.kinds[name] = NUMBER
                    self._add(Slot(name, NUMBER))
            elif value is not None:
                changed += self._meet_level(name, value, room, count)
            elif (name, MISSING) not in self._rest:
                self._add(Slot(name, MISSING))
        if count and self._rows:
            changed = self._count_numbers(values) + changed
        if count and self.levels:
            self.requests += 1
            if self.requests % _HALVED == 0:
                for levels in (*self.levels.values(), *self.waiting.values()):
                    for level in levels:
                        levels[level] //= 2
        return changed

    def _count_numbers(self, values: Mapping[str, Any]) -> list[Rescaled | Pooled]:
        """Count numbers, and return the scales that changed."""
        self._tell(values)
        if not self._count():
            return []
        changed: list[Rescaled | Pooled] = []
        for name, row in self._rows.items():
            position, missing = self._numbers[name], self._rest.get((name, MISSING), -1)
            square = position + 1 if self.squared else -1
            changed += _rescaled(self.values[row], self._before[row], position, square, missing)
            if self.squared:
                before = self._log_before[row]
                changed += _rescaled(self.logarithms[row], before, position + 2, -1, missing)
        if self.squared and self.waves is None and (self.values[:, SEEN] == waves.VALUES).any():
            self._begin_waves()
        return changed

    def _tell(self, values: Mapping[str, Any]) -> None:
        """Let the calls of kernels have these values, NaN for a number that is missing."""
        if self._held != len(self.slots):
            self._hold()
        if self._known is not values:
            self._told[:] = [*map(values.get, self._rows)]  # None is NaN to NumPy
            self._known = values

    @property
    def moments(self) -> dict[str, Moments]:
        """The values of numbers so far, and their scales."""
        return {name: Moments(*self.values[row].tolist()) for name, row in self._rows.items()}

    @property
    def logs(self) -> dict[str, Moments]:
        """The same of the logarithms of numbers."""
        rows = self._rows.items() if self.squared else ()
        return {name: Moments(*self.logarithms[row].tolist()) for name, row in rows}

    def renew(self) -> None:
        """Use the scales of the values so far."""
        for row in self.values:
            renew(row)

    def _hold(self) -> None:
        """Have calls of kernels that hold the arrays that there are now."""
        count, self._held, self._known = len(self._rows), len(self.slots), None
        self._told, self._before = np.zeros(count), np.zeros((count, 2))
        self._log_before, self._out = np.zeros((len(self.logarithms), 2)), np.zeros(self._held)
        held = {"values": self._told, "rows": self.values, "logs": self.logarithms}
        before = {"before": self._before, "log_before": self._log_before}
        positions = np.array([self._numbers[name] for name in self._rows], dtype=np.int64)
        waved = waves.swing_of(self.waves, self._rows, self._first_wave)
        self._count = entry(count_all).hold(LATER, **held, **before)
        self._fill = entry(fill_all).hold(
            LATER, **held, positions=positions, waves=waved, out=self._out
        )

    def __getstate__(self) -> dict[str, Any]:
        """All but the calls, which hold arrays by their addresses: a copy has its own."""
        apart = ("_count", "_fill")
        return {name: part for name, part in vars(self).items() if name not in apart}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._held = -1

    def _begin_waves(self) -> None:
        """Have waves of the numbers that have a scale, if they are few enough."""
        scaled = [name for name in self.names if name in self._rows and self._scaled(name)]
        if 0 < len(scaled) <= waves.MOST_NUMBERS:
            moments = [self.moments[name] for name in scaled]
            centres, spreads = [one.centre for one in moments], [one.spread for one in moments]
            self.waves = Waves(scaled, centres, spreads)
            self._add_waves()

    def _scaled(self, name: str) -> bool:
        return bool(self.values[self._rows[name], SPREAD] > 0.0)

    def _add_waves(self) -> None:
        if self._first_wave < 0:
            self._first_wave = len(self.slots)
            self.slots += [Slot("", WAVE, str(position)) for position in range(1, waves.COUNT + 1)]

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
            (self.levels[name][level], position, Slot(name, LEVEL, level))
            for (name, level), position in self._levels.items()
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
        position = self._levels.pop((slot.name, slot.level))
        self.slots[position] = Slot("", FREE)
        self._free.append(position)
        self._free.sort()
        return Pooled(position, others)

    def _add(self, slot: Slot, again: bool = False) -> int:
        """Have a slot, in a free place or as the last one; `again` as the last one in any case."""
        reuses = self._free and slot.kind != NUMBER and not again
        position = self._free.pop(0) if reuses else len(self.slots)
        self.slots[position : position + 1] = [slot]
        if slot.kind == NUMBER and not (self.constant and position == 0):
            self._numbers[slot.name], self._rows[slot.name] = position, len(self._rows)
            self.values = np.vstack([self.values, np.zeros(5)])
            if self.squared:
                self.slots += [Slot(slot.name, SQUARE), Slot(slot.name, LOG)]
                self.logarithms = np.vstack([self.logarithms, np.zeros(5)])
        elif slot.kind == LEVEL:
            self._levels[slot.name, slot.level] = position
        elif slot.kind == FREE:
            self._free.append(position)
        elif slot.kind != NUMBER:
            self._rest[slot.name, slot.kind] = position
        return position

    def fill(self, values: Mapping[str, Any], out: Floats) -> None:
        """The numbers of values that were met."""
        self._tell(values)
        numbers = self._fill()
        out[:] = self._out
        if self.constant:
            out[0] = 1.0
        for name, value in values.items() if numbers < len(values) else ():
            if type(value) is not float:
                other = self._position(name, value)
                assert other is not None
                out[other] = 1.0

    def spread(self, position: int) -> float:
        """The standard deviation by which a number is divided; 1 for what is none."""
        slot = self.slots[position]
        if slot.kind == LOG:
            return self.logs[slot.name].spread or 1.0
        if slot.kind not in (NUMBER, SQUARE) or (self.constant and position == 0):
            return 1.0
        spread = self.moments[slot.name].spread or 1.0
        return spread if slot.kind == NUMBER else spread * spread / ROOT_HALF


def _rescaled(
    row: Floats, before: Floats, position: int, square: int, missing: int
) -> list[Rescaled | Pooled]:
    """Return how a scale changed, if it did."""
    centre, spread = before.tolist()
    if math.isnan(centre) or row[SEEN] == 1.0:
        return []
    first, spread = spread == 0.0, spread or 1.0
    factor, shift = (float(row[SPREAD]) or 1.0) / spread, (float(row[CENTRE]) - centre) / spread
    return [Rescaled(position, square, missing, factor, shift, first)]


def _is_missing(value: Any) -> bool:
    """None, not a number, or what pandas has in their place (which is not imported here)."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")
