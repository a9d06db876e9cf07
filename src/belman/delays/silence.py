"""What silence says: an open ticket of age s without a reward has likelihood 1 − pF(s).

As a function of p, its logarithm has the slope −g and the curvature −g² with g = F/(1 − pF). At the
expected chance p these are the slope and the curvature of F(1 − p)²/(1 − pF)² failures and of
−p²F(1 − F)/(1 − pF)² successes: none of a failure at F = 0, F of one as p → 0, one at F = 1. So
the belief stays Beta(α, β), right to second order where it lies. In slope alone it is a failure of
weight F(1 − p)/(1 − pF).

And what not knowing F does to an interval. A chance is θ ~ Beta(α, β) if F is as estimated. While
no window has closed, what is told shows the shape of F up to the age of the oldest ticket; how many
successes come later is for the prior to say, and then F is a Beta distribution of c
pseudo-observations there, of mean m. Silent tickets count as many failures as F says, so that the
chance is θ·m/B, B ~ Beta(cm, c(1 − m)). In general, m is what gives B/m the relative variance v
that the counted failures have: 1/(1 + (c + 1)v). The doubt is common to all arms: it moves what is
expected of them, and hardly their order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman.delays.counts import PRIOR, between
from belman.engine import kernel

Floats = NDArray[np.float64]

_STEPS = 100
_SAME = 1e-10
_LEAST = 1e-9
_LOWEST, _HALVINGS = -50.0, 32  # the logarithm of the least chance that is told from 0
_POSITIONS, _WEIGHTS = np.polynomial.legendre.leggauss(48)


@kernel
def share(p, known):
    """The successes (none, or less) and failures that an open silent ticket counts, if F is so."""
    rest = 1.0 - p * known
    miss = (1.0 - p) / rest
    return -p * p * known * (1.0 - known) / (rest * rest), known * miss * miss


@kernel
def middle_age(d, cells, part):
    """The middle of the ages, in cells, of tickets asked d cells ago, `part` of a cell into now."""
    return float(cells) if d == cells else (0.5 * part if d == 0 else d + part - 0.5)


@kernel
def count_silence(counts, cdf, part, arm, won, lost, out):
    """The successes and failures that the open tickets of an arm count, told ones included.

    `won` and `lost` are its belief's α and β without them; p is the expected chance with them.
    """
    cells, head = counts.delays.size, counts.head[0]
    won += counts.successes[arm]
    more, less = 0.0, 0.0
    p = won / (won + lost)
    for _ in range(_STEPS):
        less, more = 0.0, 0.0
        for d in range(cells + 1):
            number = counts.silent[arm, cells if d == cells else (head - d) % cells]
            if number > 0:
                known = between(cdf, middle_age(d, cells, part))
                success, failure = share(p, known)
                less += number * success
                more += number * failure
        less = max(less, -0.5 * won)
        moved = (won + less) / (won + less + lost + more)
        same = abs(moved - p) <= _SAME * moved
        p = moved
        if same:
            break
    out[0] = counts.successes[arm] + less
    out[1] = more


@kernel
def relative_doubt(counts, cdf, doubt, part, arm, worth):
    """The relative variance of what an arm worth this number of rewards counts, from not knowing F.

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
    """Compute how likely chances of success are at most x, where the distribution F of delays is in
    doubt.

    Parameters
    ----------
    beliefs
        α and β of each (… × 2).
    doubt
        The doubt about F of each, as `DelayDistribution.counts` gives it.
    x
        A chance for each.

    Returns
    -------
    array
        A probability for each.
    """
    return _below(beliefs, _factor(doubt), np.asarray(x)[..., None])


def intervals(beliefs: Floats, doubt: Floats, tail: float) -> tuple[Floats, Floats]:
    """Compute the ends of credible intervals of chances of success, where the distribution F of
    delays is in doubt.

    Parameters
    ----------
    beliefs
        α and β of each (… × 2).
    doubt
        The doubt about F of each, as `DelayDistribution.counts` gives it.
    tail
        The probability beyond each end.

    Returns
    -------
    tuple of arrays
        The lower ends, and the upper ends.

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
    return np.asarray(betaincinv(PRIOR * mean, PRIOR * (1.0 - mean), 0.5 + 0.5 * _POSITIONS) / mean)


def _below(beliefs: Floats, factor: Floats, x: Floats) -> Floats:
    from scipy.special import betainc

    won, lost = beliefs[..., 0, None], beliefs[..., 1, None]
    return np.asarray(betainc(won, lost, np.minimum(x * factor, 1.0)) @ (0.5 * _WEIGHTS))
