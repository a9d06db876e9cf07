"""Curves on a grid, and their averages over a prior: the arithmetic of bets.

A gambler's capital is exp of a smooth concave curve in the size of the bet, and the curve of many
outcomes is the sum of the curves of each. So a curve is kept at the points of a grid, which lie
close around 0, and read between them by a cubic spline. The average over a prior is an integral
over the points, with more of them around a narrow top.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Standard deviations of a size under a prior, and how likely each is. Of lifts: nobody tells the
#: baseline, and most that are looked for are of a few hundredths to a few tenths. Of stakes where
#: rewards may vary little, so that large ones are safe: of every order; and on the rates of coins.
LIFTS = ((0.03, 0.25), (0.1, 0.4), (0.3, 0.25), (0.6, 0.1))
ANY_ORDER = ((0.02, 0.03), (0.1, 0.07), (0.35, 0.3), (3.0, 0.6))
COINS = ((0.02, 0.02), (0.25, 0.43), (3.0, 0.55))
Prior = tuple[tuple[float, float], ...]
POINTS = 97
_SCORES = np.linspace(-7.0, 7.0, 85)
_TINY = 1e-300
_PARTS = {0: slice(0, POINTS), 1: slice(POINTS // 2, None), -1: slice(0, POINTS // 2 + 1)}
_FINE = 3.0  # steps of the grid that a top must be wide, or it is given points of its own


class Grid:
    """Points from −reach to reach, closer around 0, with a prior over them.

    >>> grid = Grid(1.0)
    >>> curve = 200.0 * np.log1p(0.1 * grid.points) - 20.0 * grid.points
    >>> round(float(grid.between(curve, np.array([0.3]))[0]), 6)
    -0.08824
    """

    def __init__(self, reach: float, prior: Prior = LIFTS) -> None:
        self._prior = prior
        steps = np.linspace(-1.0, 1.0, POINTS)
        self.points: Floats = 0.1 * np.sinh(math.asinh(10.0 * reach) * steps)
        self.points[POINTS // 2] = 0.0
        self._reach = reach

    @cached_property
    def _whole(self) -> float:
        """The prior's mass on the grid before it is scaled to 1."""
        inside = np.linspace(-self._reach, self._reach, 200_001)
        return float(np.trapezoid(np.exp(_log_normals(inside, self._prior)), inside))

    def log_prior(self, sizes: Floats) -> Floats:
        """Return ln of the prior's density, which has its whole mass on the grid."""
        return _log_normals(sizes, self._prior) - math.log(self._whole)

    @cached_property
    def _at_points(self) -> Floats:
        return self.log_prior(self.points)

    @cached_property
    def _curvature(self) -> Floats:
        """The matrix that turns a curve into its second derivatives: a spline that is one cubic
        over the first two steps, and over the last two.
        """
        x, size = self.points, POINTS
        h = np.diff(x)
        left, right = np.zeros((size, size)), np.zeros((size, size))
        for i in range(1, size - 1):
            left[i, i - 1 : i + 2] = h[i - 1] / 6.0, (h[i - 1] + h[i]) / 3.0, h[i] / 6.0
            right[i, i - 1 : i + 2] = 1.0 / h[i - 1], -1.0 / h[i - 1] - 1.0 / h[i], 1.0 / h[i]
        left[0, :3] = h[1], -h[0] - h[1], h[0]
        left[-1, -3:] = h[-1], -h[-1] - h[-2], h[-2]
        result: Floats = np.linalg.solve(left, right).astype(np.float64)
        return result

    def bend(self, curve: Floats) -> Floats:
        """Return the second derivatives of a curve at the points."""
        result: Floats = self._curvature @ curve
        return result

    def slope(self, curve: Floats) -> float:
        """Return the slope of a curve at 0."""
        middle, second = POINTS // 2, self.bend(curve)
        step = self.points[middle + 1] - self.points[middle]
        rise = (curve[middle + 1] - curve[middle]) / step
        return float(rise - step / 6.0 * (2.0 * second[middle] + second[middle + 1]))

    def between(self, curve: Floats, sizes: Floats, second: Floats | None = None) -> Floats:
        """Return a curve, given at the points, at other sizes within the grid."""
        bent = self.bend(curve) if second is None else second
        position = np.clip(np.searchsorted(self.points, sizes) - 1, 0, POINTS - 2)
        width = self.points[position + 1] - self.points[position]
        b = (sizes - self.points[position]) / width
        a = 1.0 - b
        result: Floats = (
            a * curve[position]
            + b * curve[position + 1]
            + (a * (a * a - 1.0) * bent[position] + b * (b * b - 1.0) * bent[position + 1])
            * (width * width / 6.0)
        )
        return result

    def log_average(self, curve: Floats, side: int = 0) -> float:
        """Return ln of the average of exp(curve) over the prior: of all sizes, or of those on one
        side of 0.
        """
        part = _PARTS[side]
        sizes, logs = self.points[part], curve[part] + self._at_points[part]
        top = int(logs.argmax())
        peak = float(logs[top])
        scale = 1.0 if side == 0 else 2.0
        if 0 < top < sizes.size - 1:
            step = float(sizes[top + 1] - sizes[top - 1]) / 2.0
            bend = 2.0 * peak - float(logs[top - 1]) - float(logs[top + 1])
            if bend * _FINE * _FINE > 1.0:
                around = float(sizes[top]) + step / math.sqrt(bend) * _SCORES
                around = around[(around > sizes[0]) & (around < sizes[-1])]
                sizes = np.sort(np.concatenate([sizes, around]))
                logs = self.between(curve, sizes) + self.log_prior(sizes)
                peak = float(logs.max())
                heights = np.exp(logs - peak)
                whole = 0.5 * float(np.dot(np.diff(sizes), heights[1:] + heights[:-1]))
                return peak + math.log(whole * scale)
        whole = float(np.dot(self._widths[side], np.exp(logs - peak)))
        return peak + math.log(whole * scale)

    @cached_property
    def _widths(self) -> dict[int, Floats]:
        """What the trapezoidal rule weighs every point by: of all, and on each side of 0."""
        result = {}
        for side, part in _PARTS.items():
            steps = 0.5 * np.diff(self.points[part])
            result[side] = np.append(steps, 0.0) + np.insert(steps, 0, 0.0)
        return result


def _log_normals(sizes: Floats, prior: Prior) -> Floats:
    """Return ln of the density of the normal distributions of a prior, mixed."""
    scales, weights = (np.array(part)[:, None] for part in zip(*prior, strict=True))
    heights = weights / (scales * math.sqrt(2.0 * math.pi))
    result: Floats = np.log(np.sum(heights * np.exp(-0.5 * (sizes / scales) ** 2), axis=0) + _TINY)
    return result


def crossing(above: Callable[[float], float], inside: float, step: float, end: float) -> float:
    """Return where a function of logarithms that is negative at `inside` first becomes 0 on the way
    to `end`, to 1e-6 of a logarithm; `end` if it never does. A `step` is a first guess of how far.

    >>> round(crossing(lambda x: x * x - 2.0, 0.0, 0.1, 10.0), 6)
    1.414214
    """
    sign = 1.0 if end > inside else -1.0
    near, value = inside, above(inside)
    if value >= 0.0:
        return inside
    while True:
        far = inside + sign * step
        if sign * (end - far) <= 0.0:
            far = end
        beyond = above(far)
        if beyond >= 0.0:
            break
        if far == end:
            return end
        near, value, step = far, beyond, 1.5 * step
    before = 0
    for _ in range(60):  # false position; an end that stays twice is given half of its weight
        between = (near * beyond - far * value) / (beyond - value)
        if not min(near, far) < between < max(near, far):
            between = 0.5 * (near + far)
        result = above(between)
        if abs(result) < 1e-6 or abs(far - near) < 1e-12 * max(abs(far), abs(near)):
            return between
        if result < 0.0:
            near, value, beyond = between, result, beyond * (0.5 if before < 0 else 1.0)
            before = -1
        else:
            far, beyond, value = between, result, value * (0.5 if before > 0 else 1.0)
            before = 1
    return 0.5 * (near + far)
