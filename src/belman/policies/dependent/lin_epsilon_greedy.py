"""ε-greedy: the largest mean, and with chance ε any arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, Floats
from belman.policies.settings import is_between, require


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    any_arm = chance.uniform(mind) < params[0]
    for a in range(index.size):
        index[a] = chance.uniform(mind) if any_arm else sight.eta[a]


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinEpsilonGreedy(DependentPolicy):
    """Play the arm that is expected to be best, and with chance `epsilon` any of them.

    >>> LinEpsilonGreedy(epsilon=0.05)
    LinEpsilonGreedy(epsilon=0.05)
    """

    epsilon: float = 0.1

    name = "lin-epsilon-greedy"
    by_chance = True
    kernels = KERNELS

    def __post_init__(self) -> None:
        require(self, "epsilon", is_between(self.epsilon, 0.0, 1.0), "a chance from 0 to 1")

    @property
    def params(self) -> Floats:
        return np.array([float(self.epsilon)])
