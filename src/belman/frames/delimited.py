"""Texts with a header and a row a line: separators of every kind, one JSON object a line."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from belman.errors import SettingError
from belman.frames.frame import Frame, check_names, refusal

_SEPARATORS = ("\t", ";", "|", ",")
_ONE_COLUMN = "\x1f"  # which no text holds: nothing is separated
_TRIED = 20  # rows that a separator is tried on, where the header has several
_CHUNK = 512  # rows held as lists: more of them wake the garbage collector, again and again
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _lines(content: bytes) -> io.TextIOWrapper:
    """The lines of a text, without its byte-order mark, as the module csv wants them."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    return io.TextIOWrapper(io.BytesIO(content), encoding, newline="")


def in_utf_8(content: bytes) -> tuple[bytes, str]:
    """Return a text in UTF-8 or UTF-16, and what was assumed of one that is in neither.

    Spreadsheets still write Windows-1252, in which letters with accents are bytes that UTF-8 does
    not know. Content with control characters is no text, and is left as it is.

    >>> text, said = in_utf_8("arm, Grün".encode("cp1252"))
    >>> text.decode(), said
    ('arm, Grün', 'The file is not UTF-8: it was read as Windows-1252 (Latin-1).')
    """
    try:
        if content.startswith(_UTF_16) or content.decode():
            return content, ""
    except UnicodeDecodeError:
        if not _CONTROL.search(content):
            said = "The file is not UTF-8: it was read as Windows-1252 (Latin-1)."
            return content.decode("cp1252", "replace").encode(), said
    return content, ""


def _filled(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """The rows that are not blank."""
    return (row for row in rows if row and (row[0].strip() or "".join(row).strip()))


def delimited(content: bytes, source: str) -> Frame:
    """Read a table whose cells are separated by a comma, a semicolon, a tab or a bar.

    >>> frame = delimited(b"arm;spent\\nblue;1,5\\n", "visits.csv")
    >>> frame.names("arm"), frame.numbers("spent").tolist()
    (['blue'], [1.5])
    """
    mark = separator(content)
    reader = csv.reader(_lines(content), delimiter=mark)
    names = [name.strip() for name in next(_filled(reader), [])]
    if not names:
        raise SettingError(f"{source} is empty: give a header, and rows below it")
    check_names(source, names)
    columns: list[list[str]] = [[] for _ in names]
    rows = _filled(reader)
    while chunk := list(islice(rows, _CHUNK)):
        if set(map(len, chunk)) != {len(names)}:
            raise refusal(source, list(_ragged(content, mark, len(names))), str)
        for column, cells in zip(columns, zip(*chunk, strict=True), strict=True):
            column += cells
    named = {name: column for name, column in zip(names, columns, strict=True) if name}
    return Frame(source, named, decimal_comma=mark in (";", "\t", _ONE_COLUMN))


def separator(content: bytes) -> str:
    """The separator that the header has; of several, the one by which the first rows agree with it.

    >>> separator(b"arm;spent, EUR\\nblue;1,5\\n"), separator(b"reward\\n0,5\\n") == "\\x1f"
    (';', True)
    """
    result = {mark: _first_rows(content, mark) for mark in _SEPARATORS}
    result = {mark: rows for mark, rows in result.items() if rows and len(rows[0]) > 1}

    def fit(mark: str) -> tuple[int, int]:
        width = len(result[mark][0])
        return sum(len(row) == width for row in result[mark]), width

    return max(result, key=fit, default=_ONE_COLUMN)


def _first_rows(content: bytes, mark: str) -> list[list[str]]:
    try:
        return list(islice(_filled(csv.reader(_lines(content), delimiter=mark)), _TRIED))
    except csv.Error:
        return []


def _ragged(content: bytes, mark: str, width: int) -> Iterator[str]:
    """The rows of another length than the header: by their number, and by the line of the file."""
    reader = csv.reader(_lines(content), delimiter=mark)
    number, line = -1, 1
    for row in reader:
        if "".join(row).strip():
            number += 1
            if len(row) != width:
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                yield f"row {number} (line {line}): {cells}, and {width} columns"
        line = reader.line_num + 1


def ndjson(content: bytes, source: str) -> Frame:
    """Read a table with a JSON object a line."""
    columns: dict[str, list[Any]] = {}
    wrong: list[str] = []
    rows, count = _objects(content, wrong), 0
    while chunk := list(islice(rows, _CHUNK)):
        part = transposed(chunk)
        for name in {**columns, **part}:
            if name not in columns:
                columns[name] = [None] * count
            columns[name] += part.get(name, [None] * len(chunk))
        count += len(chunk)
    if wrong:
        raise refusal(source, wrong, str)
    return Frame(source, columns, typed=True)


def _objects(content: bytes, wrong: list[str]) -> Iterator[dict[str, Any]]:
    """The objects of a text; lines that are none join what is `wrong`."""
    number = 0
    for line, text in enumerate(_lines(content), start=1):
        if not text.strip():
            continue
        number += 1
        why = ""
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            row, why = None, f": {error}"
        if isinstance(row, dict):
            yield row
        else:
            what = f"{text.strip()[:80]!r} is not a JSON object{why}"
            wrong.append(f"row {number} (line {line}): {what}")


def transposed(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Columns of rows, None where a row lacks a name that others have."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}
