"""The focal distribution ∝ exp(x/τ(t)) on [0, 1]: how much high rewards are in focus over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from belman.errors import ExposureError
from belman.exposure import Exposure, Paper, exposure
from belman.measures.seen_beliefs import Floats
from belman.plots import style


class FocalDensities(NamedTuple):
    """The focal distribution at each of T turns.

    Attributes
    ----------
    turns
        The turns (T).
    tau
        The exposure at each (T), infinite at first.
    x
        Rewards (n).
    density
        The density of the focal distribution (T × n).
    """

    turns: tuple[int, ...]  # (T)
    tau: Floats  # (T) exposure, infinite at first
    x: Floats  # (n)
    density: Floats  # (T, n)


def focal_densities(
    schedule: Exposure | Callable[[int], float] | None = None,
    turns: Sequence[int] = (1, 10, 100, 1000),
    *,
    arms: int = 2,
    points: int = 401,
) -> FocalDensities:
    """Compute s e^(sx)/(e^s − 1) on [0, 1] with s = 1/τ(t) at some turns.

    Parameters
    ----------
    schedule
        An exposure or a function τ(t); by default the paper's.
    turns
        The turns at which to show it.
    arms
        The number of arms, on which an exposure may depend.
    points
        How many rewards to compute it at.

    Returns
    -------
    FocalDensities
        The data of `focal`.

    Raises
    ------
    ExposureError
        If the exposure has a focal distribution for each arm and none for all.

    >>> data = focal_densities(turns=(1, 1000))
    >>> [float(tau) for tau in data.tau.round(4)]
    [inf, 0.0279]
    """
    given = Paper() if schedule is None else exposure(schedule)
    if given.per_arm:
        raise ExposureError(
            f"{given!r} has one focal distribution per arm and none for all: give another "
            "exposure, such as belman.exposure.Paper(), or see the exposure of each arm in "
            "Agent.explain()"
        )
    x = np.linspace(0.0, 1.0, points)
    pull = given.pull(np.array(turns, dtype=np.float64), arms)[:, None]
    strong = np.maximum(pull, 1e-12)
    density = strong * np.exp(strong * (x - 1.0)) / -np.expm1(-strong)
    with np.errstate(divide="ignore"):
        return FocalDensities(tuple(turns), 1.0 / pull[:, 0], x, density)


def draw_focal(data: FocalDensities, ax: Axes | None = None, *, size: str = "screen") -> Axes:
    """Draw one line a turn, named beside the axes.

    Parameters
    ----------
    data
        The densities.
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
        for rank, (turn, tau, density) in enumerate(
            zip(data.turns, data.tau, data.density, strict=True)
        ):
            name = f"t = {turn:,}, τ = {'∞' if np.isinf(tau) else f'{tau:.3g}'}"
            ax.plot(data.x, density, color=style.colour(rank), label=name)
        ax.set(xlim=(0.0, 1.0), xlabel="reward x", ylabel="density of the focal distribution")
        ax.set_yscale("log")
        ax.set_ylim(max(data.density.min() * 0.5, 1e-6), data.density.max() * 2.0)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


def focal(
    schedule: Exposure | Callable[[int], float] | None = None,
    turns: Sequence[int] = (1, 10, 100, 1000),
    ax: Axes | None = None,
    *,
    arms: int = 2,
    size: str = "screen",
) -> Axes:
    """Draw the focal distribution of an exposure at these turns.

    Parameters
    ----------
    schedule
        An exposure or a function τ(t); by default the paper's.
    turns
        The turns at which to show it.
    ax
        The axes to draw on; by default those of a new figure.
    arms
        The number of arms, on which an exposure may depend.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Axes
        The axes, drawn on.

    Raises
    ------
    ExposureError
        If the exposure has a focal distribution for each arm and none for all.
    """
    return draw_focal(focal_densities(schedule, turns, arms=arms), ax, size=size)
