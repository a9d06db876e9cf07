"""Outcomes in bulk as somebody brings them: rows, sums, or a file of either.

A row is (unit, version, arm, reward, time, attributes): who was assigned, by which version of the
weights (None: without), what came of it, when, in seconds since 1970, and what is known of the
unit. Sums are of one version and arm: how many outcomes, their sum, and the sum of their squares.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from belman import frames
from belman.deciders import validate
from belman.errors import SettingError
from belman.frames import Frame, none_for_nan
from belman.studies.rules.arm_texts import ArmTexts

Columns = Mapping[str, Sequence[Any]]


class Rows(NamedTuple):
    """Columns of rows, all of one length."""

    unit: Sequence[Any]
    version: Sequence[Any]
    arm: Sequence[Any]
    reward: Sequence[Any]
    time: Sequence[Any]
    attributes: Sequence[Any]


class Sums(NamedTuple):
    """Columns of sums, all of one length."""

    version: Sequence[Any]
    segment: Sequence[Any]
    arm: Sequence[Any]
    n: Sequence[Any]
    sum: Sequence[Any]
    squares: Sequence[Any]


_OPTIONAL = {"time", "segment", "unit", "attributes"}
Given = Iterable[Sequence[Any] | Mapping[str, Any]] | frames.Given


def in_row(number: int, error: Exception) -> Exception:
    """What is wrong with a row; names that are not hashable are none."""
    kind = SettingError if isinstance(error, TypeError) else type(error)
    return kind(f"row {number}: {error}")


def brought(given: Given, arms: Callable[[], Iterable[Any]]) -> Rows | Sums:
    """What somebody brought, as columns; in a file an arm is found by its name as text.

    >>> brought([("u1", 2, "blue", 1.0)], lambda: ()).arm
    ('blue',)
    """
    if frames.is_table(given):
        frame = frames.read(given, empty=True)
        return _kind(frame, lambda: _read(frame, arms()))
    if not isinstance(given, Mapping):
        give = f"rows ({', '.join(Rows._fields)}), columns, or the path of a file"
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


def digest(batch: Rows | Sums) -> str:
    """By which the same batch is known again."""
    found = hashlib.blake2b(digest_size=16)
    for name, column in zip(batch._fields, batch, strict=True):
        if name == "attributes" and not any(column):
            continue
        found.update(f"{name}{list(column)!r}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _of_tuples(rows: list[Any]) -> Rows:
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, (tuple, list)) or not 4 <= len(row) <= len(Rows._fields):
            give = "give (unit, version, arm, reward), or with a time and attributes behind"
            raise SettingError(f"row {i} of the outcomes is {repr(row)[:80]}: {give}")
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
    found = kind(*(read.get(name, [None] * len(frame)) for name in kind._fields))
    return _checked(found) if kind is Sums else found


def _checked(sums: Sums) -> Sums:
    """Counts are whole numbers, and sums finite."""
    counts = [_number(n, i, "n") for i, n in enumerate(sums.n, start=1)]
    for i, n in enumerate(counts, start=1):
        if n < 1.0 or n != math.floor(n) or n > 2**53:
            raise SettingError(
                f"row {i}: n={sums.n[i - 1]!r} is not a count: give a whole number from 1 up"
            )
    totals = [_number(x, i, "sum") for i, x in enumerate(sums.sum, start=1)]
    squares = [_number(x, i, "squares") for i, x in enumerate(sums.squares, start=1)]
    return sums._replace(n=list(map(int, counts)), sum=totals, squares=squares)


def _number(given: Any, row: int, name: str) -> float:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    try:
        number = float(given) if is_number else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise SettingError(f"row {row}: {name}={str(given)[:80]!r} is not a finite number")
    return number + 0.0


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
        "n": frame.whole,
        "sum": lambda name: frame.numbers(name).tolist(),
        "squares": lambda name: frame.numbers(name).tolist(),
    }
    return {name: readers[name](name) for name in frame.columns}
