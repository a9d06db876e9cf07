"""Dots with intervals, one row a player: for many players at one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from belman.plots import style


class Rows(NamedTuple):
    """A column of dots, one a player.

    Attributes
    ----------
    title
        The words above.
    quantity
        What the axis measures.
    mean
        The mean of each player.
    half_width
        Half the width of its interval.
    """

    title: str
    quantity: str
    mean: Mapping[str, float]
    half_width: Mapping[str, float]


def draw_rows(columns: Sequence[Rows], *, log: bool = True, size: str = "screen") -> Figure:
    """Draw columns side by side, players in the order of the geometric mean, in the present theme.

    Parameters
    ----------
    columns
        The columns, of the same players.
    log
        Whether the axes are logarithmic.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Figure
        The figure.
    """
    from matplotlib import pyplot

    width, height, letters = style.SIZES[size]
    order = sorted(columns[0].mean, key=lambda name: math.prod(c.mean[name] for c in columns))
    tall = max(height, len(order) * 1.6 * letters / 72.0 + 1.0)
    figure, panels = pyplot.subplots(
        1, len(columns), sharey=True, figsize=(0.6 * width * len(columns), tall), squeeze=False
    )
    for ax, column in zip(panels[0], columns, strict=True):
        for row, name in enumerate(order):
            ours = name.startswith("BelMan")
            shade = style.PALETTE[1] if ours else style.PALETTE[0]
            ax.errorbar(
                column.mean[name],
                row,
                xerr=column.half_width[name],
                fmt="o" if ours else "s",
                color=shade,
                markersize=5,
            )
        if log:
            ax.set_xscale("log")
            style.plain_numbers(ax.xaxis)
        ax.grid(axis="y", color=style.GREY, alpha=0.25)
        ax.set_axisbelow(True)
        ax.set(xlabel=column.quantity, title=column.title)
    panels[0, 0].set_yticks(range(len(order)), order)
    panels[0, 0].invert_yaxis()
    return figure
