"""The paper's form on marginals: argmax_a s(t)·E_a[X] − KL(b_a ‖ b̄), b̄ the barycentre of all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import is_between, require


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    arms = index.size
    pull = max(math.log(turn) + params[0] * math.log(math.log(turn)), 0.0) if turn > 2 else 0.0
    centre, wide = 0.0, 0.0
    for a in range(arms):
        centre += sight.eta[a] / arms
    for a in range(arms):
        apart = sight.eta[a] - centre
        wide += (sight.variance[a] + apart * apart) / arms
    for a in range(arms):
        expected = model.expected(law, sight.eta[a], sight.variance[a])
        apart = sight.eta[a] - centre
        share = max(sight.variance[a], 1e-300) / max(wide, 1e-300)
        lies = apart * apart / max(wide, 1e-300)
        index[a] = pull * expected - 0.5 * (share - 1.0 - math.log(share) + lies)


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class PaperBelMan(DependentPolicy):
    """The paper's schedule s(t) = ln t + C ln ln t on the marginals of a shared belief.

    >>> PaperBelMan().C
    15.0
    """

    C: float = 15.0

    name = "shared-belman-paper"
    kernels = KERNELS

    def __post_init__(self) -> None:
        require(self, "C", is_between(self.C, 0.0, 1e6), "a number from 0 to a million")

    @property
    def params(self) -> Floats:
        return np.array([float(self.C)])
