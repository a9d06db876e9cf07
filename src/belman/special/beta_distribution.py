"""Beta and Student distributions, their chances and quantiles: SciPy's in the middle, ours in the
tails.

Far from the middle F is the density times a continued fraction of a few dozen terms, so ln F and
its slope are known even where F underflows; and ln F is concave in the logit of x, so Newton from
anywhere lands below the root and climbs to it. Ours is what has a chance under 1e-12, where SciPy
1.17 can be NaN, 0 or stuck at 1.4e-17; its quantiles at large parameters are polished. SciPy also
trips over some whole numbers (a smaller parameter of 1,000, or under 40 beside a large one: 2e-8
off, or garbage) and over (½, ½), so there it is asked one ulp beside them.

Quantiles are within 1e-12 of the true ones, relative, for parameters from 1e-3 to 1e9, wherever
they do not underflow. Distribution functions are within 1e-12, relative, or within the effect of
one rounding of x, x f(x)·2e-16, if that is more.
"""

from __future__ import annotations

import math

from belman.engine import External, kernel
from belman.special.gamma_functions import HALF_LOG_TWO_PI, log_beta, log_excess, stirling

_student_cdf = External("stdtr", "__pyx_fuse_0stdtr", 2)
_student_quantile = External("stdtrit", "__pyx_fuse_0stdtrit", 2)
_beta_cdf = External("betainc", "__pyx_fuse_0betainc", 3)
_beta_survival = External("betaincc", "__pyx_fuse_0betaincc", 3)
_beta_quantile = External("betaincinv", "__pyx_fuse_0betaincinv", 3)
_beta_upper_quantile = External("betainccinv", "__pyx_fuse_0betainccinv", 3)

_DEEP = 1e-12  # chances below this are ours
_LARGE = 1e4  # parameters from which a quantile is polished
_MANY = 1e3  # parameters from which SciPy is asked beside whole numbers
_BESIDE = 1.0 + 2.0**-52
_TINY = 1e-290
_HUGE = 1e150  # x² of Student's distribution overflows soon after
_FLOOR = -700.0  # under this logit x underflows, and ln F is a straight line
_TERMS = 40
_STEPS = 100


@kernel
def _beta_front(a, b, x, y):
    """ln(xᵃ yᵇ / B(a, b)) for y = 1 − x, without the cancellation of large terms."""
    c = a + b
    lead = b * x - a * y
    peak = 0.5 * math.log(a / c * b) - HALF_LOG_TWO_PI - stirling(a) - stirling(b) + stirling(c)
    return peak - a * log_excess(x / a * c, lead / a) - b * log_excess(y / b * c, -lead / b)


@kernel
def _beta_tail(a, b, x, y):
    """ln I_x(a, b) and its slope in logit x, well below the mean (DiDonato, Morris' fraction)."""
    below = a * y - b * x
    slope = 0.0
    for m in range(_TERMS, 0, -1):
        odd = a + 2.0 * m - 1.0
        top = (a + m - 1.0) / odd * ((a + b + m - 1.0) / odd) * m * (b - m) * x * x
        slope = top / (
            m
            + m * (b - m) * x / odd
            + (a + m) * (below + 1.0 + m * (2.0 - x)) / (odd + 2.0)
            + slope
        )
    slope += a * (below + 1.0) / (a + 1.0)
    return _beta_front(a, b, x, y) - math.log(slope), slope


@kernel
def _beta_deep(a, b, level):
    """The logit of the Beta quantile at a small level."""
    logit = math.log(a / b) - 4.0 * math.sqrt(1.0 / a + 1.0 / b)
    for _ in range(_STEPS):
        start = min(max(logit, _FLOOR), -_FLOOR)
        x, rest = 1.0 / (1.0 + math.exp(-start)), 1.0 / (1.0 + math.exp(start))
        log_cdf, slope = _beta_tail(a, b, x, rest)
        step = (math.log(level) - log_cdf) / slope
        logit = start + step
        if not abs(step) > 1e-10 or (start == _FLOOR and step < 0.0):
            break
    return min(logit, -_FLOOR)


@kernel
def _beside(a, b):
    return _BESIDE if a + b > _MANY or a + b == 1.0 else 1.0


@kernel
def beta_cdf(a, b, x):
    """I_x(a, b), the chance below x under Beta(a, b)."""
    beside = _beside(a, b)
    chance = _beta_cdf(beside * a, beside * b, x)
    return math.exp(_beta_tail(a, b, x, 1.0 - x)[0]) if chance < _DEEP and 0.0 < x < 1.0 else chance


@kernel
def beta_survival(a, b, x):
    """1 − I_x(a, b), the chance above x under Beta(a, b)."""
    beside = _beside(a, b)
    chance = _beta_survival(beside * a, beside * b, x)
    return math.exp(_beta_tail(b, a, 1.0 - x, x)[0]) if chance < _DEEP and 0.0 < x < 1.0 else chance


@kernel
def _beta_lower(a, b, level):
    """The Beta quantile at a level of at most ½."""
    if 0.0 < level < _DEEP:
        odds = math.exp(_beta_deep(a, b, level))
        return odds / (1.0 + odds)
    beside = _beside(a, b)
    x = _beta_quantile(beside * a, beside * b, level)
    if max(a, b) > _LARGE and _TINY < x < 1.0:
        x -= x * (1.0 - x) * (beta_cdf(a, b, x) - level) * math.exp(-_beta_front(a, b, x, 1.0 - x))
    return x


@kernel
def _beta_upper(a, b, level):
    """The Beta quantile with that chance, at most ½, above it."""
    if 0.0 < level < _DEEP:
        return 1.0 / (1.0 + math.exp(_beta_deep(b, a, level)))
    beside = _beside(a, b)
    x = _beta_upper_quantile(beside * a, beside * b, level)
    if max(a, b) > _LARGE and _TINY < x < 1.0:
        x += (
            x
            * (1.0 - x)
            * (beta_survival(a, b, x) - level)
            * math.exp(-_beta_front(a, b, x, 1.0 - x))
        )
    return x


@kernel
def beta_quantile(a, b, level):
    """The x with chance `level` below it under Beta(a, b)."""
    return _beta_upper(a, b, 1.0 - level) if level > 0.5 else _beta_lower(a, b, level)


@kernel
def beta_upper_quantile(a, b, level):
    """The x with chance `level` above it under Beta(a, b)."""
    return _beta_lower(a, b, 1.0 - level) if level > 0.5 else _beta_upper(a, b, level)


@kernel
def _student_tail(freedom, level):
    """ν/(ν + X²) is Beta(ν/2, ½)."""
    root = math.exp(0.5 * _beta_deep(0.5 * freedom, 0.5, 2.0 * level))
    return -math.sqrt(freedom) / root if root > 0.0 else -math.inf


@kernel
def student_quantile(freedom, level):
    """The x with chance `level` below it under Student's distribution."""
    x = _student_quantile(freedom, level)
    if 0.0 < level < _DEEP or x < -_HUGE:
        return _student_tail(freedom, level)
    return -_student_tail(freedom, 1.0 - level) if _HUGE < x < math.inf else x


@kernel
def student_cdf(freedom, x):
    """The chance below x under Student's distribution; where x² overflows, the tail's leading
    term.
    """
    if abs(x) < _HUGE:
        return _student_cdf(freedom, x)
    half = 0.5 * freedom
    log_tail = (
        half * (math.log(freedom) - 2.0 * math.log(abs(x)))
        - log_beta(half, 0.5)
        - math.log(freedom)
    )
    return math.exp(log_tail) if x < 0.0 else -math.expm1(log_tail)
