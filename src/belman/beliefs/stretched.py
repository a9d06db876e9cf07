"""Nodes for integrals over a Gamma or a Beta distribution: the trapezium rule on a stretched line.

In ln θ, or in the log-odds of θ, the densities of these distributions have one hill at a distance w
= 0 and fall exponentially at worst. The line w(t) = l(1 − e⁻ᵗ) + r(eᵗ − 1) is fine at the hill and
reaches as far to either side as the density does, and sums over equal steps of t converge
geometrically. Weights are divided by their sum, so nothing needs a normaliser.
"""

from __future__ import annotations

import math

from belman.engine import kernel

STEP = 0.25
_DEEP = 40.0  # e⁻⁴⁰ is nothing
_LENGTH = 3.0
_STEPS = 60


@kernel
def gamma_fall(shape, w):
    """How far the log density of ln θ, θ ~ Gamma(shape), falls from the hill to a distance w."""
    return shape * (math.expm1(w) - w) if w < 700.0 else math.inf


@kernel
def beta_fall(a, b, w):
    """How far the log density of the log-odds of θ ~ Beta(a, b) falls from the hill to w."""
    c = a + b
    if w > 0.0:
        return b * w + c * math.log1p(b / c * math.expm1(-w))
    return c * math.log1p(a / c * math.expm1(w)) - a * w


@kernel
def _settled(depth, w):
    """The next distance to try, w where the density has fallen far enough and not much farther."""
    if depth < _DEEP:
        return 1.4 * w
    return 0.75 * w if depth > 2.5 * _DEEP else w


@kernel
def gamma_reach(shape, side):
    """How far the density of ln θ reaches to the left (side −1) or to the right (1)."""
    w = math.sqrt(2.0 * _DEEP / shape)
    w = w if side < 0.0 else math.log1p(w + _DEEP / shape)
    for _ in range(_STEPS):
        further = _settled(gamma_fall(shape, side * w), w)
        if further == w:
            break
        w = further
    return w


@kernel
def beta_reach(a, b, side):
    """How far the density of the log-odds reaches to the left (side −1) or to the right (1)."""
    w = math.sqrt(2.0 * _DEEP * (1.0 / a + 1.0 / b))
    for _ in range(_STEPS):
        further = _settled(beta_fall(a, b, side * w), w)
        if further == w:
            break
        w = further
    return w


@kernel
def half_length(left, right):
    """How far t goes to either side: the more, the less even the sides are."""
    return max(_LENGTH, math.log(max(left / right, right / left)) + 1.0)


@kernel
def position(left, right, length, t):
    """The distance w at t, and dw/dt."""
    shrink = math.exp(-length)
    rise, drop = math.exp(t), math.exp(-t)
    w = shrink * (left * (1.0 - drop) + right * (rise - 1.0))
    return w, shrink * (left * drop + right * rise)
