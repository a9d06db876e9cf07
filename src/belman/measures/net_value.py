"""The probability that each arm is worth most when each has a price.

Of an arm a with expected reward μ_a and price c_a it is P(μ_a − c_a ≥ μ_b − c_b for all b). The
distribution functions of all μ_a − c_a are taken at the quantiles of each of them, so that no arm
is too narrow for the mesh, and integrated as products of polynomials between two points of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.measures.lift import MeanDistributions, quantile_at_score
from belman.policies.thompson.thompson import chances_of_largest

Floats = NDArray[np.float64]

#: Normal scores of the quantiles: dense where most of the mass is.
_SCORES = np.concatenate([[-5.0, -4.0, -3.5], np.arange(-3.0, 3.01, 0.25), [3.5, 4.0, 5.0]])


@kernel
def _fill_quantiles(family, constants, beliefs, prices, scores, out):
    for a in range(len(beliefs)):
        for i in range(scores.size):
            result = quantile_at_score(family, constants, beliefs[a], 0.0, 1.0, scores[i])
            out[a, i] = result - prices[a]


@kernel
def _fill_levels(family, constants, beliefs, prices, points, low, high, out):
    """An arm's distribution function is 0 before its least quantile and 1 beyond its largest."""
    for a in range(len(beliefs)):
        for i in range(points.size):
            if points[i] <= low[a]:
                out[a, i] = 0.0
            elif points[i] >= high[a]:
                out[a, i] = 1.0
            else:
                out[a, i] = family.mean_cdf(constants, beliefs[a], points[i] + prices[a])


def worth_most(family: MeanDistributions, beliefs: Floats, prices: Floats) -> Floats:
    """Compute the probability that each arm's expected reward less its price is the largest.

    Parameters
    ----------
    family
        The family of the rewards.
    beliefs
        The belief about each arm, a row each (K × D).
    prices
        What one play of each arm costs, on the scale of the family.

    Returns
    -------
    ndarray
        K probabilities that add up to 1, accurate to about 1e-3.

    >>> from belman.families import Bernoulli
    >>> beliefs = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> worth_most(Bernoulli(), beliefs, np.zeros(2)).round(3).tolist()
    [0.833, 0.167]
    >>> worth_most(Bernoulli(), beliefs, np.array([1.0, 0.0])).round(3).tolist()
    [0.0, 1.0]
    """
    rows = np.ascontiguousarray(beliefs, dtype=np.float64)
    quantiles = np.empty((len(rows), _SCORES.size))
    given = {"beliefs": rows, "prices": np.asarray(prices, np.float64)}
    family.enter(_fill_quantiles, **given, scores=_SCORES, out=quantiles)
    chances = np.zeros(len(rows))
    low, high = quantiles[:, 0].copy(), quantiles[:, -1].copy()
    floor = low.max()
    contenders = np.flatnonzero(high > floor)
    if len(contenders) < 2:
        chances[int(np.argmax(quantiles[:, _SCORES.size // 2]))] = 1.0
        return chances
    inside = quantiles[contenders]
    points = np.unique(np.append(inside[inside > floor], floor))
    levels = np.empty((len(contenders), points.size))
    own = {name: column[contenders] for name, column in given.items()}
    ends = {"low": low[contenders], "high": high[contenders]}
    family.enter(_fill_levels, **own, **ends, points=points, out=levels)
    from_zero = np.hstack([np.zeros((len(levels), 1)), levels])
    chances[contenders] = chances_of_largest(from_zero)
    return chances
