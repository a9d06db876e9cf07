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

    A column is read by what it is to hold; cells that cannot be read so are refused together, with
    their rows counted from 1 below the header.

    Attributes
    ----------
    source
        What messages call the table: the path of a file, or "the data frame".
    columns
        The cells of each column, by its name.
    typed
        Whether cells are values as in JSON and in data frames; else they are texts as in a file.
    decimal_comma
        Whether 1,234 is less than 2 in a column whose other cells do not tell.
    said
        What had to be assumed to read the file, as a sentence; empty where nothing was.

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
        """Refuse a table that lacks any of these columns.

        Parameters
        ----------
        names
            The names of columns.

        Raises
        ------
        SettingError
            If one of them is missing.
        """
        lacking = [name for name in names if name not in self.columns]
        if lacking:
            near = "".join(nearest(name, self.columns) for name in lacking)
            has = f"it has {listing(self.columns) or 'none'}{near}"
            raise SettingError(f"{self.source} has no column {listing(lacking)}: {has}")

    def allow(self, names: Iterable[str]) -> None:
        """Refuse a table that has another column than these.

        Parameters
        ----------
        names
            The names of columns.

        Raises
        ------
        SettingError
            If there is another column.
        """
        allowed = list(names)
        for name in self.columns:
            if name not in allowed:
                hint = f"it may be {listing(allowed)}{nearest(name, allowed)}"
                raise SettingError(f"{self.source} has a column {str(name)[:_LONGEST]!r}: {hint}")

    def cells(self, name: str) -> Sequence[Any]:
        """Return the cells of a column as they stand.

        Parameters
        ----------
        name
            The name of the column.

        Returns
        -------
        Sequence
            A cell for each row.

        Raises
        ------
        SettingError
            If there is no such column, as for every method that reads one.
        """
        self.require(name)
        return self.columns[name]

    def numbers(self, name: str, *, missing: bool = False) -> Floats:
        """Read finite numbers; TRUE and yes are 1, FALSE and no are 0.

        Parameters
        ----------
        name
            The name of the column.
        missing
            Whether cells may be missing (empty, NA, null and the like).

        Returns
        -------
        array
            A number for each row, NaN where it is missing.

        Raises
        ------
        SettingError
            If a cell is no finite number.
        """
        return self._floats(name, cells.number, "a number", missing)

    def times(self, name: str, *, missing: bool = False) -> Floats:
        """Read times: seconds since 1970, or dates such as 2024-05-01T12:30:00.

        Parameters
        ----------
        name
            The name of the column.
        missing
            Whether cells may be missing.

        Returns
        -------
        array
            Seconds since 1970 for each row, NaN where they are missing.

        Raises
        ------
        SettingError
            If a cell is no time.
        """
        allowed = "a time: give seconds, or a date such as 2024-05-01T12:30:00"
        return self._floats(name, cells.seconds, allowed, missing)

    def whole(self, name: str, *, missing: bool = False) -> list[int | None]:
        """Read whole numbers.

        Parameters
        ----------
        name
            The name of the column.
        missing
            Whether cells may be missing.

        Returns
        -------
        list
            A whole number for each row, None where it is missing.

        Raises
        ------
        SettingError
            If a cell is no whole number.
        """
        return self._parsed(name, cells.whole, "a whole number", missing, None)

    def keys(self, name: str) -> list[Any]:
        """Read keys, as of units: cells as they stand.

        Parameters
        ----------
        name
            The name of the column.

        Returns
        -------
        list
            A key for each row, None where it is missing.
        """
        missing = cells.MISSING  # a million units are many calls of is_missing
        return [
            None
            if (cell.strip() in missing if isinstance(cell, str) else cells.is_missing(cell))
            else cell
            for cell in self.cells(name)
        ]

    def texts(self, name: str) -> list[str | None]:
        """Read texts.

        Parameters
        ----------
        name
            The name of the column.

        Returns
        -------
        list
            A text for each row, None where it is missing.
        """
        return [None if cell is None else str(cell) for cell in self.keys(name)]

    def names(self, name: str, *, missing: bool = False) -> list[str]:
        """Read names, as of arms: any text is one, NA and none too, without the spaces around it.

        Parameters
        ----------
        name
            The name of the column.
        missing
            Whether cells may be empty.

        Returns
        -------
        list of str
            A name for each row, an empty text where the cell is empty.

        Raises
        ------
        SettingError
            If a cell is empty, and may not be.
        """
        result = [
            cell.strip() if isinstance(cell, str) else "" if cells.is_missing(cell) else str(cell)
            for cell in self.cells(name)
        ]
        if not missing:
            self._refuse(name, [i for i, text in enumerate(result) if not text], "a name")
        return result

    def json(self, name: str) -> list[Any]:
        """Read JSON.

        Parameters
        ----------
        name
            The name of the column.

        Returns
        -------
        list
            A value for each row, None where it is missing.

        Raises
        ------
        SettingError
            If a cell is not JSON.
        """
        result, wrong = [], []
        for i, cell in enumerate(self.cells(name)):
            try:
                result.append(None if cells.is_missing(cell) else cells.from_json(cell))
            except (ValueError, TypeError, RecursionError):
                wrong.append(i)
        self._refuse(name, wrong, "JSON")
        return result

    def values(self, name: str) -> list[Any]:
        """Read a column of numbers as numbers, any other as texts. In a typed table cells stay as
        they are.

        Parameters
        ----------
        name
            The name of the column.

        Returns
        -------
        list
            A value for each row, None where it is missing.
        """
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
    """Call several functions that read columns, and refuse all that is wrong in one message.

    Parameters
    ----------
    reads
        Functions without arguments.

    Returns
    -------
    list
        What each of them returned.

    Raises
    ------
    SettingError
        If any of them raised one; the message has a line for each.

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
    """Return numbers as a list, with None for missing ones.

    Parameters
    ----------
    numbers
        An array; NaN is a missing number.

    Returns
    -------
    list
        A number, or None, for each.

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
    """Make the error about the problems of a table. It names the first five, and how many more
    there are.

    Parameters
    ----------
    source
        What the message calls the table.
    problems
        One object for each problem, such as the number of a row.
    say
        A function that describes one problem.
    kind
        The class of the error.

    Returns
    -------
    BelmanError
        The error, to be raised by the caller.

    >>> print(refusal("x.csv", range(1, 18), "row {}: no".format))
    x.csv, row 1: no; row 2: no; row 3: no; row 4: no; row 5: no; and 12 more
    """
    shown = "; ".join(map(say, problems[:_SHOWN]))
    more = f"; and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return kind(f"{source}, {shown}{more}")


def _shown(cell: Any) -> str:
    return repr(cell[:_LONGEST] if isinstance(cell, str) else cell)[: _LONGEST + 2]
