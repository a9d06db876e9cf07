"""ε-greedy: every arm once, then any arm with chance ε, else argmax_a μ̂_a, the best average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index, no_refresh
from belman.policies.settings import is_number, require


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    exploring = chance.uniform(mind) < params[0]
    for a in range(index.size):
        if not known(ledger, a, 0.0):
            index[a] = np.inf
        else:
            index[a] = 0.0 if exploring else average(ledger, a)


@kernel
def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """ε/|open| + (1 − ε)·[arm among the best]/|best|; 1/ties among arms never played."""
    if not known(ledger, arm, 0.0):
        return 1.0 / ties
    best, sharing, count = -np.inf, 0, 0
    for a in range(ledger.plays.size):
        if closed.size == 0 or not closed[a]:
            count += 1
            mean = average(ledger, a)
            if mean > best:
                best, sharing = mean, 1
            elif mean == best:
                sharing += 1
    greedy = 1.0 / sharing if average(ledger, arm) == best else 0.0
    return params[0] / count + (1.0 - params[0]) * greedy


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, propensity)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Play the best average so far, and with chance `epsilon` any arm.

    >>> EpsilonGreedy()
    EpsilonGreedy(epsilon=0.1)
    """

    epsilon: float = 0.1

    name = "epsilon-greedy"
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_number(self.epsilon) and 0.0 <= self.epsilon <= 1.0
        require(self, "epsilon", fits, "a number from 0 to 1")

    @property
    def leaves_all_a_chance(self) -> bool:
        return self.epsilon > 0.0

    def params(self, family: Family) -> Floats:
        return np.array([float(self.epsilon)])
