"""What not knowing F does to an interval.

A chance is θ ~ Beta(α, β) if F is as estimated. While no window has closed, what is told shows the
shape of F up to the age of the oldest ticket; how many successes come later is for the prior to
say, and then F is a Beta law of c pseudo-observations there, of mean m. Silent tickets count as
many failures as F says, so that the chance is θ·m/B, B ~ Beta(cm, c(1 − m)). In general, m is what
gives B/m the relative variance v that the counted failures have: 1/(1 + (c + 1)v).

The doubt is common to all arms: it moves what is expected of them, and hardly their order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman.delays.estimate import PRIOR, between
from belman.delays.silence import middle_age
from belman.engine import kernel

Floats = NDArray[np.float64]

_LEAST = 1e-9
_LOWEST, _HALVINGS = -50.0, 32  # the logarithm of the least chance that is told from 0
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


@kernel
def relative_doubt(counts, cdf, doubt, part, arm, worth):
    """The relative variance of what an arm worth so many rewards counts, from not knowing F.

    The doubt about F of one age is taken as that about all ages.
    """
    cells, head = counts.delays.size, counts.head[0]
    total = 0.0
    for d in range(cells):
        number = counts.silent[arm, (head - d) % cells]
        if number > 0:
            age = middle_age(d, cells, part)
            total += number * between(cdf, age) * math.sqrt(math.expm1(between(doubt, age)))
    return (total / worth) ** 2


def chance_below(beliefs: Floats, doubt: Floats, x: Floats) -> Floats:
    """How likely chances are at most x, for beliefs (α, β) under so much doubt about F."""
    return _below(beliefs, _factor(doubt), np.asarray(x)[..., None])


def intervals(beliefs: Floats, doubt: Floats, tail: float) -> tuple[Floats, Floats]:
    """The ends of intervals of chances, of beliefs (α, β) under so much doubt, `tail` beyond each.

    >>> [round(float(end), 4) for end in intervals(np.array([3.0, 96.0]), np.array(0.0), 0.025)]
    [0.0064, 0.0718]
    >>> [round(float(end), 4) for end in intervals(np.array([3.0, 96.0]), np.array(0.1), 0.025)]
    [0.006, 0.1177]
    """
    factor, ends = _factor(doubt), []
    for level in (tail, 1.0 - tail):
        low, high = np.full(factor.shape[:-1], _LOWEST), np.zeros(factor.shape[:-1])
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            less = _below(beliefs, factor, np.exp(middle)[..., None]) < level
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        ends.append(np.exp(high))
    return ends[0], ends[1]


def _factor(doubt: Floats) -> Floats:
    """B/m at the nodes of Gauss and Legendre on its quantiles."""
    from scipy.special import betaincinv  # a fifth of a second, for those who wait

    mean = 1.0 / (1.0 + (PRIOR + 1.0) * np.maximum(doubt, _LEAST)[..., None])
    return np.asarray(betaincinv(PRIOR * mean, PRIOR * (1.0 - mean), 0.5 + 0.5 * _PLACES) / mean)


def _below(beliefs: Floats, factor: Floats, x: Floats) -> Floats:
    from scipy.special import betainc

    won, lost = beliefs[..., 0, None], beliefs[..., 1, None]
    return np.asarray(betainc(won, lost, np.minimum(x * factor, 1.0)) @ (0.5 * _WEIGHTS))
