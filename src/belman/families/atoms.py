"""Distributions on [0, 1] as tables of atoms: what a reward is drawn from where it has no
distribution by name.

A row is (mean, λ, upper ends of chances, values): the value is drawn whose stretch of [0, 1] holds
the uniform. λ is of beliefs alone (`beliefs/moments.py`), and ½ here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.engine import kernel
from belman.errors import FamilyError

Floats = NDArray[np.float64]

#: The most atoms of a distribution, how many numbers make one, and into how many a smooth
#: distribution is cut.
ATOMS = 65
NUMBERS = 2 + 2 * ATOMS
PARTS = 64
_POINTS = 32  # at which a quantile function is read for one atom


@kernel
def value_at(theta, uniform):
    """The value at that quantile of a table."""
    position, step = 0, PARTS // 2
    while step > 0:  # by sums: a branch on luck would be foretold wrongly every other time
        position += step * int(uniform >= theta[1 + position + step])
        step //= 2
    position += int(uniform >= theta[2 + position])
    return theta[2 + ATOMS + position]


def table(values: ArrayLike, chances: ArrayLike) -> tuple[float, ...]:
    """The row of a distribution with these values, in [0, 1], and chances.

    >>> row = table([0.0, 1.0], [0.75, 0.25])
    >>> row[0], len(row)
    (0.25, 132)
    """
    positions = np.asarray(values, dtype=np.float64)
    shares = np.asarray(chances, dtype=np.float64)
    inside = ((positions >= 0.0) & (positions <= 1.0)).all() and (shares >= 0.0).all()
    fits = positions.ndim == 1 and positions.shape == shares.shape and 1 <= positions.size <= ATOMS
    if not fits or not inside or not abs(shares.sum() - 1.0) < 1e-9:
        allowed = f"1 to {ATOMS} values from 0 to 1 with chances that add up to 1"
        raise FamilyError(
            f"values={values!r}, chances={chances!r} are not a distribution: give {allowed}"
        )
    order = np.argsort(positions, kind="stable")
    shares = shares[order] / shares.sum()
    ends, result = np.ones(ATOMS), np.full(ATOMS, positions.max())
    ends[: positions.size - 1] = np.minimum(np.cumsum(shares)[:-1], 1.0)
    result[: positions.size] = positions[order]
    return (float(shares @ positions[order]), 0.5, *ends.tolist(), *result.tolist())


def variance(theta: Sequence[float]) -> float:
    """The variance of a distribution."""
    row = np.asarray(theta, dtype=np.float64)
    shares = np.diff(row[2 : 2 + ATOMS], prepend=0.0)
    return float(shares @ (row[2 + ATOMS :] - row[0]) ** 2)


def of_quantiles(quantile: Callable[[Floats], Floats]) -> tuple[float, ...]:
    """The distribution of that quantile function, cut into stretches of one chance, each at its
    mean.

    >>> round(of_quantiles(lambda level: level)[0], 12)  # the uniform constants
    0.5
    """
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    levels = (np.arange(PARTS)[:, None] + 0.5 * (nodes + 1.0)) / PARTS
    read = np.clip(quantile(levels), 0.0, 1.0)
    return table(np.maximum.accumulate(read @ (0.5 * weights)), np.full(PARTS, 1.0 / PARTS))


def beta(mean: float, concentration: float) -> tuple[float, ...]:
    """Beta(mean·k, (1 − mean)·k), k the concentration: the mean is kept to the last digits.

    >>> row = beta(0.3, 8.0)
    >>> round(row[0], 12), round(variance(row), 4)  # 0.3·0.7/9, less what atoms hide
    (0.3, 0.0233)
    """
    from scipy import special  # here, since it takes longer to import than all of the rest

    first, second = mean * concentration, (1.0 - mean) * concentration
    ends = special.betaincinv(first, second, np.arange(PARTS + 1) / PARTS)
    parts = np.diff(special.betainc(first + 1.0, second, ends)) * mean * PARTS
    return _with_mean(np.clip(np.maximum.accumulate(parts), 0.0, 1.0), mean)


def _with_mean(values: Floats, mean: float) -> tuple[float, ...]:
    """Of one chance each, moved towards an end by as little as it takes to have the mean."""
    result = float(values.mean())
    if result < mean:
        values = 1.0 - (1.0 - values) * ((1.0 - mean) / (1.0 - result))
    elif result > mean:
        values = values * (mean / result)
    return (float(mean), *table(values, np.full(values.size, 1.0 / values.size))[1:])
