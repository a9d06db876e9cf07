"""What families search for where no formula gives it.

The mean that explains two arms best, argmin_x w d(μ, x) + v d(μ′, x): "no difference". Where d is a
Bregman divergence of the means it is their weighted mean. And the quantiles of a positive mean
whose distribution function is an integral: a search in ln x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from belman.engine import factory, kernel

Kernel = Callable[..., Any]

_GOLDEN, _SECTIONS = 0.6180339887498949, 80
_FAR = 705.0  # eᵛ is a number up to here
_STEPS = 200
_CLOSE = 3e-14


@kernel
def weighted_mean(constants, weight, mean, spread, other_weight, other, other_spread):
    """(wμ + vμ′)/(w + v), written so that it lies between the two."""
    return mean + (other - mean) * (other_weight / (weight + other_weight))


@factory
def searched(d: Kernel) -> Kernel:
    """The common mean by golden section: the divergence falls, then rises between the means."""

    @kernel
    def at(constants, weight, mean, spread, other_weight, other, other_spread, x):
        return weight * d(constants, mean, x, spread) + other_weight * d(
            constants, other, x, other_spread
        )

    @kernel
    def common_mean(constants, weight, mean, spread, other_weight, other, other_spread):
        low, high = min(mean, other), max(mean, other)
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left = at(constants, weight, mean, spread, other_weight, other, other_spread, left)
        at_right = at(constants, weight, mean, spread, other_weight, other, other_spread, right)
        for _ in range(_SECTIONS):
            if at_left <= at_right:
                high, right, at_right = right, left, at_left
                left = high - _GOLDEN * (high - low)
                at_left = at(
                    constants, weight, mean, spread, other_weight, other, other_spread, left
                )
            else:
                low, left, at_left = left, right, at_right
                right = low + _GOLDEN * (high - low)
                at_right = at(
                    constants, weight, mean, spread, other_weight, other, other_spread, right
                )
        return 0.5 * (low + high)

    return common_mean


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
