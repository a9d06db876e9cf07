"""The suite as data: `suite.toml` read into cells: a class of problems, arms, a horizon."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from belman.families import family_named
from belman.problems import Problem
from belman.problems.stationary import RandomStationary, Stationary

#: The halves of the suite: policies are tuned on the first, and judged on the second.
SPLITS = ("development", "validation")

#: The largest cells of the quick suite, and their runs.
QUICK_ARMS, QUICK_HORIZON, QUICK_RUNS = 10, 500, 100


@dataclass(frozen=True)
class Cell:
    """One row of the suite.

    >>> suite().cells[0].name
    'uniform, 2 arms, 1,000 turns'
    """

    split: str
    kind: str
    arms: int
    horizon: int
    runs: int
    problem: Problem

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.kind}, {self.arms} arms, {self.horizon:,} turns"

    @property
    def key(self) -> str:
        """What it is called on disk."""
        return f"{self.kind}-{self.arms}-{self.horizon}"


@dataclass(frozen=True)
class Suite:
    """Cells, and rivals in groups by what they may claim."""

    cells: tuple[Cell, ...]
    rivals: dict[str, tuple[str, ...]]
    at_most: dict[str, int]

    def quick(self) -> Suite:
        """The smaller cells with fewer runs: a look, not a judgement."""
        small = [c for c in self.cells if c.arms <= QUICK_ARMS and c.horizon <= QUICK_HORIZON]
        cells = tuple(replace(cell, runs=min(cell.runs, QUICK_RUNS)) for cell in small)
        return Suite(cells, self.rivals, self.at_most)

    def group(self, rival: str) -> str:
        """Which group a rival is in; BelMan is in one of its own."""
        return next((group for group, names in self.rivals.items() if rival in names), "belman")

    def plays(self, rival: str, cell: Cell) -> bool:
        """Whether the cell is small enough for this rival."""
        return cell.arms * cell.horizon <= self.at_most.get(rival, cell.arms * cell.horizon)


@functools.cache
def suite() -> Suite:
    """The suite of the package."""
    file = resources.files("belman.suite").joinpath("suite.toml")
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    cells = tuple(
        Cell(split, kind, arms, horizon, runs, _problem(found["classes"][kind], arms))
        for split in SPLITS
        for kind, arms, horizon, runs in found["cells"][split]
    )
    rivals = {group: tuple(names) for group, names in found["rivals"].items()}
    return Suite(cells, rivals, found["at-most"])


def _problem(given: dict[str, Any], arms: int) -> Problem:
    prior = {"prior": given["belief"]} if "belief" in given else {}
    family = family_named(given["family"], **prior)
    if "means" in given:
        return Stationary(family, tuple(given["means"]))
    if "best" in given:
        return Stationary(family, (given["best"], *[given["rest"]] * (arms - 1)))
    ends = given.get("between")
    between = None if ends is None else (ends[0], ends[1])
    return RandomStationary(family, arms, tuple(map(float, given["draw"])), between)
