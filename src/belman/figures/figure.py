"""The contract of a figure, frozen data: what is simulated, what is drawn, what the paper shows.

The parts of a figure are computed one by one and kept on disk under their names (see
`belman.figures.folder`), so that an interrupted figure goes on where it stopped, and a picture can
be drawn again without playing again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from belman.lab.design import Design
from belman.lab.simulation import Simulation, simulate
from belman.measures import condense
from belman.plots import curve_data, draw_grid, style, together
from belman.problems.lower_bounds import lai_robbins
from belman.problems.problem import Problem
from belman.problems.stationary import Stationary
from belman.table import Table

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

SEED = 2019
Data = Mapping[str, "xarray.Dataset"]


class Effort(NamedTuple):
    """How much to play: a share of the full figure's runs, a number of runs, or the paper's."""

    name: str
    share: float = 1.0
    least: int = 1
    exactly: int | None = None
    as_in_paper: bool = False

    def runs(self, full: int, paper: int = 25) -> int:
        """Runs of a simulation that has `full` of them in the full figure and `paper` in the paper.

        >>> QUICK.runs(1_000), FULL.runs(1_000), AS_IN_PAPER.runs(1_000)
        (50, 1000, 25)
        >>> Effort("mine", exactly=7).runs(1_000)
        7
        """
        if self.exactly is not None:
            return self.exactly
        return paper if self.as_in_paper else min(full, max(self.least, round(self.share * full)))


#: All runs of every figure.
FULL = Effort("full")
#: A twentieth of the runs, and twenty at least.
QUICK = Effort("quick", share=0.05, least=20)
#: As many runs as the paper has.
AS_IN_PAPER = Effort("paper", as_in_paper=True)


class Part(NamedTuple):
    """A piece of a figure's data: a JSON description that settles it to the last digit, and how.

    `compute` takes what `simulate` takes as `progress`; `design` is what it simulates, if it does,
    so that its players can be compiled beforehand.
    """

    description: Mapping[str, Any]
    compute: Callable[[bool | None], xarray.Dataset]
    design: Design | None = None


@dataclass(frozen=True)
class Figure(ABC):
    """A figure by its name: what it shows, and what the paper's picture does (empty if none)."""

    name: str
    title: str
    shows: str
    paper: str = ""

    @abstractmethod
    def parts(self, effort: Effort) -> dict[str, Part]:
        """What has to be computed, by name."""

    @abstractmethod
    def draw(self, data: Data) -> Picture:
        """The picture, in the theme that is on."""

    def tables(self, data: Data) -> list[Table]:
        """Numbers with their intervals."""
        return []


@dataclass(frozen=True)
class Panel:
    """A simulation: who plays what, how long, how often; `slow` players play `slow_runs` runs."""

    title: str
    problem: Problem
    players: Mapping[str, Any]
    horizon: int = 1_000
    runs: int = 1_000
    slow: Mapping[str, Any] = field(default_factory=dict)
    slow_runs: int = 200
    paper_runs: int = 25

    def parts(self, effort: Effort) -> dict[str, Part]:
        """One simulation for the players, one for the slow ones."""
        found = {self.title: self._part(self.players, effort.runs(self.runs, self.paper_runs))}
        if self.slow:
            runs = effort.runs(self.slow_runs, self.paper_runs)
            found[f"{self.title}, slow"] = self._part(self.slow, runs)
        return found

    def _part(self, players: Mapping[str, Any], runs: int) -> Part:
        design = Simulation(players, self.problem, self.horizon, runs, SEED)

        def compute(progress: bool | None) -> xarray.Dataset:
            return condense(
                simulate(players, self.problem, self.horizon, runs, SEED, progress=progress)
            )

        return Part(design.describe(), compute, design)

    def data(self, data: Data) -> list[xarray.Dataset]:
        """What its parts gave."""
        return [data[name] for name in (self.title, f"{self.title}, slow") if name in data]


@dataclass(frozen=True)
class Curves(Figure):
    """A figure of curves: a column for each panel, a row for each variable."""

    panels: tuple[Panel, ...] = ()
    variables: Sequence[str] = ("regret", "suboptimal_draws")
    log: bool = False
    logarithmic: Sequence[str] = ("regret",)
    ceiling: float | None = None  # of the first row; curves that leave it are named with their ends
    against: str = "Thompson"
    bound: bool = False  # draw the slope of Lai and Robbins
    #: the paper's numbers of the first panel, by player
    published: Mapping[str, str] = field(default_factory=dict)

    def parts(self, effort: Effort) -> dict[str, Part]:
        return {name: part for panel in self.panels for name, part in panel.parts(effort).items()}

    def draw(self, data: Data) -> Picture:
        columns = {}
        for panel in self.panels:
            found = panel.data(data)
            columns[panel.title] = [
                together(*(curve_data(part, name) for part in found)) for name in self.variables
            ]
        look: Any = {"logarithmic": self.logarithmic, "ceiling": self.ceiling}
        picture = draw_grid(columns, log=self.log, **look)
        if self.bound:
            for panel, ax, rows in zip(self.panels, picture.axes, columns.values(), strict=False):
                _draw_bound(panel, ax, float(rows[0].mean[:, -1].min()))
        return picture

    def tables(self, data: Data) -> list[Table]:
        from belman.figures.numbers import panel_table

        published = [self.published, *({} for _ in self.panels[1:])]
        return [
            panel_table(panel, panel.data(data), self.variables, self.against, numbers)
            for panel, numbers in zip(self.panels, published, strict=True)
        ]


def _draw_bound(panel: Panel, ax: Axes, end: float) -> None:
    """The slope of Lai and Robbins' bound over the last decade and a half, under all curves."""
    assert isinstance(panel.problem, Stationary)
    turns = np.geomspace(panel.horizon / 30.0, panel.horizon, 50)
    line = 0.9 * end + lai_robbins(panel.problem) * np.log(turns / panel.horizon)
    ax.plot(turns, line, color=style.ink(ax), linestyle=":", label="slope of the Lai–Robbins bound")
    ax.legend(loc="upper left")
