"""Greedy choices for arms that share a belief.

Greedy: the largest mean; the sceptic's baseline where contexts change by themselves.

ε-greedy: the largest mean, and with chance ε any arm.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman import chance
from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy
from belman.policies.settings import is_between, require


@kernel
def lin_greedy_indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    for a in range(index.size):
        index[a] = sight.eta[a]


LIN_GREEDY_KERNELS = DependentKernels(lin_greedy_indices)


@dataclass(frozen=True)
class LinGreedy(DependentPolicy):
    """Play the arm that is expected to be best.

    >>> LinGreedy()
    LinGreedy()
    """

    name = "lin-greedy"
    kernels = LIN_GREEDY_KERNELS


@kernel
def lin_epsilon_greedy_indices(
    model, law, params, belief, features, sight, memory, turn, mind, index
):
    any_arm = chance.uniform(mind) < params[0]
    for a in range(index.size):
        index[a] = chance.uniform(mind) if any_arm else sight.eta[a]


LIN_EPSILON_GREEDY_KERNELS = DependentKernels(lin_epsilon_greedy_indices)


@dataclass(frozen=True)
class LinEpsilonGreedy(DependentPolicy):
    """Play the arm that is expected to be best, and with chance `epsilon` any of them.

    >>> LinEpsilonGreedy(epsilon=0.05)
    LinEpsilonGreedy(epsilon=0.05)
    """

    epsilon: float = 0.1

    name = "lin-epsilon-greedy"
    by_chance = True
    kernels = LIN_EPSILON_GREEDY_KERNELS

    def __post_init__(self) -> None:
        require(self, "epsilon", is_between(self.epsilon, 0.0, 1.0), "a chance from 0 to 1")
