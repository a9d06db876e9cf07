"""Outcomes in bulk as somebody brings them: rows, sums, or a file of either.

A row is (unit, version, arm, reward, time, attributes, context, chances): who was assigned, by
which version of the weights (None: without), what came of it, when, in seconds since 1970, what is
known of the unit, the context that it was decided in, and the chances of all arms, where these were
logged and no version says them. Sums are of one version and arm: how many outcomes,
their sum, and the sum of their squares.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belman import frames
from belman.deciders import validate
from belman.errors import BelmanError, SettingError, shown
from belman.frames import Frame, none_for_nan
from belman.studies.log.storage import is_time
from belman.studies.rules.written import ArmTexts

#: Seconds by which the clock of whoever assigned a unit may be ahead of that of the study.
AHEAD = 60.0
Columns = Mapping[str, Sequence[Any]]


class Rows(NamedTuple):
    """Columns of rows, all of one length."""

    unit: Sequence[Any]
    version: Sequence[Any]
    arm: Sequence[Any]
    reward: Sequence[Any]
    time: Sequence[Any]
    attributes: Sequence[Any]
    context: Sequence[Any]
    chances: Sequence[Any]


class Sums(NamedTuple):
    """Columns of sums, all of one length."""

    version: Sequence[Any]
    segment: Sequence[Any]
    arm: Sequence[Any]
    n: Sequence[Any]
    sum: Sequence[Any]
    squares: Sequence[Any]


_OPTIONAL = {"time", "segment", "unit", "attributes", "context", "chances"}
#: Columns that may be empty, and are then as if they had not been brought.
_SELDOM = {"attributes", "context", "chances"}
Given = Iterable[Sequence[Any] | Mapping[str, Any]] | frames.Given


class InRow:
    """Says in which row something is wrong: `with InRow() as at: for at.row, one in enumerate(…)`.

    >>> with InRow() as at:
    ...     for at.row, name in enumerate(["a", []], start=1):
    ...         _ = hash(name)
    Traceback (most recent call last):
        ...
    belman.errors.SettingError: row 2: unhashable type: 'list'
    """

    row = 0

    def __enter__(self) -> InRow:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (BelmanError, TypeError)):  # names that are not hashable are none
            result = SettingError if isinstance(error, TypeError) else type(error)
            raise result(f"row {self.row}: {error}") from None


def brought(given: Given, arms: Callable[[], Iterable[Any]]) -> Rows | Sums:
    """What somebody brought, as columns; in a file an arm is found by its name as text.

    >>> brought([("u1", 2, "blue", 1.0)], lambda: ()).arm
    ('blue',)
    """
    if not isinstance(given, list) and frames.is_table(given):
        frame = frames.read(given, empty=True)
        return _kind(frame, lambda: _read(frame, arms()))
    if not isinstance(given, Mapping):
        give = f"rows ({', '.join(Rows._fields)}), columns, or the path of a file"
        if not isinstance(given, list):
            given = validate.check_list(given, "outcomes", give)
        if not given or not all(isinstance(row, Mapping) for row in given):
            return _of_tuples(given)
    frame = frames.read(given, empty=True)
    return _kind(frame, lambda: frame.columns)


def count(batch: Rows | Sums) -> int:
    """How many outcomes a batch holds."""
    return sum(batch.n) if isinstance(batch, Sums) else len(batch.arm)


def have_units(batch: Rows | Sums) -> bool:
    """Whether every outcome of a batch is of a unit, so that an equal batch is the same one."""
    return isinstance(batch, Rows) and all(unit is not None for unit in batch.unit)


def says(column: Iterable[Any]) -> bool:
    """Whether any row has something in a column that may be empty.

    >>> says([None, {}]), says([None, {"country": "fr"}])
    (False, True)
    """
    return any(one is not None and not (isinstance(one, Mapping) and not one) for one in column)


def digest(batch: Rows | Sums) -> str:
    """By which the same batch is known again."""
    result = hashlib.blake2b(digest_size=16)
    for name, column in zip(batch._fields, batch, strict=True):
        if name in _SELDOM and not says(column):
            continue
        try:
            text = repr(list(column))
        except ValueError:
            raise SettingError(
                f"a row has {shown(column)} as its {name}, which no log keeps"
            ) from None
        result.update(f"{name}{text}".encode("utf-8", "surrogatepass"))
    return result.hexdigest()


def _of_tuples(rows: list[Any]) -> Rows:
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, (tuple, list)) or not 4 <= len(row) <= len(Rows._fields):
            give = (
                "give (unit, version, arm, reward), or with a time, attributes, a context, chances"
            )
            raise SettingError(f"row {i} of the outcomes is {shown(row)}: {give}")
    if not rows:
        return Rows(*((),) * len(Rows._fields))
    blank = (None,) * len(Rows._fields)
    return Rows(*zip(*((*row, *blank[len(row) :]) for row in rows), strict=True))


def _kind(frame: Frame, columns: Callable[[], Columns]) -> Rows | Sums:
    """The columns as rows, or as sums where there is a column n."""
    kind: Any = Sums if "n" in frame else Rows
    frame.require(*(name for name in kind._fields if name not in _OPTIONAL))
    frame.allow(kind._fields)
    read = columns()
    result = kind(*(read.get(name, [None] * len(frame)) for name in kind._fields))
    return _checked(result) if kind is Sums else result


def _checked(sums: Sums) -> Sums:
    """Counts are whole numbers, and sums finite."""

    def column(name: str) -> list[float]:
        result = []
        with InRow() as at:
            for at.row, one in enumerate(getattr(sums, name), start=1):
                result.append(number(one, name))
        return result

    counts = column("n")
    for i, n in enumerate(counts, start=1):
        if n < 1.0 or n != math.floor(n) or n > 2**53:
            raise SettingError(
                f"row {i}: n={shown(sums.n[i - 1])} is not a count: give a whole number from 1 up"
            )
    return sums._replace(n=list(map(int, counts)), sum=column("sum"), squares=column("squares"))


def number(given: Any, name: str) -> float:
    """Return a finite number; SettingError where it is none."""
    kinds = (int, float, np.integer, np.floating)
    is_number = isinstance(given, kinds) and not isinstance(given, bool)
    try:
        result = float(given) if is_number else math.nan
    except OverflowError:
        result = math.nan
    if not math.isfinite(result):
        raise SettingError(f"{name}={shown(given)} is not a finite number")
    return result + 0.0


# Files and data frames


def _read(frame: Frame, arms: Iterable[Any]) -> Columns:
    """Columns as they are to be; arms are found by their names as text."""
    readers: dict[str, Callable[[str], Sequence[Any]]] = {
        "unit": frame.keys,
        "version": lambda name: frame.whole(name, missing=True),
        "arm": lambda name: ArmTexts(arms).column(frame, name),
        "reward": lambda name: frame.numbers(name).tolist(),
        "time": lambda name: none_for_nan(frame.times(name, missing=True)),
        "segment": frame.keys,
        "attributes": frame.json,
        "context": frame.json,
        "chances": frame.json,
        "n": frame.whole,
        "sum": lambda name: frame.numbers(name).tolist(),
        "squares": lambda name: frame.numbers(name).tolist(),
    }
    return {name: readers[name](name) for name in frame.columns}


def check_times(rows: Rows, window: float | None, now: float) -> None:
    """Refuse rows whose times are none, or lie ahead; without a window they need none."""
    for i, time in enumerate(rows.time, start=1):
        if time is None and window is None:
            continue
        if not is_time(time):
            give = "give the seconds since 1970 at which the unit was assigned"
            raise SettingError(f"row {i}: time={shown(time)} is not valid: {give}")
        if window is not None and time > now + AHEAD:
            words = f"time={time!r} is {time - now:.0f} s ahead of the clock of the study"
            raise SettingError(f"row {i}: {words}: it has to be when the unit was assigned")
