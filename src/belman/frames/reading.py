"""From whatever somebody brings to a frame: by the ending of a file, or by the kind of object."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol

from belman.errors import SettingError, listing, needing
from belman.frames.delimited import delimited, in_utf_8, ndjson, transposed
from belman.frames.frame import Frame, check_names

_TEXT, _JSON, _ARROW = (".csv", ".tsv", ".txt"), (".ndjson", ".jsonl"), (".arrow", ".feather")
#: What the name of a file may end in, with .gz behind where it is a text.
ENDINGS = (*_TEXT, *_JSON, ".parquet", *_ARROW)

_BLANK = b"\xef\xbb\xbf \t\r\n"  # before the first sign of a text


class DataFrame(Protocol):
    """What data frames of pandas, polars and Arrow have in common."""

    @property
    def columns(self) -> Any: ...
    def __getitem__(self, name: Any, /) -> Any: ...


File = str | os.PathLike[str] | IO[str] | IO[bytes]
Given = File | DataFrame | Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]]


def read(given: Any, *, empty: bool = False) -> Frame:
    """Read a table. See docs/guide/tables.md for what files are read, and how.

    Parameters
    ----------
    given
        The path of a file, an open file, a data frame, a mapping of columns, or mappings as rows.
    empty
        Whether the table may have no rows.

    Returns
    -------
    Frame
        The table, whose columns are read by its methods.

    Raises
    ------
    SettingError
        If it cannot be read, or has no rows and may not be empty.

    >>> read([{"arm": "blue", "reward": 1}, {"arm": "red"}]).cells("reward")
    [1, None]
    """
    if _is_file(given):
        frame = _file(given)
    elif isinstance(given, Mapping):
        frame = _columns(given, given, "the table")
    elif _is_frame(given):
        frame = _columns(*_named_columns(given), "the data frame")
    else:
        frame = Frame("the table", transposed(_mappings(given)), typed=True)
    if not len(frame) and not empty:
        raise SettingError(f"{frame.source} has no rows below its header")
    return frame


def is_path(text: str) -> bool:
    """Say whether a text names a file of a table, by its ending.

    Parameters
    ----------
    text
        Any text, such as visits.csv.gz.

    Returns
    -------
    bool
        True for a path that ends in one of `ENDINGS`, also with .gz behind it.
    """
    return text.strip().lower().removesuffix(".gz").endswith(ENDINGS)


def is_table(given: object) -> bool:
    """Say whether this is a file, an open file or a data frame, and not rows or columns in Python.

    Parameters
    ----------
    given
        Any object. Data frames are those of pandas, Polars, DuckDB and narwhals, and whatever else
        gives a stream of Arrow.

    Returns
    -------
    bool
        True for a table. Any text counts as the path of a file.
    """
    return _is_file(given) or _is_frame(given)


def _is_file(given: object) -> bool:
    return isinstance(given, (str, os.PathLike)) or hasattr(given, "read")


def _is_frame(given: object) -> bool:
    if hasattr(given, "collect_schema"):  # Polars and narwhals, lazy too
        return True
    if hasattr(given, "columns"):
        return hasattr(given, "__getitem__")
    return hasattr(given, "__arrow_c_stream__") and not _lists_itself(given)


# Files


def _file(given: Any) -> Frame:
    """Read a file as what its name ends in, an open one as what it begins like."""
    path = None if hasattr(given, "read") else Path(given).expanduser()
    called = getattr(given, "name", "the file") if path is None else path
    source = "standard input" if called == "<stdin>" else str(called)
    ending = None if path is None else Path(path.name.lower().removesuffix(".gz")).suffix
    if ending is not None and ending not in ENDINGS:
        raise SettingError(f"{source} is not a table: its name must end in {listing(ENDINGS)}")
    try:
        if path is not None and ending not in (*_TEXT, *_JSON):
            return _arrow(path, ending == ".parquet", source)
        content = given.read() if path is None else path.read_bytes()
        if isinstance(content, str):
            content = content.encode()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        if path is None and content.startswith((b"PAR1", b"ARROW1")):
            return _arrow(io.BytesIO(content), content.startswith(b"PAR1"), source)
        is_json = ending in _JSON or (path is None and content.lstrip(_BLANK).startswith(b"{"))
        content, said = in_utf_8(content)
        return replace((ndjson if is_json else delimited)(content, source), said=said)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingError(f"{source} cannot be read: {why}") from None


def _arrow(file: Path | IO[bytes], is_parquet: bool, source: str) -> Frame:
    with needing("a table in Parquet or Arrow", "parquet", "pyarrow"):
        import pyarrow
        from pyarrow import feather, parquet
    try:
        table = (parquet if is_parquet else feather).read_table(file)
        table.validate(full=True)  # a file that is damaged may end the process otherwise
        return _columns(table.column_names, table, source, typed=False)
    except (pyarrow.ArrowException, OverflowError, UnicodeDecodeError) as error:
        raise SettingError(f"{source} cannot be read: {error}") from None


# Objects

_LISTS = ("to_pylist", "notna", "to_list", "tolist")  # of columns: Arrow, pandas, Polars, NumPy


def _named_columns(given: Any) -> tuple[Iterable[Any], Any]:
    """The names of a data frame's columns, and what has them under these names.

    A lazy frame is collected. What does not list its columns, such as a relation of DuckDB, is read
    as a stream of Arrow.
    """
    if hasattr(given, "to_native"):  # narwhals
        given = given.to_native()
    if hasattr(given, "collect_schema") and hasattr(given, "collect"):  # lazy
        given = given.collect()
    if hasattr(given, "columns"):
        names = list(getattr(given, "column_names", given.columns))  # Arrow's have no names
        is_stream = hasattr(given, "__arrow_c_stream__")
        if not names or not is_stream or _lists_itself(given[names[0]]):
            return names, given
    with needing("a stream of Arrow", "parquet", "pyarrow"):
        import pyarrow
    try:
        table = pyarrow.table(given)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        words = f"{type(given).__name__} gives no table in Arrow: {error}"
        raise SettingError(words) from None
    return table.column_names, table


def _lists_itself(column: Any) -> bool:
    return any(hasattr(type(column), name) for name in _LISTS)


def _mappings(given: Any) -> list[Mapping[str, Any]]:
    rows = list(given) if isinstance(given, Iterable) else [given]
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            kinds = "a file, a data frame, columns by name, or a list of mappings"
            raise SettingError(f"row {i} of the table is {repr(row)[:80]}: give {kinds}")
    return rows


def _columns(names: Iterable[Any], given: Any, source: str, typed: bool = True) -> Frame:
    known = list(names)
    check_names(source, list(map(str, known)))
    columns = {str(name): _listed(given[name]) for name in known}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        result = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
        raise SettingError(f"the columns of {source} are not of one length: {result}")
    return Frame(source, columns, typed)


def _listed(column: Any) -> list[Any]:
    """A column as a list of Python's own values, None for missing ones."""
    kind = getattr(column, "type", getattr(column, "dtype", ""))  # of Arrow, of all others
    cells = _cells(column)
    is_decimal = str(kind).lower().startswith("decimal") or "[decimal" in str(kind)
    return [_plain(cell) for cell in cells] if is_decimal else cells


def _cells(column: Any) -> list[Any]:
    if hasattr(column, "to_pylist"):  # Arrow
        return _structs(column)
    if hasattr(column, "notna"):  # pandas
        return list(column.astype(object).where(column.notna(), None))
    if hasattr(column, "to_list"):  # polars
        return list(column.to_list())
    if hasattr(column, "tolist"):  # NumPy
        return list(column.tolist())
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise SettingError(f"{repr(column)[:80]} is not a column: give a list with a value per row")
    return list(column)


def _plain(cell: Any) -> Any:
    """A decimal number, as databases have sums, as Python has numbers; None and NaN stay."""
    if cell is None or cell != cell:
        return None
    return int(cell) if cell == cell.to_integral_value() else float(cell)


def _structs(column: Any) -> list[Any]:
    """A column of Arrow as Python's values.

    A struct has all of its names in every row, a row only some; a map comes as a list of pairs.
    """
    result: list[Any] = column.to_pylist()
    if not str(column.type).startswith(("struct", "map")):
        return result
    pairs = (row.items() if isinstance(row, Mapping) else row for row in result)
    return [
        None if row is None else {key: value for key, value in row if value is not None}
        for row in pairs
    ]
