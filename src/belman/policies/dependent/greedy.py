"""Greedy choices for arms that share a belief.

Greedy: the largest mean; the sceptic's baseline where contexts change by themselves.

ε-greedy: the largest mean, and with chance ε any arm.
"""

from __future__ import annotations

from typing import Annotated, Any

from belman import chance
from belman.engine import kernel
from belman.models.model import Floats, Model
from belman.policies.dependent.policy import MARGINALS, DependentKernels, DependentPolicy
from belman.policies.settings import number
from belman.registry import register


@kernel
def lin_greedy_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    for a in range(index.size):
        index[a] = sight.eta[a]


@register
class LinGreedy(DependentPolicy):
    """Play the arm that is expected to be best.

    >>> LinGreedy()
    LinGreedy()
    """

    name = "lin-greedy"
    sees = MARGINALS
    kernels = DependentKernels(lin_greedy_indices)


@kernel
def lin_epsilon_greedy_indices(
    model, constants, params, belief, features, sight, memory, turn, rng, index
):
    any_arm = chance.uniform(rng) < params[0]
    for a in range(index.size):
        index[a] = chance.uniform(rng) if any_arm else sight.eta[a]


@register
class LinEpsilonGreedy(DependentPolicy):
    """Play the arm that is expected to be best, and with chance `epsilon` any of them.

    >>> LinEpsilonGreedy(epsilon=0.05)
    LinEpsilonGreedy(epsilon=0.05)
    """

    epsilon: Annotated[float, number("[]", 0.0, 1.0, "a chance from 0 to 1")] = 0.1

    name = "lin-epsilon-greedy"
    sees = MARGINALS
    by_chance = True
    kernels = DependentKernels(lin_epsilon_greedy_indices)

    @property
    def leaves_all_a_chance(self) -> bool:
        return self.epsilon > 0.0

    def chance(self, model: Model, belief: Any, features: Floats, sight: Any, arm: int) -> float:
        best = sight.eta == sight.eta.max()
        greedy = (1.0 - self.epsilon) / best.sum() if best[arm] else 0.0
        return float(self.epsilon / len(best) + greedy)
