"""The mean that explains two arms best, argmin_x w d(μ, x) + v d(μ′, x): "no difference".

Where d is a Bregman divergence of the means it is their weighted mean; other families bring a
kernel of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from belman.engine import factory, kernel

_GOLDEN = 0.6180339887498949
_STEPS = 80


@kernel
def weighted_mean(constants, weight, mean, spread, other_weight, other, other_spread):
    """(wμ + vμ′)/(w + v), written so that it lies between the two."""
    return mean + (other - mean) * (other_weight / (weight + other_weight))


@factory
def searched(d: Callable[..., float]) -> Callable[..., float]:
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
        for _ in range(_STEPS):
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
