"""Pure exploration on the instances of Audibert, Bubeck, Munos (2010), and the price of a risk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from belman.exposure import Infinite
from belman.figures.declared import said
from belman.figures.figure import SEED, Data, Effort, Figure, Part, canvas
from belman.lab.exploration import Exploration, Question, explore
from belman.measures import chance_of_error, half_width
from belman.plots import style
from belman.policies import (
    KLLUCB,
    BelMan,
    Policy,
    SequentialHalving,
    SuccessiveRejects,
    TopTwoThompson,
    TrackAndStop,
    Uniform,
    WidestBelief,
)
from belman.policies.best_arm.elimination import Elimination
from belman.problems import Stationary, bernoulli, characteristic_time
from belman.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

#: Their experiments, the best arm always 0.5: (other means, budget).
INSTANCES: dict[str, tuple[list[float], int]] = {
    "1: 19 arms of 0.4": ([0.4] * 19, 2_000),
    "2: 0.42 and 0.38": ([0.42] * 5 + [0.38] * 14, 2_000),
    "3: geometric": ([0.5 - 0.37**i for i in (2, 3, 4)], 2_000),
    "4: three groups of six": ([0.42, 0.4, 0.4, 0.35, 0.35], 600),
    "5: arithmetic": ([0.5 - 0.025 * i for i in range(2, 16)], 4_000),
    "6: two good, 18 bad": ([0.48] + [0.37] * 18, 6_000),
    "7: three groups of 30": ([0.45] * 5 + [0.43] * 14 + [0.38] * 10, 6_000),
}
#: Garivier and Kaufmann's (2016), for a fixed risk.
RISKY: dict[str, Stationary] = {
    "0.5, 0.45, 0.43, 0.4": bernoulli([0.5, 0.45, 0.43, 0.4]),
    "0.3, 0.21, 0.2, 0.19, 0.18": bernoulli([0.3, 0.21, 0.2, 0.19, 0.18]),
}
RISKS = (0.1, 0.01)
ANYTIME: dict[str, Policy] = {
    "BelMan-Explore": BelMan(Infinite()),
    "BelMan": BelMan(),
    "widest belief": WidestBelief(),
    "uniform": Uniform(),
    "top-two Thompson": TopTwoThompson(),
    "KL-LUCB": KLLUCB(),
}
BUDGETED: dict[str, type[Elimination]] = {
    "Successive Rejects": SuccessiveRejects,
    "Sequential Halving": SequentialHalving,
}
_NAMES = [*ANYTIME, *BUDGETED, "track-and-stop"]
_ANY_RULE = ("BelMan-Explore", "widest belief", "uniform")
_STOPPED = (*_ANY_RULE, "top-two Thompson", "KL-LUCB", "track-and-stop")
_SHARES = (0.125, 0.25, 0.5, 1.0)
_RUNS, _STOPPED_RUNS = 1_000, 200


def _by_budget(means: list[float], budget: int, runs: int, progress: bool | None) -> xarray.Dataset:
    """Error and simple regret at an eighth, a quarter, a half and the whole of the budget."""
    problem, budgets = bernoulli([0.5, *means]), [round(share * budget) for share in _SHARES]
    anytime = explore(ANYTIME, problem, runs, SEED, budget=budget, progress=progress)
    result = [anytime.sel(turn=budgets, method="nearest").assign_coords(turn=budgets)]
    fixed = [
        explore(BUDGETED, problem, runs, SEED, budget=spent, progress=progress).isel(turn=[-1])
        for spent in budgets
    ]
    result.append(xarray.concat([part.drop_vars("plays") for part in fixed], "turn"))
    both = xarray.concat([part[["error", "simple_regret"]] for part in result], "player")
    errors = chance_of_error(both)
    columns = {"error": errors["mean"], "error_low": errors["low"], "error_high": errors["high"]}
    lacks = both.simple_regret
    regret = {"simple_regret": lacks.mean("run"), "simple_regret_half": half_width(lacks)}
    return xarray.Dataset({**columns, **regret}, attrs={"runs": runs}).rename(turn="budget")


def _stopped(delta: float) -> dict[str, Policy]:
    """Those that play until they know, KL-LUCB with bounds for that risk."""
    players = {**ANYTIME, "KL-LUCB": KLLUCB(delta), "track-and-stop": TrackAndStop()}
    return {name: players[name] for name in _STOPPED}


def _by_risk(problem: Stationary, delta: float, runs: int, progress: bool | None) -> xarray.Dataset:
    """Turns at the stop, and errors."""
    result = explore(_stopped(delta), problem, runs, SEED, delta=delta, progress=progress)
    errors = chance_of_error(result)
    shortest = characteristic_time(problem).turns * math.log(1.0 / delta)
    means = {name: result[name].mean("run") for name in ("turns", "stopped")}
    means["turns_half"] = half_width(result.turns)
    columns = {**means, "error": errors["mean"], "error_high": errors["high"]}
    return xarray.Dataset(columns, attrs={"bound": shortest, "runs": runs})


@dataclass(frozen=True)
class PureExploration(Figure):
    """Error above and simple regret below against the budget, and the turns at the stop."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        result: dict[str, Part] = {}
        shown = {name: repr(player) for name, player in {**ANYTIME, **BUDGETED}.items()}
        words = {"players": shown, "seed": SEED}
        runs, fewer = effort.runs(_RUNS), effort.runs(_STOPPED_RUNS)
        for name, (means, budget) in INSTANCES.items():
            described = {**words, "means": [0.5, *means], "budget": budget, "runs": runs}
            players = {**ANYTIME, **{who: kind(budget=budget) for who, kind in BUDGETED.items()}}
            question = Question(1, budget)
            design = Exploration(players, bernoulli([0.5, *means]), budget, runs, SEED, question)
            result[name] = Part(described, partial(_by_budget, means, budget, runs), design)
        for name, problem in RISKY.items():
            for delta in RISKS:
                stopped = {who: repr(player) for who, player in _stopped(delta).items()}
                described = {"players": stopped, "seed": SEED, "delta": delta, "runs": fewer}
                described["means"] = list(problem.means)
                question = Question(1, 2, delta)
                design = Exploration(_stopped(delta), problem, 2, fewer, SEED, question)
                play = partial(_by_risk, problem, delta, fewer)
                result[f"{name}; δ = {delta:g}"] = Part(described, play, design)
        return result

    def draw(self, data: Data) -> Picture:
        from matplotlib.lines import Line2D

        figure, grid = canvas(4, 4, 2.2, 3.0)
        for position, name in enumerate(INSTANCES):
            row, column = divmod(position, 4)
            _draw_budget(grid[row, column], data[name], "error", name)
            _draw_budget(grid[2 + row, column], data[name], "simple_regret", name)
        for row, delta in ((1, RISKS[0]), (3, RISKS[1])):
            _draw_risk(grid[row, 3], data, delta)
        lines = [Line2D([], [], **_look(name)) for name in _NAMES]
        figure.legend(lines, _NAMES, loc="outside lower center", ncols=5)
        return figure

    def tables(self, data: Data) -> list[Table]:
        budgets = [_budget_table(name, data[name]) for name in INSTANCES]
        return budgets + [_risk_table(name, data[name]) for name in data if "δ" in name]


def _look(name: str) -> dict[str, Any]:
    position = _NAMES.index(name)
    line = "-" if position < 6 else (0, (4, 1.5))
    return {"color": style.colour(position), "marker": "osD^vPX*<"[position], "linestyle": line}


def _draw_budget(ax: Axes, result: xarray.Dataset, variable: str, title: str) -> None:
    for name in (str(player) for player in result.player.values):
        row = result.sel(player=name)
        if variable == "error":
            low, high = row.error_low, row.error_high
        else:
            lacks, half = row.simple_regret, row.simple_regret_half
            low, high = lacks - half, lacks + half
        ax.plot(result.budget, row[variable], **_look(name))
        colour = _look(name)["color"]
        ax.fill_between(result.budget, low, high, color=colour, alpha=0.12, linewidth=0.0)
    ax.set(
        xscale="log",
        title=title,
        xlabel="budget (turns)",
        ylabel=variable.replace("_", " "),
        ylim=(0.0, None),
    )
    ax.set_xticks(
        result.budget.values, [f"{budget:,}" for budget in result.budget.values], minor=False
    )
    ax.minorticks_off()


def _draw_risk(ax: Axes, data: Data, delta: float) -> None:
    for height, name in enumerate(_STOPPED):
        for position, instance in enumerate(RISKY):
            result = data[f"{instance}; δ = {delta:g}"]
            row = result.sel(player=name)
            look = {
                **_look(name),
                "linestyle": "none",
                "fillstyle": "full" if position == 0 else "none",
                "capsize": 3.0,
            }
            ax.errorbar(
                float(row.turns), -height - 0.25 * position, xerr=float(row.turns_half), **look
            )
    for position, instance in enumerate(RISKY):
        bound = float(data[f"{instance}; δ = {delta:g}"].attrs["bound"])
        ax.axvline(
            bound,
            color=style.GREY,
            linestyle="-" if position == 0 else ":",
            linewidth=1.2,
            zorder=0,
        )
    ax.set_yticks([-0.125 - height for height in range(len(_STOPPED))], _STOPPED)
    ax.set(xscale="log", xlabel="turns at the stop", title=f"δ = {delta:g}; grey: T* ln(1/δ)")
    style.plain_numbers(ax.xaxis)
    ax.tick_params(axis="x", labelrotation=45)


def _table(result: xarray.Dataset, columns: Mapping[str, str], title: str) -> Table:
    """Players in the order of the first column, whose variables are named."""
    order = np.argsort(result[next(iter(columns.values()))].values, kind="stable")
    players: list[object] = [str(result.player.values[position]) for position in order]
    cells = {
        name: [float(result[variable][position]) for position in order]
        for name, variable in columns.items()
    }
    return Table({"player": players, **cells}, title)


def _budget_table(name: str, result: xarray.Dataset) -> Table:
    columns = {
        "error": "error",
        "low": "error_low",
        "high": "error_high",
        "simple regret": "simple_regret",
        "±": "simple_regret_half",
    }
    row = result.isel(budget=-1)
    title = f"instance {name}, budget {int(row.budget):,}, {result.attrs['runs']:,} runs"
    return _table(row, columns, f"{title}; 95 % intervals")


def _risk_table(name: str, result: xarray.Dataset) -> Table:
    columns = {"turns": "turns", "±": "turns_half", "stopped": "stopped"}
    columns |= {"error": "error", "≤": "error_high"}
    bound, runs = result.attrs["bound"], result.attrs["runs"]
    title = f"Bernoulli {name}, {runs:,} runs; no rule needs much less than {bound:,.0f} turns"
    return _table(result, columns, title)


PURE_EXPLORATION = PureExploration(**said("pure-exploration"))
