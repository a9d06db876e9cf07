"""Tables for people: named columns, printed aligned, turned into data frames on request."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from belman import escaping
from belman.errors import SettingError, listing, nearest, needing

_LARGEST = 1e15  # written in full


def number(value: object, digits: int = 4) -> str:
    """A cell as a person would write it: `digits` significant ones, no trailing zeros beyond need,
    and the whole number where that has more digits.

    >>> number(0.123456), number(9999.9), number(1234567.0), number(3), number(math.inf)
    ('0.1235', '10,000', '1,234,567', '3', '∞')
    """
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        text = f"{value:.{digits}g}"
        return f"{value:,.0f}" if "e+" in text and abs(value) < _LARGEST else text
    return str(value)


class Table:
    """Rows of named columns.

    >>> print(Table({"arm": ["blue", "red"], "plays": [3, 12]}))
    arm   plays
    blue      3
    red      12
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], title: str = "") -> None:
        self.columns: dict[str, list[Any]] = {name: list(cells) for name, cells in columns.items()}
        self.title = title

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, one dictionary each."""
        for cells in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, cells, strict=True))

    def row(self, key: object) -> dict[str, Any]:
        """The row whose first column is `key`."""
        first = next(iter(self.columns))
        for row in self:
            if row[first] == key:
                return row
        known = self.columns[first]
        raise KeyError(f"no row {key!r}: there are {listing(known)}{nearest(key, known)}")

    def __str__(self) -> str:
        shown = escaping.for_terminal
        cells = {
            name: [shown(name), *(shown(number(value)) for value in values)]
            for name, values in self.columns.items()
        }
        widths = {name: max(map(len, texts)) for name, texts in cells.items()}
        numeric = self._numeric()

        def line(texts: Mapping[str, str]) -> str:
            parts = [
                text.rjust(widths[n]) if numeric[n] else text.ljust(widths[n])
                for n, text in texts.items()
            ]
            return "  ".join(parts).rstrip()

        rows = range(len(self) + 1)
        lines = [line({name: texts[i] for name, texts in cells.items()}) for i in rows]
        return "\n".join([shown(self.title), *lines] if self.title else lines)

    __repr__ = __str__

    def _numeric(self) -> dict[str, bool]:
        """Which columns hold numbers alone."""
        return {
            name: all(isinstance(cell, (int, float)) for cell in cells)
            for name, cells in self.columns.items()
        }

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(number(cell))}</td>" for cell in row.values())
            + "</tr>"
            for row in self
        )
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def to_csv(self) -> str:
        """CSV with a line of names, and numbers to the last digit; what is not a number is empty,
        and a text that a spreadsheet would take for a formula has an apostrophe in front.

        >>> print(Table({"arm": ["a, b"], "mean": [0.1]}).to_csv(), end="")
        arm,mean
        "a, b",0.1
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        harmless = escaping.for_csv
        writer.writerow(map(harmless, self.columns))
        writer.writerows([_exact(harmless(cell), "") for cell in row.values()] for row in self)
        return text.getvalue()

    def to_json(self) -> str:
        """JSON: the title and the rows, numbers to the last digit.

        What is not a number is null, and infinity a word, since JSON has neither.

        >>> Table({"arm": ["a"], "high": [math.inf]}, "beliefs").to_json()
        '{"title": "beliefs", "rows": [{"arm": "a", "high": "inf"}]}'
        """
        rows = [{name: _exact(cell, None) for name, cell in row.items()} for row in self]
        content = {"title": self.title, "rows": rows}
        return json.dumps(content, ensure_ascii=False, default=str)

    def to_latex(self) -> str:
        r"""A `tabular` for LaTeX, with the rules of the package booktabs, and digits as printed.

        >>> print(Table({"arm": ["50 %"], "plays": [3], "p": [1e-07]}).to_latex())
        \begin{tabular}{lrr}
        \toprule
        arm & plays & p \\
        \midrule
        50 \% & 3 & $1 \times 10^{-7}$ \\
        \bottomrule
        \end{tabular}
        """
        sides = "".join("r" if numeric else "l" for numeric in self._numeric().values())
        title = [f"% {self.title}"] if self.title else []
        head = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
        names = " & ".join(map(_latex, self.columns))
        rows = [" & ".join(_latex(number(cell)) for cell in row.values()) for row in self]
        body = [rf"{names} \\", r"\midrule", *(rf"{row} \\" for row in rows)]
        return "\n".join([*title, *head, *body, r"\bottomrule", r"\end{tabular}"])

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the first column as its index."""
        with needing("to_pandas()", "pandas", "pandas"):
            import pandas
        first = next(iter(self.columns))
        index = pandas.Index(self.columns[first], name=first, tupleize_cols=False)
        return pandas.DataFrame({n: v for n, v in self.columns.items() if n != first}, index=index)

    def to_frame(self, like: Any) -> Any:
        """A data frame of the kind that the caller has.

        Parameters
        ----------
        like
            A data frame (pandas, Polars, PyArrow, a relation of DuckDB, narwhals, …), or the name
            of a library: "polars".

        Returns
        -------
        A frame of the same library, lazy where `like` is, with every column of this table. A column
        that holds texts, or names of several kinds, holds texts there.

        Raises
        ------
        SettingError
            If `like` is no data frame that narwhals knows.
        """
        with needing("to_frame()", "frames", "narwhals"):
            import narwhals
        columns = {name: _alike(cells) for name, cells in self.columns.items()}
        kind: Any
        is_ours = hasattr(like, "to_native")
        try:
            if isinstance(like, str):
                kind, is_lazy = narwhals.Implementation.from_backend(cast(Any, like)), like in _LAZY
            else:
                known = narwhals.from_native(like)
                kind, is_lazy = known.implementation, isinstance(known, narwhals.LazyFrame)
            if not is_lazy:
                result: Any = narwhals.from_dict(columns, backend=kind)
            elif kind is narwhals.Implementation.POLARS:
                result = narwhals.from_dict(columns, backend=kind).lazy()
            else:
                result = narwhals.from_dict(columns, backend="pyarrow").lazy(backend=kind)
        # older narwhals asserts that it knows a name
        except (TypeError, ValueError, NotImplementedError, AssertionError) as error:
            given = like if isinstance(like, str) else type(like).__name__
            kinds = "a data frame, or the name of its library: polars, pandas, pyarrow, duckdb"
            raise SettingError(f"like={given!r} is not valid: give {kinds}") from error
        return result if is_ours else result.to_native()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the columns as a stream of Arrow, from which any library makes its own frame."""
        with needing("a table in Arrow", "parquet", "pyarrow"):
            import pyarrow
        columns = {name: _alike(cells) for name, cells in self.columns.items()}
        return pyarrow.table(columns).__arrow_c_stream__(requested_schema)


_LAZY = ("duckdb", "ibis", "dask", "pyspark", "sqlframe")  # libraries whose frames are queries


def _alike(cells: Sequence[Any]) -> list[Any]:
    """The cells of a column in one kind: truths, whole numbers, numbers or texts; None stays.

    >>> _alike([1, None, 0.5]), _alike(["a", 2]), _alike([True, False])
    ([1.0, None, 0.5], ['a', '2'], [True, False])
    """
    plain = [cell.item() if hasattr(cell, "item") else cell for cell in cells]  # NumPy's
    kinds = {type(cell) for cell in plain} - {type(None)}
    if len(kinds) < 2 and kinds <= {bool, int, float, str}:
        return plain
    to: type = float if kinds <= {int, float} else str
    return [None if cell is None else to(cell) for cell in plain]


def _exact(cell: Any, missing: Any) -> Any:
    """A cell as data: every digit, and what no file format has in words."""
    if hasattr(cell, "item"):
        cell = cell.item()  # NumPy's
    if not isinstance(cell, float) or math.isfinite(cell):
        return missing if cell is None else cell
    return missing if math.isnan(cell) else str(cell)


_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "∞": r"$\infty$",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "–": "--",
}


def _latex(text: str) -> str:
    r"""Text, or a number, as LaTeX takes it.

    >>> print(_latex("a_b"), _latex("-0.5"), _latex("1.5e-08"))
    a\_b $-$0.5 $1.5 \times 10^{-8}$
    """
    if power := re.fullmatch(r"(-?[0-9.]+)e([+-][0-9]+)", text):
        return rf"${power[1]} \times 10^{{{int(power[2])}}}$"
    if re.fullmatch(r"-[0-9.,]+", text):
        text = f"−{text[1:]}"
    return "".join(_LATEX.get(sign, sign) for sign in text)
