"""Tables for people: named columns, printed aligned, turned into pandas on request."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from belman.errors import listing, nearest, needing


def number(value: object, digits: int = 4) -> str:
    """A cell as a person would write it: `digits` significant ones, no trailing zeros beyond need.

    >>> number(0.123456), number(1234567.0), number(3), number(math.inf)
    ('0.1235', '1.235e+06', '3', '∞')
    """
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        return f"{value:.{digits}g}"
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
        cells = {name: [number(value) for value in values] for name, values in self.columns.items()}
        widths = {name: max(map(len, [name, *texts])) for name, texts in cells.items()}
        numeric = {
            name: all(isinstance(cell, (int, float)) for cell in cells)
            for name, cells in self.columns.items()
        }

        def line(texts: Mapping[str, str]) -> str:
            parts = [
                text.rjust(widths[n]) if numeric[n] else text.ljust(widths[n])
                for n, text in texts.items()
            ]
            return "  ".join(parts).rstrip()

        lines = [line({name: name for name in cells})]
        lines += [line({name: texts[i] for name, texts in cells.items()}) for i in range(len(self))]
        return "\n".join([self.title, *lines] if self.title else lines)

    __repr__ = __str__

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

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the first column as its index."""
        with needing("to_pandas()", "pandas", "pandas"):
            import pandas
        first = next(iter(self.columns))
        index = pandas.Index(self.columns[first], name=first, tupleize_cols=False)
        return pandas.DataFrame({n: v for n, v in self.columns.items() if n != first}, index=index)
