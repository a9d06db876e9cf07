"""The scale of a number: the mean and the standard deviation of the values seen up to the last
power of two of them, or up to the last value that made the deviation much larger than the one in
use.

Numbers lie in rows of an array, which kernels count and standardise together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.assignment.contexts import FURTHEST, FURTHEST_SQUARE
from belman.deciders.featured.waves import swing
from belman.engine import kernel

Floats = NDArray[np.float64]

_GROWN = 2.0  # times the variance in use, beyond which it is renewed
_MANY = 100  # values after which none counts as further than 2√n deviations: it may be a slip
#: What a row holds, by place.
SEEN, MEAN, SQUARES, CENTRE, SPREAD = range(5)


class Moments(NamedTuple):
    """The values of a number so far, and the scale in use: its centre and spread, 0 before any."""

    seen: float
    mean: float
    squares: float
    centre: float
    spread: float


@kernel
def logarithm(value):
    """Return ln(1 + x), and its mirror image below 0."""
    return math.copysign(math.log1p(abs(value)), value)


@kernel
def renew(row):
    """Use the scale of the values so far."""
    spread = math.sqrt(row[SQUARES] / (row[SEEN] - 1.0)) if row[SEEN] > 1.0 else 0.0
    if spread > 1e-12 * abs(row[MEAN]):  # with one value all along the scale stays
        row[SPREAD] = spread
    row[CENTRE] = row[MEAN]


@kernel
def add(row, value):
    """Count a value, and return whether the scale in use was renewed.

    No value is cut before `_MANY`: a scale that is renewed whenever the variance has doubled has
    none of up to 100 values beyond 10 deviations.
    """
    row[SEEN] += 1.0
    count = row[SEEN]
    if count > _MANY and row[SPREAD] > 0.0:
        furthest = 2.0 * math.sqrt(count) * row[SPREAD]
        value = min(max(value, row[CENTRE] - furthest), row[CENTRE] + furthest)
    apart = value - row[MEAN]
    row[MEAN] += apart / count
    row[SQUARES] += apart * (value - row[MEAN])
    grown = row[SQUARES] > _GROWN * row[SPREAD] * row[SPREAD] * (count - 1.0)
    if int(count) & (int(count) - 1) != 0 and not grown:
        return False
    renew(row)
    return True


@kernel
def count_all(values, rows, logs, before, log_before):
    """Count a value of each number, NaN for none, and its logarithm where these count; return how
    many scales were renewed. Centre and spread as they were are in `before` (n, 2), NaN where they
    still are.
    """
    renewed = 0
    for i in range(values.size):
        before[i, 0] = np.nan
        if values[i] == values[i]:
            centre, spread = rows[i, CENTRE], rows[i, SPREAD]
            if add(rows[i], values[i]):
                before[i, 0], before[i, 1] = centre, spread
                renewed += 1
    for i in range(len(logs)):
        log_before[i, 0] = np.nan
        if values[i] == values[i]:
            centre, spread = logs[i, CENTRE], logs[i, SPREAD]
            if add(logs[i], logarithm(values[i])):
                log_before[i, 0], log_before[i, 1] = centre, spread
                renewed += 1
    return renewed


@kernel
def standardised(row, value):
    """The value in use."""
    if row[SPREAD] == 0.0:
        return 0.0
    return min(max((value - row[CENTRE]) / row[SPREAD], -FURTHEST), FURTHEST)


@kernel
def fill_all(values, rows, logs, positions, waves, out):
    """Fill in numbers, NaN for none, each with its square and its logarithm where these count, and
    waves; return how many numbers there are.
    """
    count = 0
    for position in range(out.size):
        out[position] = 0.0
    for i in range(values.size):
        if values[i] == values[i]:
            count += 1
            score = standardised(rows[i], values[i])
            out[positions[i]] = score
            if len(logs) > 0 and rows[i, SPREAD] > 0.0:
                near = min(abs(score), FURTHEST_SQUARE)
                out[positions[i] + 1] = (near * near - 1.0) * math.sqrt(0.5)
                out[positions[i] + 2] = standardised(logs[i], logarithm(values[i]))
    swing(waves, values, out)
    return count
