"""The logarithm in plain arithmetic, so that compiled loops take it of several numbers at a time,
and compiled and interpreted code agree to the last bit.

A number is 2^k m with m between √½ and √2, and ln m = 2 artanh s with s = (m − 1)/(m + 1), |s| ≤
0.172: the series in s² is exact to 1e-17 after ten terms. The exponent is read off the bits.
"""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel

_BITS = np.uint64(52)  # of the fraction, below those of the exponent
_ONE = np.uint64(1023)  # the exponent of 1
#: The bits of 1 less those of √½: added, they carry into the exponent from √2 on.
_CARRY = np.uint64(int(np.float64(1.0).view(np.uint64)) - int(np.float64(0.5**0.5).view(np.uint64)))
#: The bits of 2^52, whose last ones count in units, and its value with the exponent of 1.
_UNITS, _UNITS_FROM = np.float64(2.0**52).view(np.uint64), 2.0**52 + 1023.0
_LN2 = math.log(2.0)
_C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9 = (1.0 / (2 * n + 1) for n in range(1, 10))


@kernel
def log_from_one(x):
    """ln x of a finite x ≥ 1, by arithmetic alone.

    >>> round(float(log_from_one(10.0)), 12)
    2.302585092994
    """
    bits = np.float64(x).view(np.uint64)
    exponent = np.uint64((bits + _CARRY) >> _BITS)
    k = np.uint64(exponent | _UNITS).view(np.float64) - _UNITS_FROM
    m = np.uint64(bits - ((exponent - _ONE) << _BITS)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    w = s * s
    series = w * (_C5 + w * (_C6 + w * (_C7 + w * (_C8 + w * _C9))))
    series = w * (_C1 + w * (_C2 + w * (_C3 + w * (_C4 + series))))
    return k * _LN2 + 2.0 * s * (1.0 + series)
