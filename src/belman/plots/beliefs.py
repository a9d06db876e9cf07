"""Beliefs as densities, the pseudobelief in their midst, and as points on the manifold."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

from belman.errors import ArmError, unknown
from belman.measures.seen_beliefs import (
    BeliefDensities,
    Believer,
    Floats,
    Paths,
    Trail,
    belief_densities,
)
from belman.plots import style


def highlighted(
    arms: Sequence[Hashable], best: Floats, highlight: Sequence[Hashable] | None, top: int
) -> list[int]:
    """The positions of the arms to colour, in order: those named, or the `top` most likely best."""
    if highlight is None:
        return sorted(int(a) for a in np.argsort(-best, kind="stable")[:top])
    positions = {arm: position for position, arm in enumerate(arms)}
    for arm in highlight:
        if arm not in positions:
            raise ArmError(unknown("arm", arm, arms, "this picture shows"))
    return [positions[arm] for arm in highlight]


def draw_beliefs(
    data: BeliefDensities,
    ax: Axes | None = None,
    *,
    top: int = 5,
    highlight: Sequence[Hashable] | None = None,
    size: str = "screen",
) -> Axes:
    """Draw the densities: `highlight` or the `top` arms in colour with names, others grey.

    Parameters
    ----------
    data
        The densities.
    ax
        The axes to draw on; by default those of a new figure.
    top
        How many arms have colours and names, those most likely the best.
    highlight
        The arms that have them, in place of `top`.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.

    Raises
    ------
    ArmError
        If an arm of `highlight` is not there.
    """
    with style.canvas(ax, size) as ax:
        coloured = highlighted(data.arms, data.best, highlight, top)
        for a in sorted(set(range(len(data.arms))) - set(coloured)):
            thin: Any = {"color": style.GREY, "linewidth": 0.7, "alpha": 0.7, "zorder": 1}
            ax.plot(data.x[a], data.density[a], **thin)
        middle = _peak(data, data.pseudobelief_x, data.pseudobelief_density)
        labels = [style.Label(*middle, "pseudobelief", style.ink(ax))]
        for rank, a in enumerate(coloured):
            shade = style.colour(rank)
            ax.plot(data.x[a], data.density[a], color=shade, zorder=3)
            pale: Any = {"color": shade, "alpha": 0.1, "linewidth": 0.0, "zorder": 2}
            ax.fill_between(data.x[a], data.density[a], **pale)
            peak = _peak(data, data.x[a], data.density[a])
            labels.append(style.Label(*peak, str(data.arms[a]), style.letters(ax, shade)))
        dashed: Any = {"color": style.ink(ax), "linestyle": (0, (4, 2)), "zorder": 4}
        ax.plot(data.pseudobelief_x, data.pseudobelief_density, **dashed)
        heights = [_peak(data, x, y)[1] for x, y in zip(data.x, data.density, strict=True)]
        ax.set_xlim(*data.window)
        ax.set_ylim(0.0, 1.05 * max(*heights, middle[1]))
        ax.set(xlabel=data.quantity, ylabel="density of the belief")
        style.position_labels(ax, labels)
        return ax


def _peak(data: BeliefDensities, x: Floats, density: Floats) -> tuple[float, float]:
    """The highest point of a curve inside the window."""
    inside = (data.window[0] <= x) & (x <= data.window[1])
    top = int(np.argmax(np.where(inside, density, -1.0)))
    return float(x[top]), float(density[top])


def beliefs(
    agent: Believer,
    ax: Axes | None = None,
    *,
    top: int = 5,
    highlight: Sequence[Hashable] | None = None,
    size: str = "screen",
) -> Axes:
    """Draw an agent's beliefs about its expected rewards as densities, the pseudobelief dashed.

    Parameters
    ----------
    agent
        An agent.
    ax
        The axes to draw on; by default those of a new figure.
    top
        How many arms have colours and names, those most likely the best.
    highlight
        The arms that have them, in place of `top`.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.

    Raises
    ------
    ArmError
        If an arm of `highlight` is not there.
    """
    return draw_beliefs(belief_densities(agent), ax, top=top, highlight=highlight, size=size)


def draw_manifold(
    data: Paths,
    ax: Axes | None = None,
    *,
    top: int = 5,
    highlight: Sequence[Hashable] | None = None,
    size: str = "screen",
) -> Axes:
    """Draw the paths, fading into the past, and where they have come to.

    Parameters
    ----------
    data
        The paths.
    ax
        The axes to draw on; by default those of a new figure.
    top
        How many arms have colours and names, those most likely the best.
    highlight
        The arms that have them, in place of `top`.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.

    Raises
    ------
    ArmError
        If an arm of `highlight` is not there.
    """
    with style.canvas(ax, size) as ax:
        coloured = highlighted(data.arms, data.best, highlight, top)
        for a in sorted(set(range(len(data.arms))) - set(coloured)):
            _path(ax, data.mean[:, a], data.precision[:, a], style.GREY, "o", 4.0, 1)
        labels = []
        for rank, a in enumerate(coloured):
            shade, name = style.colour(rank), str(data.arms[a])
            _path(ax, data.mean[:, a], data.precision[:, a], shade, "o", 7.0, 3)
            x, y = data.mean[-1, a], data.precision[-1, a]
            labels.append(style.Label(x, y, name, style.letters(ax, shade)))
        _path(ax, data.pseudobelief_mean, data.pseudobelief_precision, style.ink(ax), "D", 7.0, 4)
        end = (data.pseudobelief_mean[-1], data.pseudobelief_precision[-1])
        labels.append(style.Label(*end, "pseudobelief", style.ink(ax)))
        ax.set_yscale("log")
        ax.margins(0.06)
        ax.autoscale_view()
        ax.set(xlabel=data.quantity, ylabel="precision of the belief")
        style.position_labels(ax, labels)
        return ax


def _path(ax: Axes, x: Floats, y: Floats, shade: str, marker: str, size: float, layer: int) -> None:
    """A line that fades into the past, and a point at its end."""
    if len(x) > 1:
        corners = np.column_stack([x, y])
        strength = np.linspace(0.05, 0.8, len(x) - 1)
        faded = [to_rgba(shade, float(alpha)) for alpha in strength]
        pieces = np.stack([corners[:-1], corners[1:]], axis=1)
        ax.add_collection(LineCollection(list(pieces), colors=faded, linewidths=1.3, zorder=layer))
    ax.plot(
        x[-1:],
        y[-1:],
        marker=marker,
        color=shade,
        markersize=size,
        linestyle="none",
        zorder=layer + 0.5,
    )


def manifold(
    shown: Trail | Believer,
    ax: Axes | None = None,
    *,
    top: int = 5,
    highlight: Sequence[Hashable] | None = None,
    size: str = "screen",
) -> Axes:
    """Draw the beliefs of an agent as points, mean against precision, and where they came from.

    Parameters
    ----------
    shown
        An agent, or the `Trail` of one.
    ax
        The axes to draw on; by default those of a new figure.
    top
        How many arms have colours and names, those most likely the best.
    highlight
        The arms that have them, in place of `top`.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.

    Raises
    ------
    ArmError
        If an arm of `highlight` is not there.
    """
    trail = shown
    if not isinstance(trail, Trail):
        trail = Trail(turns=1)
        trail.record(shown)  # type: ignore[arg-type]
    return draw_manifold(trail.paths(), ax, top=top, highlight=highlight, size=size)
