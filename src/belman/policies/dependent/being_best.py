"""With what chance an arm is the best of a draw of θ: an orthant of a normal distribution.

By Genz (1992): the differences to the other arms are taken one after another, the least likely
ones first, each given those before it. What is left is the mean of a smooth function over a cube,
here over 1,024 points of Richtmyer's lattice. Off by less than 0.002 in the tests.
"""

from __future__ import annotations

import math

import numpy as np

from belman.models.arrow import along
from belman.models.model import Belief, Floats, Model

#: The arms up to which a chance is worked out.
MOST_ARMS = 50
_POINTS = 1_024
_PRIMES = [n for n in range(2, 240) if all(n % d for d in range(2, int(math.sqrt(n)) + 1))]
_TINY = 1e-12


def chance_of_best(
    model: Model, belief: Belief, features: Floats, arm: int, inflation: float
) -> float:
    """Return the chance that an arm is the best of a draw with `inflation` times the standard
    deviation; NaN for too many arms. Arms with the same features share it.
    """
    if len(features) > MOST_ARMS:
        return math.nan
    apart = features[arm] - np.delete(features, arm, axis=0)
    differs = apart.any(axis=1)
    ties, apart = 1 + int((~differs).sum()), apart[differs]
    total = 0.0
    for b, share in enumerate(belief.share):
        root = inflation * (along(apart, belief.root[b], belief.begin))
        shape, rate = belief.noise[b]
        known = model.kernels.scale(model.constants, belief.noise[b])
        total += share * _orthant(apart @ belief.mean[b], root @ root.T, shape, rate, known)
    return total / ties


def _orthant(mean: Floats, wide: Floats, shape: float, rate: float, known: float) -> float:
    """The chance that all are above 0, with this mean and s times this covariance: s is known, or
    the inverse of a gamma-distributed number.
    """
    from scipy import special  # an agent that asks for no chances is imported without it

    order = np.argsort(mean / np.sqrt(np.maximum(np.diag(wide), _TINY)), kind="stable")
    mean, wide = mean[order], wide[np.ix_(order, order)]
    size = len(mean)
    steps = np.sqrt(np.array(_PRIMES[: size + 1], dtype=np.float64))
    # each coordinate goes up and down again, which makes the function periodic
    cube = np.abs(2.0 * (np.outer(np.arange(1, _POINTS + 1), steps) % 1.0) - 1.0)
    cube = np.clip(cube, 1e-15, 1.0 - 1e-15)
    scale = np.full(_POINTS, known)
    if shape > 0.0:
        scale = rate / special.gammaincinv(shape, cube[:, size])
    lower, drawn = np.zeros((size, size)), np.zeros((_POINTS, size))
    chance = np.ones(_POINTS)
    for i in range(size):
        for j in range(i):
            left = wide[i, j] - lower[i, :j] @ lower[j, :j]
            lower[i, j] = left / lower[j, j] if lower[j, j] > 0.0 else 0.0
        own = wide[i, i] - lower[i, :i] @ lower[i, :i]
        here = mean[i] / np.sqrt(scale) + drawn[:, :i] @ lower[i, :i]
        if own <= _TINY * wide[i, i]:  # it follows from those before it
            chance *= np.where(here == 0.0, 0.5, here > 0.0)
            continue
        lower[i, i] = math.sqrt(own)
        above = special.ndtr(here / lower[i, i])
        chance *= above
        drawn[:, i] = -special.ndtri(np.maximum(cube[:, i] * above, 1e-300))
    return float(chance.mean())
