"""What is seen of the arms at hand: the marginals of the shared belief along their features.

Where the features of arms stay the same, a reward moves all marginals by what they share with the
arm that was played, O(d) an arm; one arm a turn is looked at afresh, so that rounding never adds
up. Otherwise all are looked at, O(d²) an arm, less where features are 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.models.model import KEEP, Floats
from belman.models.shared import GAIN, SHRINK, STEP, TOLD, dot, marginal, prior_variance

_LITTLE = 1e-4  # of what a variance was when it was last looked at: below it is looked at again
_TINY = 1e-300


class Sight(NamedTuple):
    """What is seen of K arms: the marginals of the shared belief along their features.

    Attributes
    ----------
    eta
        The mean of φᵀθ of each arm (K).
    variance
        Its variance (K).
    worth
        How many rewards of the arm the belief about it is worth, ν (K).
    first
        The variance that the prior gave (K).
    looked
        The variance, in units of the noise's, when the arm was last looked at afresh (K).
    """

    eta: Floats  # (K) the mean of φᵀθ
    variance: Floats  # (K) its variance
    worth: Floats  # (K) ν, how many rewards of the arm the belief about it is worth
    first: Floats  # (K) the variance that the prior gave
    looked: Floats  # (K) the variance when the arm was last looked at afresh

    @classmethod
    def of(cls, arms: int) -> Sight:
        """Make blank arrays, before the first look.

        Parameters
        ----------
        arms
            How many arms there are.

        Returns
        -------
        Sight
            Arrays of zeros.
        """
        return cls(*(np.zeros(arms) for _ in cls._fields))


@kernel
def expected_scale(model, constants, belief):
    """What is expected of the variance that beliefs are in units of: that of the noise, or 1."""
    total = 0.0
    for b in range(len(belief.mean)):
        total += belief.share[b] * model.scale(constants, belief.noise[b])
    return total


@kernel
def look(model, constants, belief, features, scale, sight, arm):
    """Look at one arm afresh."""
    eta, variance = marginal(model, constants, belief, features[arm])
    sight.eta[arm], sight.variance[arm], sight.looked[arm] = eta, variance, variance / scale
    sight.first[arm] = prior_variance(model, constants, belief, features[arm])
    sight.worth[arm] = scale / max(model.information(constants, eta) * variance, _TINY)


@kernel
def look_at_all(model, constants, belief, features, sight):
    """Look at all arms afresh."""
    scale = expected_scale(model, constants, belief)
    for a in range(len(features)):
        look(model, constants, belief, features, scale, sight, a)


@kernel
def follow(model, constants, belief, features, before, sight):
    """Move what is seen of arms whose features stay by the reward that was just learnt, `before`
    which the expected scale was this.
    """
    if len(belief.mean) > 1 or constants[KEEP] < 1.0:
        look_at_all(model, constants, belief, features, sight)
        return
    step, shrink = belief.scratch[TOLD, STEP], belief.scratch[TOLD, SHRINK]
    gain = belief.scratch[GAIN, : features.shape[1]]
    scale = expected_scale(model, constants, belief)
    grown = scale / before
    fresh = int(belief.clock[0]) % len(features)
    stale = -1
    for a in range(len(features)):
        shared = dot(features[a], gain)
        eta = sight.eta[a] + step * shared
        variance = sight.variance[a] * grown - scale * shrink * shared * shared
        sight.eta[a], sight.variance[a] = eta, variance
        sight.first[a] *= grown
        sight.worth[a] = scale / max(model.information(constants, eta) * variance, _TINY)
        stale = a if not variance > _LITTLE * scale * sight.looked[a] else stale
    if stale >= 0:
        for a in range(len(features)):
            if not sight.variance[a] > _LITTLE * scale * sight.looked[a]:
                look(model, constants, belief, features, scale, sight, a)
    look(model, constants, belief, features, scale, sight, fresh)
