"""Gamma and Normal distributions: SciPy's except for two tails (density times continued fraction).

Ours are the lower tail of shapes over 1e5, where SciPy 1.17 stops its series after 2,000 terms (P
is 74 % off at a shape of 1e9, the quantile 7e-6), and chances above x under 1e-12, where it loses
digits of the density. Accuracy: see `beta_distribution`.
"""

from __future__ import annotations

import math

from belman.engine import External, kernel
from belman.special.gamma_functions import HALF_LOG_TWO_PI, log_excess, stirling

normal_cdf = External("ndtr", "__pyx_fuse_1ndtr", 1)
normal_quantile = External("ndtri", "ndtri", 1)
_gamma_cdf = External("gammainc", "gammainc", 2)
_gamma_survival = External("gammaincc", "gammaincc", 2)
_gamma_quantile = External("gammaincinv", "gammaincinv", 2)
_gamma_upper_quantile = External("gammainccinv", "gammainccinv", 2)

_LARGE, _LOW = 1e5, 1e-5  # shapes and levels of the lower tail that is ours
_DEEP = 1e-12  # chances above x that are ours
_TERMS = 40
_STEPS = 100


@kernel
def _gamma_front(a, x):
    """ln(xᵃ e⁻ˣ / Γ(a)) without the cancellation of large terms."""
    return 0.5 * math.log(a) - HALF_LOG_TWO_PI - stirling(a) - a * log_excess(x / a, (x - a) / a)


@kernel
def _gamma_tail(a, x):
    """ln P(a, x) and its derivative in ln x, for x well below a."""
    slope = a + _TERMS - x
    for k in range(_TERMS, 0, -1):
        slope = a + (k - 1.0) - x + k * x / slope
    return _gamma_front(a, x) - math.log(slope), slope


@kernel
def _gamma_upper_tail(a, x):
    """Q(a, x) for x well above a (Legendre's continued fraction)."""
    slope = x - a + (2.0 * _TERMS + 1.0)
    for k in range(_TERMS, 0, -1):
        slope = x - a + (2.0 * k - 1.0) + k * (a - k) / slope
    return math.exp(_gamma_front(a, x) - math.log(slope))


@kernel
def gamma_cdf(a, x):
    """P(a, x), the chance below x under Gamma(a, 1)."""
    if a > _LARGE and 0.0 < x < a - 4.0 * math.sqrt(a):
        return math.exp(_gamma_tail(a, x)[0])
    return _gamma_cdf(a, x)


@kernel
def gamma_survival(a, x):
    """Q(a, x) = 1 − P(a, x)."""
    if a > _LARGE and 0.0 < x < a - 4.0 * math.sqrt(a):
        return -math.expm1(_gamma_tail(a, x)[0])
    chance = _gamma_survival(a, x)
    return _gamma_upper_tail(a, x) if chance < _DEEP and a < x < math.inf else chance


@kernel
def _gamma_low(a, level):
    """The Gamma quantile at a small level, for a large shape."""
    x = a - 4.0 * math.sqrt(a)
    for _ in range(_STEPS):
        log_cdf, slope = _gamma_tail(a, x)
        step = (math.log(level) - log_cdf) / slope
        x *= math.exp(step)
        if not abs(step) > 1e-10:
            break
    return x


@kernel
def gamma_quantile(a, level):
    """The x with chance `level` below it under Gamma(a, 1)."""
    return _gamma_low(a, level) if a > _LARGE and 0.0 < level < _LOW else _gamma_quantile(a, level)


@kernel
def gamma_upper_quantile(a, level):
    """The x with chance `level` above it under Gamma(a, 1)."""
    if a > _LARGE and 0.0 < 1.0 - level < _LOW:
        return _gamma_low(a, 1.0 - level)
    return _gamma_upper_quantile(a, level)
