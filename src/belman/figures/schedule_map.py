"""A map of regret over the constant and the unit of the paper's schedule, for each reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from belman.exposure import Paper
from belman.figures.curves import intervals, last
from belman.figures.declared import said
from belman.figures.figure import SEED, Data, Effort, Figure, Part, canvas
from belman.figures.players import PAPERS, RATES, TWENTY
from belman.lab.simulation import Simulation, simulate
from belman.plots import style
from belman.policies import BelMan, Thompson
from belman.problems import bernoulli, exponential
from belman.problems.problem import Problem
from belman.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

_HORIZON, _RUNS, _RIVAL = 1_000, 200, "Thompson"
_CONSTANTS = (0.0, 5.0, 15.0, 50.0, 200.0)
_UNITS = (0.1, 0.3, 1.0, 3.0, 10.0)  # rewards are in [0, 1]
_PUBLISHED = Paper(C=15.0, unit=1.0)
_PROBLEMS: dict[str, Problem] = {
    "twenty arms": bernoulli(TWENTY),
    "two arms, 0.8 and 0.9": bernoulli([0.8, 0.9]),
    "exponential, cut at 10, in tens": exponential([1.0 / (10.0 * rate) for rate in RATES], 1.0),
}
_MOST = 8.0  # times Thompson sampling's regret, and as little: the ends of the colours


def _schedules() -> list[Paper]:
    return [Paper(constant, unit) for constant in _CONSTANTS for unit in _UNITS]


def _name(schedule: Paper) -> str:
    return f"C = {schedule.C:g}, unit {schedule.unit:g}"


@dataclass(frozen=True)
class ScheduleMap(Figure):
    """Regret at the end, in colours that compare it with Thompson sampling's."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        result = {}
        for title, problem in _PROBLEMS.items():
            for reading in PAPERS:
                players: dict[str, Any] = {_RIVAL: Thompson()}
                players |= {_name(each): BelMan(each, reading) for each in _schedules()}
                design = Simulation(players, problem, _HORIZON, effort.runs(_RUNS), SEED)
                result[f"{title}, {reading}"] = Part(
                    design.describe(), partial(_ends, design), design
                )
        return result

    def draw(self, data: Data) -> Picture:
        from matplotlib.patches import Rectangle

        figure, grid = canvas(len(_PROBLEMS), len(PAPERS), 1.5, 1.6, sharex=True, sharey=True)
        for row, title in enumerate(_PROBLEMS):
            for column, reading in enumerate(PAPERS):
                ax, part = grid[row, column], data[f"{title}, {reading}"]
                rival = float(last([part], _RIVAL).mean())
                result = np.array(
                    [float(last([part], _name(each)).mean()) for each in _schedules()]
                )
                table = result.reshape(len(_CONSTANTS), len(_UNITS))
                ends = np.log(_MOST)
                look: Any = {"cmap": "PuOr_r", "vmin": -ends, "vmax": ends, "origin": "lower"}
                ax.imshow(np.log(table / rival), aspect="auto", **look)
                for (y, x), regret in np.ndenumerate(table):
                    dark = abs(np.log(regret / rival)) > 0.6 * ends
                    words = f"{regret:.0f}" if regret >= 10.0 else f"{regret:.1f}"
                    shade = "white" if dark else "#1a1a1a"
                    ax.text(x, y, words, ha="center", va="center", fontsize="small", color=shade)
                position = (_UNITS.index(1.0) - 0.5, _CONSTANTS.index(_PUBLISHED.C) - 0.5)
                for shade, width in (("white", 6.0), (style.ink(ax), 3.0)):
                    frame: Any = {"fill": False, "edgecolor": shade, "linewidth": width}
                    ax.add_patch(Rectangle(position, 1.0, 1.0, **frame))
                ax.set_title(f"{title}\n{reading}; Thompson {rival:.1f}")
        for ax in grid[-1]:
            ax.set_xticks(range(len(_UNITS)), [f"{unit:g}" for unit in _UNITS])
            ax.set_xlabel("unit of τ")
        for ax in grid[:, 0]:
            ax.set_yticks(range(len(_CONSTANTS)), [f"{each:g}" for each in _CONSTANTS])
            ax.set_ylabel("C")
        return figure

    def tables(self, data: Data) -> list[Table]:
        rows: dict[str, list[object]] = {"problem": [], "reading": [], "least at": []}
        paper, least = [], []
        for title in _PROBLEMS:
            for reading in PAPERS:
                part = data[f"{title}, {reading}"]
                best = min(_schedules(), key=lambda each: float(last([part], _name(each)).mean()))
                for column, cell in zip(rows, (title, reading, _name(best)), strict=True):
                    rows[column].append(cell)
                paper.append(last([part], _name(_PUBLISHED)))
                least.append(last([part], _name(best)))
        columns = {**rows, "the paper's": intervals(paper), "least of the map": intervals(least)}
        title = f"regret at turn {_HORIZON:,}; ± are half-widths of 95 % intervals"
        return [Table(columns, title)]


def _ends(design: Simulation, progress: bool | None) -> xarray.Dataset:
    """The regret of every run at the last turn."""
    played = (design.players, design.problem, design.horizon, design.runs, design.seed)
    regret = simulate(*played, progress=progress).regret.isel(turn=[-1])
    return xarray.Dataset({"regret_at": regret.rename(turn="mark")})


SCHEDULE_MAP = ScheduleMap(**said("schedule-map"))
