"""Beliefs as densities: what each arm's expected reward may be, the pseudobelief in their midst."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from belman.errors import ArmError, listing, nearest
from belman.families import Family
from belman.plots import style
from belman.table import Table

Floats = NDArray[np.float64]

_TAIL = 1e-5  # of probability that a curve leaves out at each end


class Believer(Protocol):
    """Anything with named arms and a belief about each, such as an Agent."""

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The names of the arms."""

    @property
    def family(self) -> Family:
        """What a reward is."""

    @property
    def pseudobelief(self) -> tuple[float, ...]:
        """The barycentre of the beliefs."""

    @property
    def turn(self) -> int:
        """The number of the next decision."""

    def belief(self, arm: Hashable) -> tuple[float, ...]:
        """The coordinates of the belief about an arm."""

    def beliefs(self, level: float = ...) -> Table:
        """A row an arm, with credible intervals of this level."""


class Units(NamedTuple):
    """The user's number is offset + factor · the family's: an agent may have a range, or costs."""

    quantity: str
    offset: float
    factor: float

    def of(self, values: Floats) -> Floats:
        """The family's numbers as the user counts them."""
        return self.offset + self.factor * values


def units_of(agent: Believer, table: Table) -> Units:
    """The units of an agent, read off its credible intervals, which are the family's here."""
    costs = "expected cost" in table.columns
    quantity, sign = ("expected cost", -1.0) if costs else ("expected reward", 1.0)
    if agent.family.reward_range is None:
        return Units(quantity, 0.0, sign)
    widths = [high - low for low, high in zip(table["low"], table["high"], strict=True)]
    widest = int(np.argmax(widths))
    belief = agent.belief(agent.arms[widest])
    low, high = (agent.family.mean_quantile(belief, 0.025, upper=upper) for upper in (False, True))
    factor = sign * widths[widest] / (high - low) if high > low else sign  # or there is no telling
    return Units(quantity, table["high" if costs else "low"][widest] - factor * low, factor)


def highlighted(
    arms: Sequence[Hashable], best: Floats, highlight: Sequence[Hashable] | None, top: int
) -> list[int]:
    """The places of the arms to colour, in order: those named, or the `top` most likely best."""
    if highlight is None:
        return sorted(int(a) for a in np.argsort(-best, kind="stable")[:top])
    places = {arm: place for place, arm in enumerate(arms)}
    for arm in highlight:
        if arm not in places:
            shown = f"this picture shows {listing(arms)}{nearest(arm, arms)}"
            raise ArmError(f"unknown arm {arm!r}: {shown}")
    return [places[arm] for arm in highlight]


class BeliefDensities(NamedTuple):
    """Densities of the expected reward of K arms and the pseudobelief, in the user's units."""

    arms: tuple[Hashable, ...]
    x: Floats  # (K, n)
    density: Floats  # (K, n)
    best: Floats  # (K) probability of being best
    pseudobelief_x: Floats  # (n)
    pseudobelief_density: Floats  # (n)
    window: tuple[float, float]  # what is worth showing
    quantity: str  # 'expected reward' or 'expected cost'


def window_of(family: Family, belief: ArrayLike) -> tuple[float, float]:
    """Where a belief about the expected reward is worth showing: all but 1/1000, short tails."""

    def quantile(level: float, upper: bool = False) -> float:
        return family.mean_quantile(belief, level, upper=upper)

    middle = quantile(0.5)
    low = min(middle - 6.0 * (middle - quantile(0.25)), quantile(0.1))
    high = max(middle + 6.0 * (quantile(0.25, True) - middle), quantile(0.1, True))
    return max(low, quantile(5e-4)), min(high, quantile(5e-4, True))


def density_of_mean(family: Family, belief: ArrayLike, points: int = 300) -> tuple[Floats, Floats]:
    """Points x and the density of the expected reward there: short steps of its distribution."""
    low, high = window_of(family, belief)
    below, above = family.mean_cdf(belief, low), 1.0 - family.mean_cdf(belief, high)
    tail = points // 6
    left = [
        family.mean_quantile(belief, p) for p in np.geomspace(_TAIL, max(below, _TAIL), tail)[:-1]
    ]
    right = [
        family.mean_quantile(belief, p, upper=True)
        for p in np.geomspace(max(above, _TAIL), _TAIL, tail)[1:]
    ]
    edges = np.concatenate([left, np.linspace(low, high, points + 3 - 2 * tail), right])
    edges = np.maximum.accumulate(np.nan_to_num(edges, posinf=1e300, neginf=-1e300))
    rises = np.diff([family.mean_cdf(belief, float(edge)) for edge in edges])
    steps = np.diff(edges)
    density = np.divide(rises, steps, out=np.zeros(len(steps)), where=steps > 0.0)
    return 0.5 * edges[:-1] + 0.5 * edges[1:], density


def belief_densities(agent: Believer, points: int = 300) -> BeliefDensities:
    """The data of `beliefs`: a curve of `points` points for each arm and for the pseudobelief."""
    table = agent.beliefs()
    units = units_of(agent, table)
    rows = [*(agent.belief(arm) for arm in agent.arms), agent.pseudobelief]
    curves = [density_of_mean(agent.family, row, points) for row in rows]
    ends = np.array([window_of(agent.family, row) for row in rows])
    x, density = (np.array([curve[i] for curve in curves]) for i in (0, 1))
    along = 1 if units.factor > 0.0 else -1  # x rises, whichever way the user counts
    x, density = units.of(x)[:, ::along], density[:, ::along] / abs(units.factor)
    bounds = (0.0, *(agent.family.reward_range or ()))
    ends = np.array(
        [
            _snapped(ends[:, 0].min(), ends[:, 1].max(), bounds),
            _snapped(ends[:, 1].max(), ends[:, 0].min(), bounds),
        ]
    )
    low, high = sorted(units.of(ends).tolist())
    best = np.array(table["P(best)"])
    named = (agent.arms, x[:-1], density[:-1], best)
    return BeliefDensities(*named, x[-1], density[-1], (low, high), units.quantity)


def _snapped(end: float, other: float, bounds: Sequence[float]) -> float:
    """An end of a window, or the bound of the rewards where that is near."""
    return next((bound for bound in bounds if abs(end - bound) < 0.04 * abs(other - end)), end)


def draw_beliefs(
    data: BeliefDensities,
    ax: Axes | None = None,
    *,
    top: int = 5,
    highlight: Sequence[Hashable] | None = None,
    size: str = "screen",
) -> Axes:
    """Draw the densities: `highlight` or the `top` arms in colour with names, others grey."""
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
        style.place_labels(ax, labels)
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
    """An agent's beliefs about its expected rewards as densities, the pseudobelief dashed."""
    return draw_beliefs(belief_densities(agent), ax, top=top, highlight=highlight, size=size)
