"""Thompson sampling with a shared belief: one draw of θ, and the arm that is best under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.models.shared import dot, draw
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import is_between, require


class Memory(NamedTuple):
    """Room for a draw."""

    theta_scratch: Floats  # (d)


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    draw(model, law, belief, mind, params[0], memory.theta_scratch)
    for a in range(index.size):
        index[a] = dot(features[a], memory.theta_scratch)


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinTS(DependentPolicy):
    """Play the best arm of a draw of θ; exact, or inflated (Agrawal and Goyal) by a factor.

    >>> LinTS()
    LinTS(inflation=1.0)
    """

    inflation: float = 1.0

    name = "lin-ts"
    by_chance = True
    kernels = KERNELS

    def __post_init__(self) -> None:
        require(self, "inflation", is_between(self.inflation, 0.0, 1e6), "a number from 0 up")

    @property
    def params(self) -> Floats:
        return np.array([float(self.inflation)])

    def memory(self, arms: int, features: int) -> Memory:
        return Memory(np.zeros(features))
