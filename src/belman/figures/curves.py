"""Figures of curves: simulations side by side, drawn over time, with their numbers at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from belman.figures.figure import PAPER_COLUMN, SEED, Data, Effort, Figure, Part, with_interval
from belman.figures.players import PAPERS
from belman.lab.simulation import Simulation, simulate
from belman.measures import condense, half_width
from belman.plots import curve_data, draw_grid, style, together
from belman.problems.lower_bounds import lai_robbins
from belman.problems.problem import Problem
from belman.problems.stationary import Stationary
from belman.table import Table

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


@dataclass(frozen=True)
class Panel:
    """One simulation of a figure of curves: who plays what, how long and how often.

    Parameters
    ----------
    title
        The heading of its column, by which its data are known.
    problem
        What is played.
    players
        Policies by name.
    horizon
        The number of turns.
    runs
        The number of runs in the full figure.
    slow
        Policies by name that take long, and play `slow_runs` runs.
    slow_runs
        The number of runs of the slow ones in the full figure.
    paper_runs
        The number of runs in the paper.
    quick_runs
        The fewest runs by which a claim can be decided.
    """

    title: str
    problem: Problem
    players: Mapping[str, Any]
    horizon: int = 1_000
    runs: int = 1_000
    slow: Mapping[str, Any] = field(default_factory=dict)
    slow_runs: int = 200
    paper_runs: int = 25
    quick_runs: int = 0

    def parts(self, effort: Effort) -> dict[str, Part]:
        """Say what has to be simulated.

        Parameters
        ----------
        effort
            How much to play.

        Returns
        -------
        dict
            A part for the players, and one for the slow ones if there are any, by name.
        """
        runs = effort.runs(self.runs, self.paper_runs, self.quick_runs)
        result = {self.title: self._part(self.players, runs)}
        if self.slow:
            runs = effort.runs(self.slow_runs, self.paper_runs)
            result[f"{self.title}, slow"] = self._part(self.slow, runs)
        return result

    def _part(self, players: Mapping[str, Any], runs: int) -> Part:
        design = Simulation(players, self.problem, self.horizon, runs, SEED)

        def compute(progress: bool | None) -> xarray.Dataset:
            return self.condensed(
                simulate(players, self.problem, self.horizon, runs, SEED, progress=progress)
            )

        return Part(design.describe(), compute, design)

    def condensed(self, result: xarray.Dataset) -> xarray.Dataset:
        """Reduce what was played to what the figure needs.

        Parameters
        ----------
        result
            What `belman.simulate` gave.

        Returns
        -------
        Dataset
            Curves over time, and the runs at some turns.
        """
        return condense(result)

    def data(self, data: Data) -> list[xarray.Dataset]:
        """Pick the data of its parts.

        Parameters
        ----------
        data
            The data of all parts of the figure, by name.

        Returns
        -------
        list of Dataset
            Those of the players, then those of the slow ones, where they are there.
        """
        return [data[name] for name in (self.title, f"{self.title}, slow") if name in data]


@dataclass(frozen=True)
class Curves(Figure):
    """A figure of curves over time: a column for each panel, a row for each variable.

    Parameters
    ----------
    name
        The name, which is that of its folder too.
    title
        The heading of the figure in the report.
    shows
        What the picture shows, in sentences.
    paper
        What the picture of the paper shows; empty if the paper has none.
    panels
        The simulations.
    variables
        What is drawn; players are ranked by the first at the end.
    log
        Whether the axis of time is logarithmic.
    logarithmic
        The variables whose own axis is logarithmic.
    ceiling
        The upper end of the first row; curves that leave it are named with their ends.
    against
        The player from whom tables give the paired differences.
    bound
        Whether to draw the slope of the bound of Lai and Robbins.
    front
        The players that stand out; the others are pale.
    published
        The paper's suboptimal draws at the end of the first panel by player: the mean, and the ends
        of its band.
    published_curve
        The paper's BelMan on the way: "turns", and its "draws" at these.
    """

    panels: tuple[Panel, ...] = ()
    variables: Sequence[str] = ("regret", "suboptimal_draws")
    log: bool = False
    logarithmic: Sequence[str] = ("regret",)
    ceiling: float | None = None  # of the first row; curves that leave it are named with their ends
    against: str = "Thompson"
    bound: bool = False  # draw the slope of Lai and Robbins
    #: players in front; the others are pale
    front: Sequence[str] = ()
    #: the paper's suboptimal draws at the end of the first panel: mean and band, by player
    published: Mapping[str, Sequence[float]] = field(default_factory=dict)
    #: its BelMan on the way: turns, draws
    published_curve: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def parts(self, effort: Effort) -> dict[str, Part]:
        return {name: part for panel in self.panels for name, part in panel.parts(effort).items()}

    def draw(self, data: Data) -> Picture:
        columns = {}
        for panel in self.panels:
            result = panel.data(data)
            columns[panel.title] = [
                together(*(curve_data(part, name) for part in result)) for name in self.variables
            ]
        look: Any = {"logarithmic": self.logarithmic, "ceiling": self.ceiling, "front": self.front}
        picture = draw_grid(columns, log=self.log, **look)
        if self.published:
            position = len(self.panels) * (len(self.variables) - 1)
            names = columns[self.panels[0].title][-1].players
            self._draw_published(picture.axes[position], names)
        if self.bound:
            for panel, ax, rows in zip(self.panels, picture.axes, columns.values(), strict=False):
                _draw_bound(panel, ax, float(rows[0].mean[:, -1].min()))
        return picture

    def tables(self, data: Data) -> list[Table]:
        return [self._table(panel, panel.data(data)) for panel in self.panels]

    def _table(self, panel: Panel, parts: Sequence[xarray.Dataset]) -> Table:
        """Players ranked by the first variable at the last turn, with paired differences to one."""
        first = self.variables[0]
        ends = {
            str(name): last(parts, name, first) for part in parts for name in part.player.values
        }
        order = sorted(ends, key=lambda player: float(ends[player].mean()))
        columns: dict[str, list[object]] = {
            "player": list(order),
            "runs": [ends[player].size for player in order],
        }
        for variable in self.variables:
            result = [last(parts, player, variable) for player in order]
            columns[variable.replace("_", " ")] = intervals(result)
        if self.against in ends:
            # xarray keeps the runs that both have played
            pairs = [ends[player] - ends[self.against] for player in order]
            columns[f"minus {self.against}"] = intervals(pairs)
        if self.published and panel is self.panels[0]:
            known: list[object] = [self._published(player) for player in order]
            columns = {"player": columns["player"], PAPER_COLUMN: known, **columns}
        title = f"{panel.title}, turn {panel.horizon:,}; ± are half-widths of 95 % intervals"
        return Table(columns, title)

    def _published(self, player: str) -> str:
        """The paper's mean and band, which all readings of its BelMan share."""
        result = self.published.get("BelMan (paper)" if player in PAPERS.values() else player)
        return f"{result[0]:.0f} draws ({result[1]:.0f}–{result[2]:.0f})" if result else "–"

    def _draw_published(self, ax: Axes, players: Sequence[str]) -> None:
        """The paper's means and bands in grey, edged as the curve they stand for, near the end."""
        grey: Any = {"color": "0.45", "zorder": 4}
        for position, (name, (mean, low, high)) in enumerate(self.published.items()):
            turn = (0.995 - 0.015 * position) * self.panels[0].horizon
            edge = style.colour(players.index(name)) if name in players else style.ink(ax)
            ax.plot([turn, turn], [low, high], linewidth=1.0, **grey)
            mark: Any = {"marker": "D", "markersize": 5.5, "markeredgecolor": edge}
            ax.plot(turn, mean, markeredgewidth=1.4, clip_on=False, **mark, **grey)
        if self.published_curve:
            turns, draws = (self.published_curve[name] for name in ("turns", "draws"))
            ax.plot(turns, draws, marker=".", linestyle=(0, (2, 2)), linewidth=1.0, **grey)


def _draw_bound(panel: Panel, ax: Axes, end: float) -> None:
    """The slope of Lai and Robbins' bound over the last decade and a half, under all curves."""
    assert isinstance(panel.problem, Stationary)
    turns = np.geomspace(panel.horizon / 30.0, panel.horizon, 50)
    line = 0.9 * end + lai_robbins(panel.problem) * np.log(turns / panel.horizon)
    ax.plot(turns, line, color=style.ink(ax), linestyle=":", label="slope of the Lai–Robbins bound")
    ax.legend(loc="upper left")


def last(
    parts: Sequence[xarray.Dataset], player: str, variable: str = "regret"
) -> xarray.DataArray:
    """Every run of a player at the end (dim run)."""
    for part in parts:
        if player in part.player.values:
            return part[f"{variable}_at"].sel(player=player).isel(mark=-1)
    raise KeyError(player)


def intervals(values: Iterable[xarray.DataArray]) -> list[object]:
    """A column of a table: means over runs, with their intervals."""
    return [with_interval(float(runs.mean()), float(half_width(runs))) for runs in values]
