"""Beliefs as they are drawn: densities of expected rewards, and points that leave a trail."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.errors import SettingError
from belman.families import Family
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
        """The belief that sums up those about all arms."""

    @property
    def turn(self) -> int:
        """The number of the next decision."""

    def belief(self, arm: Hashable) -> tuple[float, ...]:
        """Return the belief about an arm.

        Parameters
        ----------
        arm
            The name of an arm.

        Returns
        -------
        tuple of float
            The coordinates.
        """

    def beliefs(self, level: float = ...) -> Table:
        """A row an arm, with credible intervals of this level.

        Parameters
        ----------
        level
            The probability of the intervals.

        Returns
        -------
        Table
            A row an arm.
        """


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


class BeliefDensities(NamedTuple):
    """Densities of the expected reward of K arms and the pseudobelief, in the user's units.

    Attributes
    ----------
    arms
        The names of the arms (K).
    x
        Expected rewards, in the user's units (K × n).
    density
        The density of each belief there (K × n).
    best
        The probability of being best (K).
    pseudobelief_x
        Expected rewards (n).
    pseudobelief_density
        The density of the pseudobelief there (n).
    window
        The ends of what is worth showing.
    quantity
        What is measured: 'expected reward' or 'expected cost'.
    """

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
    """Compute the data of `beliefs`: a curve for each arm and for the pseudobelief.

    Parameters
    ----------
    agent
        An agent.
    points
        The points of each curve.

    Returns
    -------
    BeliefDensities
        The data.
    """
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


_ONE_SIGMA = 0.15865525393145707  # what a normal distribution has beyond one standard deviation


class Paths(NamedTuple):
    """Where K arms and the pseudobelief stood at each of n turns; NaN before an arm came.

    Attributes
    ----------
    arms
        The names of the arms (K).
    turns
        The turns (n).
    mean
        The mean of the expected reward of each arm (n × K).
    precision
        Its precision (n × K).
    pseudobelief_mean
        The mean of the pseudobelief (n).
    pseudobelief_precision
        Its precision (n).
    best
        The probability of being best now (K).
    quantity
        What is measured: 'expected reward' or 'expected cost'.
    """

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

    The precision is 1/σ² with 2σ the width of the central 68 %: that of a normal distribution, and
    finite where a variance is not. Where even the mean is infinite the median stands for it.

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
    """Remembers where the beliefs of an agent stood in its last turns.

    Feed it the agent every turn.

    Parameters
    ----------
    turns
        How many turns to remember, the last ones; None remembers all.

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
        """Note where the agent's beliefs stand now.

        Parameters
        ----------
        agent
            The agent.
        """
        if self._units is None:
            self._units = units_of(agent, agent.beliefs())
        units = self._units

        def user(position: tuple[float, float]) -> tuple[float, float]:
            return units.offset + units.factor * position[0], _over_square(
                position[1], units.factor
            )

        positions = {arm: user(position(agent.family, agent.belief(arm))) for arm in agent.arms}
        middle = user(position(agent.family, agent.pseudobelief))
        self._moments.append(_Moment(agent.turn, positions, middle))
        self._last = agent

    def paths(self) -> Paths:
        """Return the data of `manifold`.

        Returns
        -------
        Paths
            The data of `manifold`, for the arms of the last turn recorded.

        Raises
        ------
        SettingError
            If nothing was recorded.
        """
        if self._last is None or self._units is None:
            raise SettingError("the trail is empty: record(agent) at least once")
        table = self._last.beliefs()
        arms = tuple(self._moments[-1].positions)
        nowhere = (np.nan, np.nan)
        rows = [[moment.positions.get(arm, nowhere) for arm in arms] for moment in self._moments]
        positions = np.array(rows)
        middle = np.array([moment.pseudobelief for moment in self._moments])
        turns = tuple(moment.turn for moment in self._moments)
        chances = dict(zip(table["arm"], table["P(best)"], strict=True))
        best = np.array([chances.get(arm, 0.0) for arm in arms])
        (mean, precision), (x, y) = positions.transpose(2, 0, 1), middle.T
        return Paths(arms, turns, mean, precision, x, y, best, self._units.quantity)
