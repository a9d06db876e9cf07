"""One cell of a table as a number, a time or JSON: a text, or what a data frame holds."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

_NOTHING = ("", "na", "n/a", "nan", "null", "none")
#: Texts that stand for a missing value, in every case.
MISSING = frozenset(
    "".join(signs)
    for word in _NOTHING
    for signs in itertools.product(*zip(word, word.upper(), strict=True))
)

_TRUTHS = {"true": 1.0, "yes": 1.0, "y": 1.0, "false": 0.0, "no": 0.0, "n": 0.0}
_CURRENCY = "(?:[A-Z]{0,2}[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|CNY|CAD|AUD|SEK|NOK|DKK|PLN|BRL|kr|zł)"
_AMOUNT = re.compile(rf"([+-]?)\s*{_CURRENCY}?\s*([+-]?[\d.,'’\s]*\d[\d.,]*)\s*{_CURRENCY}?")
_THOUSANDS = r"[+-]?(?:\d+|\d{{1,3}}(?:[{0}\s'’]\d{{3}})+)?(?:{1}\d*)?(?:[eE][+-]?\d+)?"
_WITH_POINT = re.compile(_THOUSANDS.format(",", r"\."))
_WITH_COMMA = re.compile(_THOUSANDS.format(".", ","))
_BETWEEN = str.maketrans("", "", "'’ \u00a0\u202f")  # thousands
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")  # thousands, or three decimals
_DAY = re.compile(
    r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})"
    r"(?:[\sT,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([ap]m)?)?",
    re.IGNORECASE,
)


class Style(NamedTuple):
    """How the cells of a column are written: 0,5 for a half, 12/31/2024 for the end of a year."""

    decimal_comma: bool = False
    month_first: bool = False


PLAIN = Style()


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


def style_of(texts: Iterable[str], decimal_comma: bool) -> Style:
    """Say how numbers and dates of one column are written, from the cells that can mean one thing.

    Where no cell tells, a comma is decimal if `decimal_comma` says so, and dates are read in the
    way that puts them closer together: an experiment lasts for days, and seldom for months.

    >>> style_of(["1,299.00", "1,299"], True), style_of(["12,5"], False)
    (Style(decimal_comma=False, month_first=False), Style(decimal_comma=True, month_first=False))
    >>> style_of(["03/01/2024", "03/09/2024"], False).month_first
    True
    """
    marks, days = set(), set()
    for text in texts:
        if "," in text or "." in text:
            marks.add(_mark(text))
        if result := _DAY.match(text.strip()):
            days.add((int(result[1]), int(result[2]), int(result[3]), text.strip()[len(result[1])]))
    told = marks & {",", "."}
    comma = "," in told if decimal_comma or len(told) == 1 else False
    comma = comma or (decimal_comma and not told and "either," in marks)
    return Style(comma, _is_month_first(days))


def _mark(text: str) -> str:
    """The decimal mark of a number; "either," where its comma may separate thousands."""
    bare = text.strip().lstrip("+-$€£¥₹ ").rstrip("$€£¥₹ ")
    commas, points = bare.count(","), bare.count(".")
    if commas and points:
        return "," if bare.rfind(",") > bare.rfind(".") else "."
    if commas + points > 1:
        return "." if commas else ","
    if _EITHER.fullmatch(bare):
        return "either," if commas else ""
    return "," if commas else "."


def _is_month_first(days: set[tuple[int, int, int, str]]) -> bool:
    if any(sign == "." or first > 12 for first, _, _, sign in days):
        return False
    if any(second > 12 for _, second, _, _ in days):
        return True
    at = [(372 * year + 31 * b + a, 372 * year + 31 * a + b) for a, b, year, _ in days]
    spans = [max(some) - min(some) for some in zip(*at, strict=True)]
    return bool(spans) and spans[1] < spans[0]


def number(cell: Any, style: Style = PLAIN) -> float:
    """Read a finite number, or TRUE, yes, FALSE, no as 1 and 0. Other cells: ValueError.

    A sign or a code of a currency is left out, and so are marks between thousands. With a decimal
    comma, points separate thousands.

    >>> number("1e-3"), number("Yes"), number("€1,299.00"), number("1.234,5 €", Style(True))
    (0.001, 1.0, 1299.0, 1234.5)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if (truth := _TRUTHS.get(text.lower())) is not None:
            return truth
        if amount := _AMOUNT.fullmatch(text):
            text = (amount[1] + amount[2]).strip()
        if not (_WITH_COMMA if style.decimal_comma else _WITH_POINT).fullmatch(text):
            raise ValueError(cell)
        text = text.translate(_BETWEEN)
        if style.decimal_comma:
            text = text.replace(".", "").replace(",", ".")
        result = float(text.replace(",", ""))
    else:
        result = float(cell)
    if not math.isfinite(result):
        raise ValueError(cell)
    return result


def whole(cell: Any, style: Style = PLAIN) -> int:
    """Read a whole number; 2.0 is one, as data frames have it beside missing values."""
    try:
        return int(cell if isinstance(cell, str) else cell.__index__())
    except (ValueError, AttributeError):
        result = number(cell, style)
    if not result.is_integer() or abs(result) > 2**53:
        raise ValueError(cell)
    return int(result)


def seconds(cell: Any, style: Style = PLAIN) -> float:
    """Read a time as seconds since 1970: a number, or a date as in ISO 8601 or with its day or
    month first, in UTC where it names no zone.

    >>> seconds("2024-05-01"), seconds("1/5/2024 2:00 pm") - 14 * 3600, seconds(7)
    (1714521600.0, 1714521600.0, 7.0)
    """
    if isinstance(cell, str):
        try:
            return number(cell, style)
        except ValueError:
            text = cell.strip()
            day = _DAY.fullmatch(text)
            cell = _dated(day, style.month_first) if day else datetime.fromisoformat(_iso(text))
    if isinstance(cell, datetime):
        return (cell if cell.tzinfo else cell.replace(tzinfo=UTC)).timestamp()
    if isinstance(cell, date):
        return datetime.combine(cell, time(), UTC).timestamp()
    return number(cell)


def _iso(text: str) -> str:
    """A date with slashes as ISO 8601 has it, and one that says UTC."""
    return text.replace("/", "-").removesuffix(" UTC")


def _dated(result: re.Match[str], month_first: bool) -> datetime:
    first, second, year, hour, minute, second_of, half = result.groups()
    month, day = (first, second) if month_first else (second, first)
    at = int(hour or 0)
    if half:
        at = at % 12 + 12 * (half.lower() == "pm")
    return datetime(int(year), int(month), int(day), at, int(minute or 0), int(second_of or 0))


def from_json(cell: Any) -> Any:
    """Read JSON; what a file or a data frame holds as a mapping or a list is read already."""
    return cell if isinstance(cell, (Mapping, list)) else json.loads(cell)
