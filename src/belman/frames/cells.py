"""One cell of a table as a number, a time or JSON: a text, or what a data frame holds."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any

_NOTHING = ("", "na", "n/a", "nan", "null", "none")
#: Texts that stand for a missing value, in every case.
MISSING = frozenset(
    "".join(signs)
    for word in _NOTHING
    for signs in itertools.product(*zip(word, word.upper(), strict=True))
)

_BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?")


def is_missing(cell: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, NaT, pandas' NA, or one of the texts `MISSING`.

    >>> is_missing(" N/A"), is_missing(float("nan")), is_missing("0")
    (True, True, False)
    """
    if isinstance(cell, str):
        return cell.strip() in MISSING
    if cell is None or type(cell).__name__ == "NAType":
        return True
    return isinstance(cell, (float, date)) and bool(cell != cell)


def number(cell: Any, decimal_comma: bool = False) -> float:
    """Read a finite number, or TRUE, yes, FALSE, no as 1 and 0. Other cells: ValueError.

    With `decimal_comma` a comma is the decimal mark and a point separates thousands.

    >>> number("1e-3"), number("Yes"), number("1.234,5", decimal_comma=True)
    (0.001, 1.0, 1234.5)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if (truth := _BOOLEANS.get(text.lower())) is not None:
            return truth
        if decimal_comma:
            if not _DECIMAL_COMMA.fullmatch(text):
                raise ValueError(cell)
            text = text.replace(".", "").replace(",", ".")
        found = float(text)
    else:
        found = float(cell)
    if not math.isfinite(found):
        raise ValueError(cell)
    return found


def whole(cell: Any, decimal_comma: bool = False) -> int:
    """Read a whole number; 2.0 is one, as data frames have it beside missing values."""
    try:
        return int(cell if isinstance(cell, str) else cell.__index__())
    except (ValueError, AttributeError):
        found = number(cell, decimal_comma)
    if not found.is_integer() or abs(found) > 2**53:
        raise ValueError(cell)
    return int(found)


def seconds(cell: Any, decimal_comma: bool = False) -> float:
    """Read a time as seconds since 1970: a number, a date, or one in ISO 8601, in UTC where it
    names no zone.

    >>> seconds("2024-05-01"), seconds("2024-05-01T02:00:00+02:00"), seconds(7)
    (1714521600.0, 1714521600.0, 7.0)
    """
    if isinstance(cell, str):
        try:
            return number(cell, decimal_comma)
        except ValueError:
            cell = datetime.fromisoformat(cell.strip())
    if isinstance(cell, datetime):
        return (cell if cell.tzinfo else cell.replace(tzinfo=UTC)).timestamp()
    if isinstance(cell, date):
        return datetime.combine(cell, time(), UTC).timestamp()
    return number(cell)


def from_json(cell: Any) -> Any:
    """Read JSON; what a file or a data frame holds as a mapping or a list is read already."""
    return cell if isinstance(cell, (Mapping, list)) else json.loads(cell)
