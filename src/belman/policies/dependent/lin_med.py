"""Maillard's sampling with a shared belief: chances exp(−Δ²/(2w)), w the variance of a difference.

Linear minimum empirical divergence (Balagopalan and Jun 2024) weighs these by an optimal design;
here all arms weigh the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.models.shared import marginal
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats, leader


class Memory(NamedTuple):
    """Room for a difference of features."""

    apart_scratch: Floats  # (d)


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    """A race: ln of the chance, less ln of a standard exponential."""
    best, apart = leader(sight.eta), memory.apart_scratch
    for a in range(index.size):
        for i in range(apart.size):
            apart[i] = features[best, i] - features[a, i]
        gap, wide = marginal(model, law, belief, apart)
        against = 0.5 * gap * gap / wide if wide > 0.0 else 0.0
        index[a] = -against - math.log(-math.log(chance.uniform(mind)))


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinMED(DependentPolicy):
    """Play each arm with a chance that falls with the evidence that the leader is better.

    >>> LinMED()
    LinMED()
    """

    name = "lin-med"
    by_chance = True
    kernels = KERNELS

    def memory(self, arms: int, features: int) -> Memory:
        return Memory(np.zeros(features))
