"""The distribution of each arm's mean as a table, where a family's own distribution of the mean is
an integral.

A report asks the distribution of a mean thousands of times: at the nodes of integrals, on the way
to roots. For purchases of log-normal amounts one answer takes a double integral. So the
distribution is asked at some forty points, at steps of about `_RISE` of the normal score z(v) =
Φ⁻¹(F(eᵛ)), which is smooth and nearly straight, and read between them by a cubic spline; chances
are right to 1e-5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from belman.engine import LATER, Bundle, entry, kernel
from belman.families.family import Family
from belman.measures.lift import MeanDistributions
from belman.special import normal_cdf, normal_quantile

Floats = NDArray[np.float64]
Kernel = Callable[..., Any]

_RISE, _GROWTH = 0.4, 1.4
_FAR = 700.0  # eᵛ is a number up to here
_LOWEST, _HIGHEST = -8.2, 7.0  # scores; beyond the second 1 − F has lost its digits
_ROOM = 128  # points of a table
#: Where a row has the expected reward and its points: ln of the mean, the score, and the spline's
#: three coefficients from there to the next.
_EXPECTED, _COUNT, _FIRST, _COLUMNS = 0, 1, 2, 5


@kernel
def _score(family, constants, belief, v):
    below = family.mean_cdf(constants, belief, math.exp(v))
    if below > 0.5:
        return -normal_quantile(max(1.0 - below, 1e-17))
    return normal_quantile(max(below, 1e-300))


@kernel
def _walk(family, constants, belief, start, side, logs, scores):
    """Fill points from `start` to one end of the distribution, at steps of about the same rise of
    the score; return how many.
    """
    v, step, count = start, 0.02, 0
    before = _score(family, constants, belief, v)
    while count < logs.size and abs(v) < _FAR and _LOWEST < before < _HIGHEST:
        v = min(max(v + side * step, -_FAR), _FAR)
        score = _score(family, constants, belief, v)
        rise = side * (score - before)
        if rise > 2.0 * _RISE and step > 1e-12:
            v -= side * step
            step *= _RISE / rise
            continue
        if rise > 0.0:
            logs[count], scores[count], before = v, score, score
            count += 1
        step *= min(max(_RISE / max(rise, 1e-9), 0.5), _GROWTH)
    return count


@kernel
def _position(row, column, value):
    """The last point of a table whose number in this column is at most a value."""
    low, high = 0, int(row[_COUNT]) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if row[_FIRST + _COLUMNS * middle + column] <= value:
            low = middle
        else:
            high = middle
    return _FIRST + _COLUMNS * low


@kernel
def _score_at(row, v):
    at = _position(row, 0, v)
    last = _FIRST + _COLUMNS * (int(row[_COUNT]) - 1)
    if v > row[last]:  # straight beyond the ends
        return row[last + 1] + row[last + 2] * (v - row[last])
    far = v - row[at]
    if far < 0.0:
        return row[at + 1] + row[at + 2] * far
    return row[at + 1] + far * (row[at + 2] + far * (row[at + 3] + far * row[at + 4]))


@kernel
def mean_cdf(constants, row, x):
    size = constants[0] * x
    if size <= 0.0:
        below = 0.0
    else:
        below = normal_cdf(_score_at(row, min(max(math.log(size), -_FAR), _FAR)))
    return below if constants[0] > 0.0 else 1.0 - below


@kernel
def mean_quantile(constants, row, level, upper):
    """The mean at a level, from the spline by Newton's method within one step of the table."""
    above = upper == (constants[0] > 0.0)
    score = -normal_quantile(level) if above else normal_quantile(level)
    last = _FIRST + _COLUMNS * (int(row[_COUNT]) - 1)
    if score >= row[last + 1]:
        v = row[last] + (score - row[last + 1]) / row[last + 2]
    elif score <= row[_FIRST + 1]:
        v = row[_FIRST] + (score - row[_FIRST + 1]) / row[_FIRST + 2]
    else:
        at = _position(row, 1, score)
        low, high = row[at], row[at + _COLUMNS]
        v = low + (high - low) * (score - row[at + 1]) / (row[at + _COLUMNS + 1] - row[at + 1])
        for _ in range(30):
            far = v - row[at]
            slope = row[at + 2] + far * (2.0 * row[at + 3] + 3.0 * far * row[at + 4])
            gap = _score_at(row, v) - score
            low, high = (v, high) if gap < 0.0 else (low, v)
            after = v - gap / slope if slope > 0.0 else low
            if not low < after < high:
                after = 0.5 * (low + high)
            if abs(after - v) <= 1e-15 * max(1.0, abs(v)):
                break
            v = after
    if v >= _FAR:
        return constants[0] * math.inf
    return 0.0 if v <= -_FAR else constants[0] * math.exp(v)


@dataclass(frozen=True)
class _MeanKernels(Bundle):
    mean_cdf: Kernel
    mean_quantile: Kernel


_KERNELS = _MeanKernels(mean_cdf, mean_quantile)


@dataclass(frozen=True)
class MeanTables:
    """Stands for a family where only means are asked for; beliefs are rows of tables."""

    sign: float  # −1 where rewards are costs
    closed_form: ClassVar[bool] = True

    @property
    def mean_range(self) -> tuple[float, float]:
        return (0.0, math.inf) if self.sign > 0.0 else (-math.inf, 0.0)

    @property
    def constants(self) -> Floats:
        return np.array([self.sign])

    def expected_reward(self, row: Floats) -> float:
        return float(row[_EXPECTED])

    def enter(self, template: Kernel, **arguments: Any) -> Any:
        """Run a template `(family, constants, …)`."""
        return entry(template, family=_KERNELS)(LATER, constants=self.constants, **arguments)

    mean_intervals = Family.mean_intervals


@lru_cache(maxsize=64)
def _table(family: Family, belief: tuple[float, ...]) -> Floats:
    """Return the table of a belief of a family of positive means."""
    from scipy.interpolate import CubicSpline  # half a second, for those who ask such a family

    row, result = np.array(belief), []
    expected = family.expected_reward(row)
    start = math.log(min(max(expected, 1e-300), 1e300))
    for side in (-1.0, 1.0):
        logs, scores = np.empty(_ROOM), np.empty(_ROOM)
        count = family.enter(_walk, belief=row, start=start, side=side, logs=logs, scores=scores)
        result.append(np.array([logs[:count], scores[:count]]))
    points = np.concatenate([result[0][:, ::-1], result[1]], axis=1)
    spline = CubicSpline(*points)
    cubic, square, slope = spline.c[:3]
    ends = [float(spline(points[0, -1], 1)), 0.0, 0.0]
    rows = np.column_stack([points[:, :-1].T, slope, square, cubic])
    table = np.zeros(_FIRST + 2 * _COLUMNS * _ROOM)
    filled = np.concatenate([rows.ravel(), points[:, -1], ends])
    table[:_FIRST] = expected, points.shape[1]
    table[_FIRST : _FIRST + filled.size] = filled
    return table


def tabulated(family: Family, beliefs: Floats) -> tuple[MeanDistributions, Floats]:
    """Return what to ask for means in the place of a family and its beliefs, one a row; these
    themselves where they answer at once.

    >>> from belman.families import Money
    >>> shop = Money(typical=30.0)
    >>> belief = np.array([30.5, 970.5, 3.4, 30.05, 18.0, 19.0])
    >>> distributions, tables = tabulated(shop, belief[None, :])
    >>> mine = distributions.mean_intervals(tables, 0.025)
    >>> own = shop.mean_intervals(belief[None, :], 0.025)
    >>> round(float(mine[0][0]), 3), round(float(own[0][0]), 3)
    (0.897, 0.897)
    """
    bare = getattr(family, "of", family)
    if bare.closed_form or bare.mean_range != (0.0, math.inf):
        return family, beliefs
    rows = [_table(bare, tuple(belief)) for belief in beliefs.tolist()]
    return MeanTables(1.0 if bare is family else -1.0), np.array(rows)
