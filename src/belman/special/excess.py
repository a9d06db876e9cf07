"""What a convex function has over its tangent, without cancellation: for laws that are close."""

from __future__ import annotations

import math

from belman.engine import kernel
from belman.special.gamma_functions import LIFT

# of Stirling's series
_DENOMINATORS = 12.0, -360.0, 1260.0, -1680.0, 1188.0, -360360 / 691, 156.0, -122400 / 3617


@kernel
def log_power(k, x):
    """ln xᵏ = k ln x for x ≥ 0, with 0⁰ = 1."""
    if x > 0.0:
        return k * math.log(x)
    return 0.0 if k == 0.0 else -k * math.inf


@kernel
def log_ratio(x, y):
    """ln(x/y) of positive numbers, with all digits where they are close."""
    change = (x - y) / y
    return math.log1p(change) if change > -1.0 else math.log(x) - math.log(y)


@kernel
def log_excess(r, e):
    """r − 1 − ln r ≥ 0, where e = r − 1 is known without cancellation; ∞ at r = 0."""
    if e < -0.3 or e > 0.4:
        return e - math.log(r) if r > 0.0 else math.inf
    s = e / (2.0 + e)
    y = s * s
    series = 0.0
    for k in range(12, 0, -1):
        series = series * y + 1.0 / (2.0 * k + 1.0)
    return s * e - 2.0 * s * y * series


@kernel
def entropy_excess(r, e):
    """r ln r − r + 1 ≥ 0, where e = r − 1 is known without cancellation; 1 at r = 0."""
    if e < -0.3 or e > 0.4:
        return r * math.log(r) - e if r > 0.0 else 1.0
    return e * e - r * log_excess(r, e)


@kernel
def ratio_excess(new, old, step):
    """r − 1 − ln r ≥ 0 for the ratio r = new/old, where step = new − old does not cancel."""
    return log_excess(new / old, step / old)


@kernel
def stirling_excess(new, old, step):
    """w(new) − w(old) − step·w′(old) ≥ 0 for Stirling's w = Σ cₖ/xᵏ (k odd), arguments from 8 up.

    With e = step/old and v = old/new every power gives cₖ/oldᵏ times gₖ = vᵏ − 1 + ke, and g₁ =
    ve², gₖ₊₁ = v(gₖ + (k + 1)e²): nothing cancels.
    """
    e = step / old
    v = old / new
    square = e * e
    g = v * square
    power = 1.0 / old
    total = 0.0
    for k in range(len(_DENOMINATORS)):
        total += power * g / _DENOMINATORS[k]
        order = 2.0 * k + 2.0
        g = v * (v * (g + order * square) + (order + 1.0) * square)
        power /= old * old
    return total


@kernel
def lift_excess(new, old, step, count):
    """Σ ratio_excess(new + k, old + k, step), k < count: a divergence's part of lifting both."""
    total = 0.0
    for k in range(count):
        total += log_excess((new + k) / (old + k), step / (old + k))
    return total


@kernel
def lift_count(x):
    """How far an argument is lifted before Stirling's series: 8 below 8, else not at all."""
    return 8 if x < LIFT else 0
