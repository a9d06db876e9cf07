"""Special functions for compiled code.

Log-gamma and its derivatives are ours, so that compiled and interpreted code agree to the last bit and one evaluation
serves two of them: arguments below 8 are lifted by 8 with one division (the product x(x+1)…(x+7) is a quartic in
y = x² + 7x), then Stirling's series is exact to 1e-14. Distribution functions and quantiles are SciPy's own.
"""

from __future__ import annotations

import math

from scipy import special as scipy_special
from scipy.special import cython_special

from belman.compile import external, kernel

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_LIFT = 8.0

beta_cdf = external(cython_special, "__pyx_fuse_0betainc", scipy_special.betainc, 3)
beta_survival = external(cython_special, "__pyx_fuse_0betaincc", scipy_special.betaincc, 3)
beta_quantile = external(cython_special, "__pyx_fuse_0betaincinv", scipy_special.betaincinv, 3)
beta_upper_quantile = external(cython_special, "__pyx_fuse_0betainccinv", scipy_special.betainccinv, 3)
gamma_cdf = external(cython_special, "gammainc", scipy_special.gammainc, 2)
gamma_survival = external(cython_special, "gammaincc", scipy_special.gammaincc, 2)
gamma_quantile = external(cython_special, "gammaincinv", scipy_special.gammaincinv, 2)
gamma_upper_quantile = external(cython_special, "gammainccinv", scipy_special.gammainccinv, 2)
normal_cdf = external(cython_special, "__pyx_fuse_1ndtr", scipy_special.ndtr, 1)
normal_quantile = external(cython_special, "ndtri", scipy_special.ndtri, 1)
student_cdf = external(cython_special, "__pyx_fuse_0stdtr", scipy_special.stdtr, 2)
student_quantile = external(cython_special, "__pyx_fuse_0stdtrit", scipy_special.stdtrit, 2)


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
    if x >= _LIFT:
        return _stirling_series(x)
    return log_gamma(x) - (x - 0.5) * math.log(x) + x - _HALF_LOG_TWO_PI


@kernel
def log_gamma(x):
    """ln Γ(x) for x > 0."""
    if x >= _LIFT:
        return (x - 0.5) * math.log(x) - x + _HALF_LOG_TWO_PI + _stirling_series(x)
    z = x + _LIFT
    _, product, _ = _lift_product(x)
    return (z - 0.5) * math.log(z) - z + _HALF_LOG_TWO_PI + _stirling_series(z) - math.log(product)


@kernel
def log_beta(a, b):
    """ln B(a, b) without the cancellation of three log-gammas."""
    c = a + b
    small, large = min(a, b), max(a, b)
    shape = (small - 0.5) * math.log(small / c) - large * math.log1p(small / large) - 0.5 * math.log(large)
    return shape + _HALF_LOG_TWO_PI + stirling(a) + stirling(b) - stirling(c)


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
    """ln x − ψ(x) and ψ′(x): the difference is exact for large x, where it is 1/(2x), and costs no logarithm there."""
    lift = 0.0
    lift_slope = 0.0
    z = x
    if x < _LIFT:
        y, product, ratio = _lift_product(x)
        width = 2.0 * x + 7.0
        bend = (12.0 * y + 168.0) * y + 504.0
        z = x + _LIFT
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
def log_excess(r, e):
    """r − 1 − ln r ≥ 0, where e = r − 1 is known without cancellation."""
    if e < -0.3 or e > 0.4:
        return e - math.log(r)
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
    """r − 1 − ln r ≥ 0 for the ratio r = new/old, where step = new − old is known without cancellation."""
    return log_excess(new / old, step / old)


@kernel
def stirling_excess(new, old, step):
    """w(new) − w(old) − step·w′(old) ≥ 0 for Stirling's remainder w, both arguments at least 8."""
    r = 1.0 / old
    q = r * r
    if abs(step) * r < 1e-3:  # Taylor, where the difference would cancel
        second = r * q * _trigamma_tail(q)
        third = -q * q * (0.5 + q * (-1.0 / 6.0 + q * (1.0 / 6.0 + q * (-0.3 + q / 1.2))))
        fourth = q * q * r * (2.0 - q)
        return step * step * (0.5 * second + step * (third / 6.0 + step * fourth / 24.0))
    return _stirling_series(new) - _stirling_series(old) + step * _digamma_tail(q)


@kernel
def lift_excess(new, old, step, count):
    """The sum of ratio_excess(new + k, old + k, step) for k < count: what lifting both by `count` takes out of a divergence."""
    total = 0.0
    for k in range(count):
        total += log_excess((new + k) / (old + k), step / (old + k))
    return total


@kernel
def lift_count(x):
    """How far an argument is lifted before Stirling's series: 8 below 8, else not at all."""
    return 8 if x < _LIFT else 0
