"""Log-gamma and its derivatives: ours, so that compiled and interpreted code agree to the last bit.

Arguments below 8 are lifted by 8 with one division (the product x(x+1)…(x+7) is a quartic in y = x²
+ 7x), then Stirling's series is exact to 1e-14. An *excess* is what a convex function has over its
tangent, without cancellation: for distributions that are close.
"""

from __future__ import annotations

import math

from belman.engine import kernel

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
#: Arguments below this are lifted by it before Stirling's series.
LIFT = 8.0
#: Of Stirling's series.
_DENOMINATORS = 12.0, -360.0, 1260.0, -1680.0, 1188.0, -360360 / 691, 156.0, -122400 / 3617


@kernel
def _lift_product(x):
    """x(x+1)…(x+7) and its logarithmic derivative over dy, with y = x² + 7x."""
    y = x * (x + 7.0)
    product = (((y + 28.0) * y + 252.0) * y + 720.0) * y
    slope = ((4.0 * y + 84.0) * y + 504.0) * y + 720.0
    return y, product, slope / product


@kernel
def _stirling_series(z):
    """ln Γ(z) − (z − ½) ln z + z − ½ ln 2π for z ≥ 8."""
    r = 1.0 / z
    q = r * r
    tail = q * (1.0 / 1188.0 + q * (-691.0 / 360360.0 + q / 156.0))
    return r * (1.0 / 12.0 + q * (-1.0 / 360.0 + q * (1.0 / 1260.0 + q * (-1.0 / 1680.0 + tail))))


@kernel
def stirling(x):
    """Stirling's remainder w(x) = ln Γ(x) − (x − ½) ln x + x − ½ ln 2π, for every x > 0."""
    if x >= LIFT:
        return _stirling_series(x)
    return log_gamma(x) - (x - 0.5) * math.log(x) + x - HALF_LOG_TWO_PI


@kernel
def log_gamma(x):
    """ln Γ(x) for x > 0."""
    if x >= LIFT:
        return (x - 0.5) * math.log(x) - x + HALF_LOG_TWO_PI + _stirling_series(x)
    z = x + LIFT
    _, product, _ = _lift_product(x)
    return (z - 0.5) * math.log(z) - z + HALF_LOG_TWO_PI + _stirling_series(z) - math.log(product)


@kernel
def log_beta(a, b):
    """ln B(a, b) without the cancellation of three log-gammas."""
    c = a + b
    small, large = min(a, b), max(a, b)
    shape = (
        (small - 0.5) * math.log(small / c)
        - large * math.log1p(small / large)
        - 0.5 * math.log(large)
    )
    return shape + HALF_LOG_TWO_PI + stirling(a) + stirling(b) - stirling(c)


@kernel
def _digamma_tail(q):
    """(½/z + ln z − ψ(z)) as a series in q = 1/z²."""
    high = q * (1.0 / 132.0 + q * (-691.0 / 32760.0 + q / 12.0))
    return q * (1.0 / 12.0 + q * (-1.0 / 120.0 + q * (1.0 / 252.0 + q * (-1.0 / 240.0 + high))))


@kernel
def _trigamma_tail(q):
    """(ψ′(z) − 1/z − ½/z²)·z³ as a series in q = 1/z²."""
    high = q * (5.0 / 66.0 + q * (-691.0 / 2730.0 + q * 7.0 / 6.0))
    return 1.0 / 6.0 + q * (-1.0 / 30.0 + q * (1.0 / 42.0 + q * (-1.0 / 30.0 + high)))


@kernel
def digamma_gap_trigamma(x):
    """ln x − ψ(x), exact for large x (1/(2x), without a logarithm), and ψ′(x)."""
    lift = 0.0
    lift_slope = 0.0
    z = x
    if x < LIFT:
        y, product, ratio = _lift_product(x)
        width = 2.0 * x + 7.0
        bend = (12.0 * y + 168.0) * y + 504.0
        z = x + LIFT
        lift = width * ratio + math.log(x / z)
        lift_slope = width * width * (ratio * ratio - bend / product) - 2.0 * ratio
    r = 1.0 / z
    q = r * r
    return lift + 0.5 * r + _digamma_tail(q), r + 0.5 * q + r * q * _trigamma_tail(q) + lift_slope


@kernel
def digamma_gap(x):
    """ln x − ψ(x) > 0 for x > 0."""
    return digamma_gap_trigamma(x)[0]


@kernel
def digamma(x):
    """ψ(x), the derivative of ln Γ, for x > 0."""
    return math.log(x) - digamma_gap_trigamma(x)[0]


@kernel
def trigamma(x):
    """ψ′(x), the second derivative of ln Γ, for x > 0."""
    return digamma_gap_trigamma(x)[1]


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
