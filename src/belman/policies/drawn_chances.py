"""Chances of policies that play the largest of independent draws whose laws are known.

P(a) = ∫ Π_{b≠a} F_b dF_a, summed over the cells of a mesh on which every F is nearly straight. A
point of positive chance is a cell as well: ties drawn uniformly are draws within it.
"""

from __future__ import annotations

import numpy as np

from belman.policies.policy import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def chances_of_largest(levels: Floats) -> Floats:
    """The chance of each draw (a row: F at rising points) to be the largest.

    >>> chances_of_largest(np.array([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]])).tolist()
    [0.5, 0.5]
    """
    rises = np.diff(levels, axis=1)
    chances = np.zeros(len(levels))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        inside = levels[:, :-1] + 0.5 * (1.0 + node) * rises
        ahead = np.cumprod(np.vstack([np.ones_like(inside[:1]), inside[:-1]]), axis=0)
        behind = np.cumprod(np.vstack([np.ones_like(inside[:1]), inside[:0:-1]]), axis=0)[::-1]
        chances += 0.5 * weight * (rises * ahead * behind).sum(axis=1)
    total = chances.sum()
    return chances / total if total > 0.0 else np.full(len(levels), 1.0 / len(levels))
