"""Quantiles of positive means whose distribution function is an integral: a search in ln x."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from belman.engine import factory, kernel

Kernel = Callable[..., Any]

_FAR = 705.0  # eᵛ is a number up to here
_STEPS = 200
_CLOSE = 3e-14


@factory
def searched_quantile(mean_cdf: Kernel, expected_reward: Kernel) -> Kernel:
    """The kernel `mean_quantile`: 0 where it underflows, infinite where it overflows.

    Doubled steps from the expected reward until it lies between two points, then secants on the
    logarithm of the tail, nearly straight, with halves where one end stays.
    """

    @kernel
    def excess(constants, belief, v, log_level, upper):
        """By how much the logarithm of the tail exceeds that of the level, rising with v."""
        below = mean_cdf(constants, belief, math.exp(v))
        if upper:
            return log_level - math.log(max(1.0 - below, 1e-17))
        return math.log(max(below, 1e-300)) - log_level

    @kernel
    def mean_quantile(constants, belief, level, upper):
        if level <= 0.0 or level >= 1.0:
            return math.inf if (level >= 1.0) != upper else 0.0
        log_level = math.log(level)
        expected = min(max(expected_reward(constants, belief), 1e-300), 1e300)
        low, high = -_FAR, _FAR
        below, above = 0.0, 0.0  # the excess at both ends, once they are known
        v, step, side = math.log(expected), 0.5, 0
        for _ in range(_STEPS):
            value = excess(constants, belief, v, log_level, upper)
            if value == 0.0:
                return math.exp(v)
            if value > 0.0:
                below *= 0.5 if side > 0 else 1.0
                high, above, side = v, value, 1
            else:
                above *= 0.5 if side < 0 else 1.0
                low, below, side = v, value, -1
            if below == 0.0 or above == 0.0:
                if abs(v) >= _FAR:
                    return math.inf if v > 0.0 else 0.0
                v = min(max(v - side * step, -_FAR), _FAR)
                step *= 2.0
                continue
            if high - low <= _CLOSE * max(1.0, abs(v)):
                break
            v = (low * above - high * below) / (above - below)
            if not low < v < high:
                v = 0.5 * (low + high)
        return math.exp(0.5 * (low + high))

    return mean_quantile
