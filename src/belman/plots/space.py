"""What is believed of a box: the expected reward over one side or two, and what was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from belman.errors import SettingError
from belman.plots import style
from belman.table import Table

Floats = NDArray[np.float64]


class Sided(Protocol):
    """A box."""

    @property
    def sides(self) -> Mapping[str, tuple[float, float]]:
        """The sides of the box, by name."""


class Explorer(Protocol):
    """Anything that believes something of the points of a box, such as an agent of it."""

    @property
    def space(self) -> Sided:
        """The box."""

    @property
    def told(self) -> Table:
        """Points so far, each with its average reward and how many it had."""

    def beliefs(self, level: float = ..., *, points: Sequence[Mapping[str, float]]) -> Table:
        """Return what is believed of points.

        Parameters
        ----------
        level
            The probability of the intervals.
        points
            The points.

        Returns
        -------
        Table
            A row a point, with credible intervals.
        """


class Landscape(NamedTuple):
    """Expected rewards over a grid of points, with their interval, and what was told.

    Attributes
    ----------
    sides
        The names of the sides of the box.
    axes
        The values along each side.
    expected
        The expected reward over the grid.
    low
        The lower end of its credible interval.
    high
        The upper end.
    points
        The points of which rewards are known, a side an array.
    rewards
        Their average rewards.
    counts
        How many rewards each had.
    """

    sides: tuple[str, ...]
    axes: tuple[Floats, ...]
    expected: Floats
    low: Floats
    high: Floats
    points: tuple[Floats, ...]
    rewards: Floats
    counts: Floats


def landscape(agent: Explorer, points: int = 101, level: float = 0.95) -> Landscape:
    """Compute what an agent believes over a grid.

    Parameters
    ----------
    agent
        An agent of a box of one or two sides.
    points
        The points of the grid along a side.
    level
        The probability of the credible intervals.

    Returns
    -------
    Landscape
        The data of `space`.

    Raises
    ------
    SettingError
        If the box has more than two sides.
    """
    sides = agent.space.sides
    if len(sides) > 2:
        raise SettingError(f"a picture shows one or two sides, and this box has {len(sides)}")
    axes = tuple(np.linspace(low, high, points) for low, high in sides.values())
    grid = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]
    at = [dict(zip(sides, map(float, point), strict=True)) for point in zip(*grid, strict=True)]
    table, outcomes = agent.beliefs(level, points=at), agent.told
    shape = (points,) * len(sides)
    expected, low, high = (
        np.array(table[name]).reshape(shape) for name in ("expected", "low", "high")
    )
    where = tuple(np.array(outcomes[name]) for name in sides)
    rewards, counts = (np.array(outcomes[name]) for name in ("reward", "rewards"))
    return Landscape(tuple(sides), axes, expected, low, high, where, rewards, counts)


def draw_space(data: Landscape, ax: Axes | None = None, *, size: str = "screen") -> Axes:
    """Draw a curve with its band over one side, or a map over two.

    Parameters
    ----------
    data
        The data.
    ax
        The axes to draw on; by default those of a new figure.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.
    """
    with style.canvas(ax, size) as ax:
        draw = _draw_curve if len(data.sides) == 1 else _draw_map
        draw(data, ax)
        ax.set_title(f"what {int(data.counts.sum()):,} rewards say")
        return ax


def _draw_curve(data: Landscape, ax: Axes) -> None:
    [across], [points], ink = data.axes, data.points, style.colour(0)
    ax.scatter(points, data.rewards, s=10, color=style.GREY, label="average rewards", zorder=1)
    ax.fill_between(
        across, data.low, data.high, color=ink, alpha=0.25, linewidth=0, label="95 % interval"
    )
    ax.plot(across, data.expected, color=ink, label="expected reward")
    best = int(np.argmax(data.expected))
    ax.axvline(
        across[best], linestyle=":", color=style.colour(1), label=f"best: {across[best]:.4g}"
    )
    ax.set(xlabel=data.sides[0], ylabel="reward")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _draw_map(data: Landscape, ax: Axes) -> None:
    (across, up), (points_across, points_up) = data.axes, data.points
    filled = ax.contourf(across, up, data.expected.T, levels=20)
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.colorbar(filled, ax=ax, label="expected reward")
    ax.scatter(points_across, points_up, s=14, facecolor="white", edgecolor="black", linewidth=0.6)
    ax.set(xlabel=data.sides[0], ylabel=data.sides[1])


def space(agent: Explorer, ax: Axes | None = None, *, size: str = "screen") -> Axes:
    """Draw what an agent believes of its box.

    Parameters
    ----------
    agent
        An agent of a box of one or two sides.
    ax
        The axes to draw on; by default those of a new figure.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.

    Raises
    ------
    SettingError
        If the box has more than two sides.
    """
    points = 201 if len(agent.space.sides) == 1 else 61
    return draw_space(landscape(agent, points), ax, size=size)
