"""OFUL (Abbasi-Yadkori, Pál and Szepesvári 2011): η + √β·sd, with the radius that is proven."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import is_between, require


@kernel
def radius(belief, risk, bound):
    """√(2 ln(1/δ) + ln det S₀/S) + bound: how many standard deviations hold with chance 1 − δ.

    `bound` is how far θ is from the prior's mean, in its standard deviations; 0 stands for √d.
    """
    ratio = 0.0
    for b in range(len(belief.mean)):
        for i in range(belief.mean.shape[1]):
            ratio -= 2.0 * belief.share[b] * math.log(belief.root[b, i, i] / belief.prior[b, i])
    far = bound if bound > 0.0 else math.sqrt(belief.mean.shape[1])
    return math.sqrt(2.0 * math.log(1.0 / risk) + max(ratio, 0.0)) + far


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    wide = radius(belief, params[0], params[1])
    for a in range(index.size):
        index[a] = sight.eta[a] + wide * math.sqrt(sight.variance[a])


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class OFUL(DependentPolicy):
    """LinUCB with a radius that holds at all turns but for a chance `delta`.

    `bound` is the largest distance of θ from 0 in prior standard deviations; 0 takes √d.

    >>> OFUL()
    OFUL(delta=0.01, bound=0.0)
    """

    delta: float = 0.01
    bound: float = 0.0

    name = "oful"
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_between(self.delta, 1e-300, 1.0 - 1e-12)
        require(self, "delta", fits, "a chance between 0 and 1")
        require(self, "bound", is_between(self.bound, 0.0, 1e9), "a number from 0 up")

    @property
    def params(self) -> Floats:
        return np.array([float(self.delta), float(self.bound)])
