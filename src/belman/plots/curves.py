"""Curves of a simulation: each player's mean with its interval, and the middle half of the runs.

Named at the right edge.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from belman.measures.summary import summary
from belman.plots import style

if TYPE_CHECKING:
    import xarray

Floats = NDArray[np.float64]

_STYLES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))
_PALE, _PALE_NAME = 0.35, 0.6
_ACROSS = 3  # panels of one variable in a row
_WORDS = {
    "regret": "cumulative regret",
    "suboptimal_draws": "suboptimal draws",
    "reward": "cumulative reward",
}


class Curves(NamedTuple):
    """Mean, confidence interval and quartiles over runs, one row a player.

    Attributes
    ----------
    variable
        What is measured, such as 'regret'.
    players
        The names of the players.
    turn
        The turns (n).
    mean
        The mean over runs, a row a player.
    low
        The lower end of the 95 % confidence interval of the mean.
    high
        Its upper end.
    q25
        The lower quartile of the runs.
    q75
        The upper quartile of the runs.
    changes
        The turns at which the world changed.
    """

    variable: str
    players: tuple[str, ...]
    turn: NDArray[np.int64]
    mean: Floats
    low: Floats
    high: Floats
    q25: Floats
    q75: Floats
    changes: tuple[int, ...] = ()  # turns at which the world changed


#: More changes than these are no marks: the world changes all the time.
_MOST_MARKED = 50
_ROWS = ("mean", "low", "high", "q25", "q75")


def curve_data(result: xarray.Dataset, variable: str = "regret") -> Curves:
    """Compute the data of `curves`.

    Parameters
    ----------
    result
        The result of `simulate`, or of `condense`.
    variable
        What to measure.

    Returns
    -------
    Curves
        The data.
    """
    if "statistic" in result.dims:
        table = result[variable].transpose("statistic", "player", "turn")
        rows = {name: table.sel(statistic=name).values for name in _ROWS}
    else:
        statistics = summary(result, variable)
        rows = {name: statistics[name].transpose("player", "turn").values for name in _ROWS}
    players = tuple(str(player) for player in result.player.values)
    return Curves(variable, players, result.turn.values, **rows, changes=_changes(result))


def _changes(result: xarray.Dataset) -> tuple[int, ...]:
    """The turns at which the world of a result changed, where it did so a few times."""
    starts = json.loads(result.attrs.get("problem", "{}")).get("starts", [])
    return tuple(starts[1:]) if 1 < len(starts) <= _MOST_MARKED else ()


def together(*parts: Curves) -> Curves:
    """Join the players of several simulations of the same turns.

    Parameters
    ----------
    parts
        Curves over the same turns.

    Returns
    -------
    Curves
        The players of all of them.
    """
    first = parts[0]
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ROWS}
    players = tuple(name for part in parts for name in part.players)
    return Curves(first.variable, players, first.turn, **rows, changes=first.changes)


def draw_curves(
    data: Curves,
    ax: Axes | None = None,
    *,
    log: bool = False,
    logarithmic: bool = False,
    quartiles: bool = True,
    size: str = "screen",
) -> Axes:
    """Draw curves: the 95 % interval of the mean is dark, the middle half of the runs pale; lines
    stand where the world changed.

    Parameters
    ----------
    data
        The curves.
    ax
        The axes to draw on; by default those of a new figure.
    log
        Whether the axis of time is logarithmic.
    logarithmic
        Whether the other axis is.
    quartiles
        Whether to shade the middle half of the runs.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.
    """
    ax = style.new_axes(ax, size)
    _draw_lines(data, ax, log, quartiles, logarithmic)
    _name_at_the_edge((ax, data))
    return ax


def _draw_lines(
    data: Curves, ax: Axes, log: bool, quartiles: bool, logarithmic: bool, front: Sequence[str] = ()
) -> None:
    for position, player in enumerate(data.players):
        shade, line = _look(position)
        if front and player not in front:
            behind: Any = {"alpha": _PALE, "linewidth": 1.0, "zorder": 1}
            ax.plot(data.turn, data.mean[position], color=shade, linestyle=line, **behind)
            continue
        if quartiles and (not front or player in front[:2]):
            pale: Any = {"color": shade, "alpha": 0.08, "linewidth": 0.0, "zorder": 1}
            ax.fill_between(data.turn, data.q25[position], data.q75[position], **pale)
        dark: Any = {"color": shade, "alpha": 0.3, "linewidth": 0.0, "zorder": 2}
        ax.fill_between(data.turn, data.low[position], data.high[position], **dark)
        ax.plot(data.turn, data.mean[position], color=shade, linestyle=line, zorder=3)
    for turn in data.changes:
        if turn <= data.turn[-1]:
            ax.axvline(turn, color="0.6", linewidth=0.8, linestyle=(0, (2, 2)), zorder=0)
    if log:
        ax.set_xscale("log")
    ax.set_xlim(data.turn[0], data.turn[-1])
    ax.set_xlabel("turn")
    ax.set_ylabel(_WORDS.get(data.variable, data.variable.replace("_", " ")))
    if logarithmic:
        seen = data.mean[:, [len(data.turn) // 50, -1]]
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.5 * float(seen[seen > 0.0].min(initial=float(data.mean.max()))))
        style.plain_numbers(ax.yaxis)
    else:
        ax.set_ylim(bottom=min(0.0, float(data.mean.min())))


def _look(position: int) -> tuple[str, Any]:
    return style.colour(position), _STYLES[position // len(style.PALETTE) % len(_STYLES)]


def _name_at_the_edge(*panels: tuple[Axes, Curves], front: Sequence[str] = ()) -> None:
    """Write each name at the end of its curve, led there by its line, apart from the others."""
    figure = panels[0][0].get_figure(root=True)
    assert figure is not None
    style.lay_out(figure)
    for ax, data in panels:
        letters = float(ax.xaxis.label.get_fontsize())
        least = 1.25 * letters * figure.dpi / 72.0
        frame = ax.get_window_extent()
        order = np.argsort(data.mean[:, -1], kind="stable")
        wanted = np.array(
            [
                ax.transData.transform((float(data.turn[-1]), float(data.mean[a, -1])))[1]
                for a in order
            ]
        )
        heights = _apart(wanted, least, frame.y0, max(frame.y1, frame.y0 + least * len(order)))
        ceiling = ax.get_ylim()[1]
        for a, wish, height in zip(order, wanted, heights, strict=True):
            shade, line = _look(int(a))
            end = (float(data.turn[-1]), float(data.mean[a, -1]))
            aside, up = 2.6 * letters / 72.0, (height - wish) / figure.dpi  # inches
            seen = end[1] <= ceiling
            words = data.players[a] if seen else f"{data.players[a]} ↑ {end[1]:,.0f}"
            clear = 1.0 if not front or data.players[a] in front else _PALE_NAME
            ax.annotate(
                words, end, (72.0 * aside, 72.0 * up), textcoords="offset "
                "points", ha="left", va="center", color=shade, alpha=clear,
                annotation_clip=False,
            )  # fmt: skip
            if seen:
                data_to_pixels: Any = ax.transData  # any transform will do, whatever the type says
                there = figure.dpi_scale_trans + ScaledTranslation(*end, data_to_pixels)
                leader = Line2D(
                    (0.0, 0.92 * aside),
                    (0.0, up),
                    linewidth=1.2,
                    color=shade,
                    alpha=clear,
                    linestyle=line,
                    transform=there,
                )
                leader.set(clip_on=False, in_layout=False)
                ax.add_artist(leader)


def _apart(wanted: Floats, least: float, low: float, high: float) -> Floats:
    """Heights in the same order in [low, high], `least` apart, with the least squared moves."""
    steps = least * np.arange(len(wanted))
    return np.clip(_rising(wanted - steps), low, high - steps[-1]) + steps


def _rising(values: Floats) -> Floats:
    """The nearest sequence that does not fall, by pooling (SciPy has it, half a second away)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, count = float(value), 1
        while pools and pools[-1][0] > mean:
            before, several = pools.pop()
            mean, count = (before * several + mean * count) / (several + count), several + count
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


def regret(
    result: xarray.Dataset,
    ax: Axes | None = None,
    *,
    log: bool = False,
    quartiles: bool = True,
    size: str = "screen",
) -> Axes:
    """Draw the cumulative regret of every player.

    Parameters
    ----------
    result
        The result of `simulate`, or of `condense`.
    ax
        The axes to draw on; by default those of a new figure.
    log
        Whether the axis of time is logarithmic.
    quartiles
        Whether to shade the middle half of the runs.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.
    """
    return draw_curves(curve_data(result), ax, log=log, quartiles=quartiles, size=size)


def suboptimal_draws(
    result: xarray.Dataset,
    ax: Axes | None = None,
    *,
    log: bool = False,
    quartiles: bool = True,
    size: str = "screen",
) -> Axes:
    """Draw every player's plays of arms that are not the best.

    Parameters
    ----------
    result
        The result of `simulate`, or of `condense`.
    ax
        The axes to draw on; by default those of a new figure.
    log
        Whether the axis of time is logarithmic.
    quartiles
        Whether to shade the middle half of the runs.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.
    """
    data = curve_data(result, "suboptimal_draws")
    return draw_curves(data, ax, log=log, quartiles=quartiles, size=size)


def queue_regret(
    result: xarray.Dataset,
    ax: Axes | None = None,
    *,
    log: bool = True,
    quartiles: bool = False,
    size: str = "screen",
) -> Axes:
    """Draw the queue regret of every player, all queues together.

    Parameters
    ----------
    result
        The result of simulating queues.
    ax
        The axes to draw on; by default those of a new figure.
    log
        Whether the axis of time is logarithmic.
    quartiles
        Whether to shade the middle half of the runs.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.
    """
    together = result[["queue_regret"]].drop_vars("queue", errors="ignore")
    if "queue" in together.dims:
        together = together.sum("queue")
    data = curve_data(together, "queue_regret")
    return draw_curves(data, ax, log=log, quartiles=quartiles, size=size)


def curves(
    result: xarray.Dataset,
    *,
    log: bool = False,
    quartiles: bool = True,
    size: str = "screen",
    title: str = "",
) -> Figure:
    """Draw regret above and suboptimal draws below, as in the paper.

    Parameters
    ----------
    result
        The result of `simulate`, or of `condense`.
    log
        Whether the axis of time is logarithmic.
    quartiles
        Whether to shade the middle half of the runs.
    size
        The style of a new figure, 'screen' or 'print'.
    title
        The words above.

    Returns
    -------
    Figure
        The figure.
    """
    with style.theme(size):
        rows = [curve_data(result, name) for name in ("regret", "suboptimal_draws")]
        return draw_grid({title: rows}, log=log, quartiles=quartiles, size=size)


def draw_grid(
    columns: Mapping[str, Sequence[Curves]],
    *,
    log: bool = False,
    logarithmic: Collection[str] = (),
    ceiling: float | None = None,
    quartiles: bool = True,
    front: Sequence[str] = (),
    size: str = "screen",
) -> Figure:
    """Draw titled columns of curves, one above the other, in the theme that is on.

    More than three columns of a single curve go on in a second row.

    Parameters
    ----------
    columns
        By title, the curves of a column.
    log
        Whether the axis of time is logarithmic.
    logarithmic
        The variables whose own axis is.
    ceiling
        The upper end of the axes of the first row: curves beyond are named with their ends.
    quartiles
        Whether to shade the middle half of the runs.
    front
        The players that stand out: the others are pale, and the first two alone have quartiles.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Figure
        The figure.
    """
    from matplotlib import pyplot

    width, height, _ = style.SIZES[size]
    rows = len(next(iter(columns.values())))
    across = min(len(columns), _ACROSS) if rows == 1 else len(columns)
    down = rows * math.ceil(len(columns) / across)
    shape = (
        width * (1.0 if across == 1 else 0.75 * across),
        height * (1.0 if down == 1 else 0.85 * down),
    )
    figure, grid = pyplot.subplots(down, across, sharex="col", figsize=shape, squeeze=False)
    panels = []
    for position, (title, data) in enumerate(columns.items()):
        first, column = divmod(position, across)
        for row, curve in enumerate(data, first):
            ax = grid[row, column]
            _draw_lines(curve, ax, log, quartiles, curve.variable in logarithmic, front)
            panels.append((ax, curve))
            if position + across < len(columns) or row + 1 < rows:
                ax.set_xlabel("")
        grid[first, column].set_title(title)
        if ceiling is not None:
            grid[first, column].set_ylim(top=ceiling)
    for ax in grid.flat[len(columns) :] if rows == 1 else ():
        ax.set_axis_off()
        grid[-2, -1].tick_params(labelbottom=True)
        grid[-2, -1].set_xlabel("turn")
    _name_at_the_edge(*panels, front=front)
    return figure
