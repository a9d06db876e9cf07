"""A table that was read: columns by name, each read as numbers, times, texts, names or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from belman.errors import BelmanError, SettingError, listing, nearest
from belman.frames import cells

Floats = NDArray[np.float64]
Problem = TypeVar("Problem")

_SHOWN = 5  # problems that a message lists
_LONGEST = 80  # characters of a cell that a message shows


@dataclass(frozen=True)
class Frame:
    """Columns of one length, by name.

    `source` is what messages call the table: the path of a file, "the data frame". A column is read
    by what it is to hold; cells that cannot be are refused together, with their rows counted from
    1 below the header. Cells are texts as they stand in a file, or `typed` as in JSON and in data
    frames. With `decimal_comma` 1,234 is less than 2 in a column that does not tell.

    >>> frame = Frame("visits.csv", {"arm": ["a", "b"], "spent": ["1.5", "NA"]})
    >>> frame.names("arm"), frame.numbers("spent", missing=True).tolist()
    (['a', 'b'], [1.5, nan])
    >>> frame.numbers("spent")
    Traceback (most recent call last):
    belman.errors.SettingError: visits.csv, row 2: spent 'NA' is not a number
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    typed: bool = False
    decimal_comma: bool = False
    said: str = ""  # what had to be assumed to read it

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def require(self, *names: str) -> None:
        """Refuse a table that lacks any of these columns."""
        lacking = [name for name in names if name not in self.columns]
        if lacking:
            near = "".join(nearest(name, self.columns) for name in lacking)
            has = f"it has {listing(self.columns) or 'none'}{near}"
            raise SettingError(f"{self.source} has no column {listing(lacking)}: {has}")

    def allow(self, names: Iterable[str]) -> None:
        """Refuse a table that has another column than these."""
        allowed = list(names)
        for name in self.columns:
            if name not in allowed:
                hint = f"it may be {listing(allowed)}{nearest(name, allowed)}"
                raise SettingError(f"{self.source} has a column {str(name)[:_LONGEST]!r}: {hint}")

    def cells(self, name: str) -> Sequence[Any]:
        """The cells of a column as they stand."""
        self.require(name)
        return self.columns[name]

    def numbers(self, name: str, *, missing: bool = False) -> Floats:
        """Read finite numbers, TRUE and yes as 1; NaN for missing values, where those may be."""
        return self._floats(name, cells.number, "a number", missing)

    def times(self, name: str, *, missing: bool = False) -> Floats:
        """Read seconds since 1970, or dates; NaN for missing values, where those may be."""
        allowed = "a time: give seconds, or a date such as 2024-05-01T12:30:00"
        return self._floats(name, cells.seconds, allowed, missing)

    def whole(self, name: str, *, missing: bool = False) -> list[int | None]:
        """Read whole numbers; None for missing values, where those may be."""
        return self._parsed(name, cells.whole, "a whole number", missing, None)

    def keys(self, name: str) -> list[Any]:
        """Read keys, as of units: cells as they are; None for missing values."""
        missing = cells.MISSING  # a million units are many calls of is_missing
        return [
            None
            if (cell.strip() in missing if isinstance(cell, str) else cells.is_missing(cell))
            else cell
            for cell in self.cells(name)
        ]

    def texts(self, name: str) -> list[str | None]:
        """Read texts; None for missing values."""
        return [None if cell is None else str(cell) for cell in self.keys(name)]

    def names(self, name: str, *, missing: bool = False) -> list[str]:
        """Read names, as of arms: any text is one, NA and none too, but not an empty cell, which is
        an empty text where those may be.
        """
        result = [
            cell.strip() if isinstance(cell, str) else "" if cells.is_missing(cell) else str(cell)
            for cell in self.cells(name)
        ]
        if not missing:
            self._refuse(name, [i for i, text in enumerate(result) if not text], "a name")
        return result

    def json(self, name: str) -> list[Any]:
        """Read JSON; None for missing values."""
        result, wrong = [], []
        for i, cell in enumerate(self.cells(name)):
            try:
                result.append(None if cells.is_missing(cell) else cells.from_json(cell))
            except (ValueError, TypeError, RecursionError):
                wrong.append(i)
        self._refuse(name, wrong, "JSON")
        return result

    def values(self, name: str) -> list[Any]:
        """Read a column of numbers as numbers, any other as texts; None for missing values."""
        if self.typed:
            return self.keys(name)
        texts = [None if cell is None else cell.strip() for cell in self.texts(name)]
        if any(text is not None and text[0].isalpha() for text in texts):
            return texts  # TRUE is a text here
        try:
            return none_for_nan(self.numbers(name, missing=True))
        except SettingError:
            return texts

    # Behind them

    def _floats(self, name: str, read: Callable[..., float], what: str, missing: bool) -> Floats:
        given = self.cells(name)
        try:
            result = np.array(list(map(float, given)), dtype=np.float64)  # most columns, fast
        except (ValueError, TypeError, OverflowError):
            result = None
        if result is None or not np.isfinite(result).all():
            result = np.array(self._parsed(name, read, what, missing, np.nan), dtype=np.float64)
        return result

    def _parsed(
        self, name: str, read: Callable[..., Any], what: str, missing: bool, nothing: Any
    ) -> list[Any]:
        """Read every cell, equal ones once; `nothing` for missing values."""
        given = self.cells(name)
        texts = {cell for cell in given if isinstance(cell, str)}
        style = cells.style_of(texts, self.decimal_comma)
        known: dict[Any, Any] = {}
        result, wrong = [], []
        for i, cell in enumerate(given):
            try:
                value = known[cell]
            except (KeyError, TypeError):  # a list is no key
                try:
                    is_missing = missing and cells.is_missing(cell)
                    value = known[cell] = nothing if is_missing else read(cell, style)
                except (ValueError, TypeError, OverflowError):
                    wrong.append(i)
                    continue
            result.append(value)
        self._refuse(name, wrong, what)
        return result

    def _refuse(self, name: str, rows: Sequence[int], what: str) -> None:
        def say(i: int) -> str:
            return f"row {i + 1}: {name} {_shown(self.columns[name][i])} is not {what}"

        if rows:
            raise refusal(self.source, rows, say)


def check_names(source: str, names: Sequence[str]) -> None:
    """Refuse columns of the same name; without one, as an index has none, there may be several."""
    for name in filter(None, names):
        if names.count(name) > 1:
            raise SettingError(f"{source} has two columns {name!r}: each needs its own name")


def together(*reads: Callable[[], Any]) -> list[Any]:
    """Read several columns, and refuse all that is wrong with them in one message.

    >>> frame = Frame("x.csv", {"arm": ["a", ""], "spent": ["much", "1"]})
    >>> together(lambda: frame.names("arm"), lambda: frame.numbers("spent"))
    Traceback (most recent call last):
    belman.errors.SettingError: x.csv, row 2: arm '' is not a name
    x.csv, row 1: spent 'much' is not a number
    """
    result, wrong = [], []
    for read in reads:
        try:
            result.append(read())
        except SettingError as error:
            wrong.append(str(error))
    if wrong:
        raise SettingError("\n".join(wrong))
    return result


def none_for_nan(numbers: Floats) -> list[float | None]:
    """Numbers as a list, None for missing ones.

    >>> none_for_nan(np.array([1.0, np.nan]))
    [1.0, None]
    """
    result: list[float | None] = numbers.tolist()
    for i in np.flatnonzero(np.isnan(numbers)).tolist():
        result[i] = None
    return result


def refusal(
    source: str,
    problems: Sequence[Problem],
    say: Callable[[Problem], str],
    kind: type[BelmanError] = SettingError,
) -> BelmanError:
    """The error about the problems of a table: what there is to `say` of the first few.

    >>> print(refusal("x.csv", range(1, 18), "row {}: no".format))
    x.csv, row 1: no; row 2: no; row 3: no; row 4: no; row 5: no; and 12 more
    """
    shown = "; ".join(map(say, problems[:_SHOWN]))
    more = f"; and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return kind(f"{source}, {shown}{more}")


def _shown(cell: Any) -> str:
    return repr(cell[:_LONGEST] if isinstance(cell, str) else cell)[: _LONGEST + 2]
