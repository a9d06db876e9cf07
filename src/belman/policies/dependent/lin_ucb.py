"""LinUCB (Li et al. 2010): η + α·sd."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import is_between, require


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    for a in range(index.size):
        index[a] = sight.eta[a] + params[0] * math.sqrt(sight.variance[a])


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinUCB(DependentPolicy):
    """Play the largest mean plus `alpha` standard deviations.

    >>> LinUCB(alpha=2.0)
    LinUCB(alpha=2.0)
    """

    alpha: float = 1.0

    name = "lin-ucb"
    kernels = KERNELS

    def __post_init__(self) -> None:
        require(self, "alpha", is_between(self.alpha, 0.0, 1e6), "a number from 0 to a million")

    @property
    def params(self) -> Floats:
        return np.array([float(self.alpha)])
