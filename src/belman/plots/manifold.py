"""Arms and pseudobelief as points on the manifold, mean against precision, with a trail."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from numpy.typing import ArrayLike

from belman.errors import SettingError
from belman.families import Family
from belman.plots import style
from belman.plots.beliefs import Believer, Floats, Units, highlighted, units_of

_ONE_SIGMA = 0.15865525393145707  # what a normal law has beyond one standard deviation


class Paths(NamedTuple):
    """Where K arms and the pseudobelief stood at each of n turns; NaN before an arm came."""

    arms: tuple[Hashable, ...]
    turns: tuple[int, ...]  # (n)
    mean: Floats  # (n, K)
    precision: Floats  # (n, K)
    pseudobelief_mean: Floats  # (n)
    pseudobelief_precision: Floats  # (n)
    best: Floats  # (K) probability of being best, now
    quantity: str


def position(family: Family, belief: ArrayLike) -> tuple[float, float]:
    """Mean and precision of the expected reward under a belief.

    The precision is 1/σ² with 2σ the width of the central 68 %: that of a normal law, and finite
    where a variance is not. Where even the mean is infinite the median stands for it.

    >>> from belman.families import Gaussian
    >>> [round(x, 6) for x in position(Gaussian(), (3.0, 4.0))]
    [3.0, 4.0]
    """
    low, high = (family.mean_quantile(belief, _ONE_SIGMA, upper=upper) for upper in (False, True))
    mean = family.expected_reward(belief)
    where = mean if np.isfinite(mean) else family.mean_quantile(belief, 0.5)
    return where, _over_square(4.0, high - low)


@np.errstate(all="ignore")
def _over_square(number: float, width: float) -> float:
    """number/width², which may be infinite, or nothing."""
    return float(number / np.square(np.float64(width)))


class _Moment(NamedTuple):
    turn: int
    positions: dict[Hashable, tuple[float, float]]
    pseudobelief: tuple[float, float]


class Trail:
    """Remembers where the beliefs of an agent stood in its last `turns` turns (None: in all).

    Feed it the agent every turn.

    >>> from belman.agent import Agent
    >>> agent, trail = Agent(["blue", "red"], seed=7), Trail(turns=10)
    >>> for reward in (1, 0, 1):
    ...     agent.tell("blue", reward)
    ...     trail.record(agent)
    >>> trail.paths().turns
    (2, 3, 4)
    """

    def __init__(self, turns: int | None = 60) -> None:
        self._moments: deque[_Moment] = deque(maxlen=turns)
        self._units: Units | None = None
        self._last: Believer | None = None

    def __len__(self) -> int:
        return len(self._moments)

    def record(self, agent: Believer) -> None:
        """Note where the agent's beliefs stand now."""
        if self._units is None:
            self._units = units_of(agent, agent.beliefs())
        units = self._units

        def user(place: tuple[float, float]) -> tuple[float, float]:
            return units.offset + units.factor * place[0], _over_square(place[1], units.factor)

        positions = {arm: user(position(agent.family, agent.belief(arm))) for arm in agent.arms}
        middle = user(position(agent.family, agent.pseudobelief))
        self._moments.append(_Moment(agent.turn, positions, middle))
        self._last = agent

    def paths(self) -> Paths:
        """The data of `manifold`, for the arms of the last turn recorded."""
        if self._last is None or self._units is None:
            raise SettingError("the trail is empty: record(agent) at least once")
        table = self._last.beliefs()
        arms = tuple(self._moments[-1].positions)
        nowhere = (np.nan, np.nan)
        rows = [[moment.positions.get(arm, nowhere) for arm in arms] for moment in self._moments]
        places = np.array(rows)
        middle = np.array([moment.pseudobelief for moment in self._moments])
        turns = tuple(moment.turn for moment in self._moments)
        chances = dict(zip(table["arm"], table["P(best)"], strict=True))
        best = np.array([chances.get(arm, 0.0) for arm in arms])
        (mean, precision), (x, y) = places.transpose(2, 0, 1), middle.T
        return Paths(arms, turns, mean, precision, x, y, best, self._units.quantity)


def draw_manifold(
    data: Paths,
    ax: Axes | None = None,
    *,
    top: int = 5,
    highlight: Sequence[Hashable] | None = None,
    size: str = "screen",
) -> Axes:
    """Draw the paths, fading into the past, and where they have come to."""
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
        style.place_labels(ax, labels)
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
    """The beliefs of an agent as points, mean against precision; a `Trail` adds how they came."""
    trail = shown
    if not isinstance(trail, Trail):
        trail = Trail(turns=1)
        trail.record(shown)  # type: ignore[arg-type]
    return draw_manifold(trail.paths(), ax, top=top, highlight=highlight, size=size)
