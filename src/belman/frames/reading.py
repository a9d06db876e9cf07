"""From whatever somebody brings to a frame: by the ending of a file, or by the kind of object."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from belman.errors import SettingError, listing, needing
from belman.frames.delimited import delimited, ndjson, transposed
from belman.frames.frame import Frame

_TEXT, _JSON, _ARROW = (".csv", ".tsv", ".txt"), (".ndjson", ".jsonl"), (".arrow", ".feather")
#: What the name of a file may end in, with .gz behind where it is a text.
ENDINGS = (*_TEXT, *_JSON, ".parquet", *_ARROW)
#: Paths, open files, data frames (pandas, polars, Arrow), columns by name, or rows by name.
Given = str | os.PathLike[str] | IO[Any] | Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]]


def read(given: Any, *, empty: bool = False) -> Frame:
    """Read a table: a file, an open one, a data frame, a mapping of columns, or mappings as rows.

    A table without rows is refused unless it may be `empty`. See docs/guide/tables.md for what
    files are read, and how.

    >>> read([{"arm": "blue", "reward": 1}, {"arm": "red"}]).cells("reward")
    [1, None]
    """
    if isinstance(given, (str, os.PathLike)):
        frame = _file(Path(given).expanduser())
    elif hasattr(given, "read"):
        frame = _open_file(given)
    elif isinstance(given, Mapping):
        columns = {str(name): _listed(column) for name, column in given.items()}
        frame = _checked(Frame("the table", columns, typed=True))
    elif _is_frame(given):
        names = getattr(given, "column_names", given.columns)  # Arrow's columns have no names
        columns = {str(name): _listed(given[name]) for name in names}
        frame = _checked(Frame("the data frame", columns, typed=True))
    else:
        frame = Frame("the table", transposed(_mappings(given)), typed=True)
    if not len(frame) and not empty:
        raise SettingError(f"{frame.source} has no rows below its header")
    return frame


def is_path(text: str) -> bool:
    """Whether a text names a file of a table, by its ending."""
    return text.strip().lower().removesuffix(".gz").endswith(ENDINGS)


def is_table(given: object) -> bool:
    """Whether this is a file, an open one, or a data frame (pandas, polars, Arrow), and not rows
    or columns in Python.
    """
    is_file = isinstance(given, (str, os.PathLike)) or hasattr(given, "read")
    return is_file or _is_frame(given)


def _is_frame(given: object) -> bool:
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


# Files


def _file(path: Path) -> Frame:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in ENDINGS:
        raise SettingError(f"{path} is not a table: its name must end in {listing(ENDINGS)}")
    try:
        if ending not in (*_TEXT, *_JSON):
            return _arrow(path, ending, str(path))
        content = _unpacked(path.read_bytes())
        return (ndjson if ending in _JSON else delimited)(content, str(path))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error) from None


def _unreadable(source: object, error: Exception) -> SettingError:
    if isinstance(error, UnicodeDecodeError):
        return SettingError(f"{source} cannot be read: it is not text in UTF-8 ({error})")
    return SettingError(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}")


def _open_file(file: IO[Any]) -> Frame:
    """Read an open file, or standard input, as what it begins like."""
    source = str(getattr(file, "name", "the file")).replace("<stdin>", "standard input")
    try:
        content = file.read()
        content = _unpacked(content.encode() if isinstance(content, str) else content)
        if content.startswith((b"PAR1", b"ARROW1")):
            return _arrow(content, ".parquet" if content.startswith(b"PAR1") else ".arrow", source)
        begins = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        return (ndjson if begins == b"{" else delimited)(content, source)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(source, error) from None


def _unpacked(content: bytes) -> bytes:
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def _arrow(given: Path | bytes, ending: str, source: str) -> Frame:
    with needing("a table in Parquet or Arrow", "parquet", "pyarrow"):
        import pyarrow
        from pyarrow import feather, parquet
    read_table = parquet.read_table if ending == ".parquet" else feather.read_table
    try:
        table = read_table(pyarrow.BufferReader(given) if isinstance(given, bytes) else given)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise SettingError(f"{source} cannot be read: {error}") from None
    return Frame(source, {name: _listed(table[name]) for name in table.column_names})


# Objects


def _mappings(given: Any) -> list[Mapping[str, Any]]:
    rows = list(given) if isinstance(given, Iterable) else [given]
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            kinds = "a file, a data frame, columns by name, or a list of mappings"
            raise SettingError(f"row {i} of the table is {repr(row)[:80]}: give {kinds}")
    return rows


def _checked(frame: Frame) -> Frame:
    lengths = {name: len(column) for name, column in frame.columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
        raise SettingError(f"the columns of {frame.source} are not of one length: {found}")
    return frame


def _listed(column: Any) -> list[Any]:
    """A column as a list of Python's own values, None for missing ones."""
    if hasattr(column, "to_pylist"):  # Arrow
        return _structs(column)
    if hasattr(column, "notna"):  # pandas
        return list(column.astype(object).where(column.notna(), None))
    for name in ("to_list", "tolist"):  # polars, NumPy
        if hasattr(column, name):
            return list(getattr(column, name)())
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise SettingError(f"{repr(column)[:80]} is not a column: give a list with a value per row")
    return list(column)


def _structs(column: Any) -> list[Any]:
    """A column of Arrow as Python's values.

    A struct has all of its names in every row, a row only some; a map comes as a list of pairs.
    """
    found: list[Any] = column.to_pylist()
    if not str(column.type).startswith(("struct", "map")):
        return found
    pairs = (row.items() if isinstance(row, Mapping) else row for row in found)
    return [
        None if row is None else {key: value for key, value in row if value is not None}
        for row in pairs
    ]
