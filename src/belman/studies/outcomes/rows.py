"""Outcomes in bulk as somebody brings them: rows, sums, or a file of either.

A row is (unit, version, arm, reward, time, attributes): who was assigned, by which version of the
weights (None: without), what came of it, when, in seconds since 1970, and what is known of the
unit. Sums are of one version and arm: how many outcomes, their sum, and the sum of their squares.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from belman.deciders import validate
from belman.errors import SettingError, listing, nearest, needing
from belman.studies.rules.arm_texts import ArmTexts

ENDINGS = (".csv", ".ndjson", ".jsonl", ".parquet", ".arrow", ".feather")
Columns = dict[str, Sequence[Any]]


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
Given = (
    Iterable[Sequence[Any] | Mapping[str, Any]]
    | Mapping[str, Sequence[Any]]
    | str
    | os.PathLike[str]
)


def in_row(number: int, error: Exception) -> Exception:
    """What is wrong with a row; names that are not hashable are none."""
    kind = SettingError if isinstance(error, TypeError) else type(error)
    return kind(f"row {number}: {error}")


def brought(given: Given, arms: Callable[[], Iterable[Any]]) -> Rows | Sums:
    """What somebody brought, as columns; in a file an arm is found by its name as text.

    >>> brought([("u1", 2, "blue", 1.0)], lambda: ()).arm
    ('blue',)
    """
    if isinstance(given, (str, os.PathLike)):
        return _with_arms(_kind(_read(Path(given)), str(given)), arms(), Path(given))
    if isinstance(given, Mapping):
        return _kind({name: _listed(column) for name, column in given.items()}, "the columns")
    give = f"rows ({', '.join(Rows._fields)}), columns, or the path of a file"
    rows = validate.check_list(given, "outcomes", give)
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _kind(_transposed(rows), "the rows")
    return _of_tuples(rows)


def _listed(column: Any) -> list[Any]:
    """A column as a list of Python's own numbers."""
    given = column.tolist() if hasattr(column, "tolist") else column
    return validate.check_list(given, "a column of outcomes", "one value a row")


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


def _transposed(rows: Sequence[Mapping[str, Any]]) -> Columns:
    names = {name: None for row in rows for name in row}
    return {name: [row.get(name) for row in rows] for name in names}


def _kind(columns: Columns, source: str) -> Rows | Sums:
    """The columns as rows, or as sums where they have a column n."""
    kind: Any = Sums if "n" in columns else Rows
    size = max(map(len, columns.values()), default=0)
    if any(len(column) != size for column in columns.values()):
        raise SettingError(f"{source} are not of one length")
    for name in kind._fields:
        if name not in columns and name not in _OPTIONAL:
            has = f"there are {listing(columns)}{nearest(name, columns)}"
            raise SettingError(f"{source} have no column {name!r}: {has}")
    for name in columns:
        if name not in kind._fields:
            allowed = f"it may be {listing(kind._fields)}{nearest(name, kind._fields)}"
            raise SettingError(f"{source} have a column {str(name)[:80]!r}: {allowed}")
    found = kind(*(columns.get(name, [None] * size) for name in kind._fields))
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


# Files


def _read(path: Path) -> Columns:
    if path.suffix not in ENDINGS:
        raise SettingError(f"{path} is not a file of outcomes: its name ends in {listing(ENDINGS)}")
    try:
        if path.suffix == ".csv":
            return _read_csv(path)
        if path.suffix in (".ndjson", ".jsonl"):
            return _read_ndjson(path)
        return _read_arrow(path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(f"{path} cannot be read: {error}") from None


def _read_csv(path: Path) -> Columns:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        names = next(reader, [])
        rows = [row for row in reader if row]
    for i, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise SettingError(f"{path}, row {i}: {len(row)} cells, and {len(names)} columns")
    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    found: Columns = {}
    for name, column in zip(names, cells, strict=True):
        reading = _READING.get(name, str)
        try:
            found[name] = [reading(cell) for cell in column]
        except (ValueError, RecursionError):
            i = next(i for i, cell in enumerate(column, start=1) if not _reads(reading, cell))
            kind = "JSON" if name == "attributes" else "number"
            wrong = f"{name} {column[i - 1][:80]!r} is not a {kind}"
            raise SettingError(f"{path}, row {i}: {wrong}") from None
    return found


def _reads(reading: Callable[[str], Any], cell: str) -> bool:
    try:
        reading(cell)
    except (ValueError, RecursionError):
        return False
    return True


_READING: dict[str, Callable[[str], Any]] = {
    "version": lambda cell: int(cell) if cell else None,
    "reward": float,
    "time": lambda cell: float(cell) if cell else None,
    "segment": lambda cell: cell or None,
    "unit": lambda cell: cell or None,
    "attributes": lambda cell: json.loads(cell) if cell else None,
    "n": int,
    "sum": float,
    "squares": float,
}


def _read_ndjson(path: Path) -> Columns:
    rows = []
    with path.open(encoding="utf-8") as file:
        for i, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise SettingError(f"{path}, line {i} is not JSON: {error}") from None
            if not isinstance(row, dict):
                raise SettingError(f"{path}, line {i} is not an object: {line[:80]!r}")
            rows.append(row)
    return _transposed(rows)


def _read_arrow(path: Path) -> Columns:
    with needing("a file of outcomes in Parquet or Arrow", "parquet", "pyarrow"):
        import pyarrow
        from pyarrow import feather, parquet
    try:
        read = parquet.read_table if path.suffix == ".parquet" else feather.read_table
        table = read(path)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise SettingError(f"{path} cannot be read: {error}") from None
    return {name: _plain(name, table[name].to_pylist()) for name in table.column_names}


def _plain(name: str, column: list[Any]) -> list[Any]:
    """A column as it is; a struct has all of its names in every row, a row only some."""
    if name != "attributes":
        return column
    return [_given(row) for row in column]


def _given(row: Any) -> Any:
    items = row.items() if isinstance(row, Mapping) else row  # a map of Arrow is a list of pairs
    return None if items is None else {key: value for key, value in items if value is not None}


def _with_arms(batch: Rows | Sums, arms: Iterable[Any], path: Path) -> Rows | Sums:
    """Arms of a file by their names as text; one that may be two arms is refused."""
    named, is_json = ArmTexts(arms), path.suffix in (".ndjson", ".jsonl")
    found = []
    for i, cell in enumerate(batch.arm, start=1):
        meant = named.meant(cell, typed=is_json)
        named.check_one(cell, meant, f"{path}, row {i}")
        found.append(meant[0] if meant else cell)
    return batch._replace(arm=found)
