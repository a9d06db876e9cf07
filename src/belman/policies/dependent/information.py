"""LinIMED, LinMED and variance-IDS for arms that share a belief.

LinIMED (Bian and Tan 2024), its first form: the least Δ²/(β‖φ‖²) − ln(β‖φ‖²).

Δ is the gap to the leader, ‖φ‖² the variance of the arm in units of the noise, and β the square of
the radius that holds with chance 1 − 1/t² (`oful.radius`).

Maillard's sampling with a shared belief: chances exp(−Δ²/(2w)), w the variance of a difference.

Linear minimum empirical divergence (Balagopalan and Jun 2024) weighs these by an optimal design;
here all arms weigh the same.

Variance-based information-directed sampling (Russo and Van Roy 2018), by draws of θ.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from belman import chance
from belman.engine import kernel
from belman.models.model import Model
from belman.models.shared import marginal
from belman.policies.dependent.optimism import radius
from belman.policies.dependent.policy import (
    VALUES,
    DependentKernels,
    DependentPolicy,
    Floats,
    leader,
)
from belman.policies.dependent.thompson import draw_values
from belman.policies.memory import part
from belman.policies.settings import TwoDraws
from belman.policies.thompson.ids import best_pair
from belman.registry import register


@kernel
def lin_imed_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    best = leader(sight.eta)
    wide = radius(belief, 1.0 / ((turn + 1.0) * (turn + 1.0)), 0.0)
    for a in range(index.size):
        gap = sight.eta[best] - sight.eta[a]
        against = gap * gap / max(wide * wide * sight.variance[a], 1e-300)
        index[a] = math.log(wide * wide / sight.worth[a]) - against


@register
class LinIMED(DependentPolicy):
    """Play the arm whose neglect is least explained by the evidence, with the proven radius.

    >>> LinIMED()
    LinIMED()
    """

    name = "lin-imed"
    kernels = DependentKernels(lin_imed_indices)


class LinMEDMemory(NamedTuple):
    """Room for a difference of features."""

    apart_scratch: Floats = part("D")


@kernel
def lin_med_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    """A race: ln of the chance, less ln of a standard exponential."""
    best, apart = leader(sight.eta), memory.apart_scratch
    for a in range(index.size):
        for i in range(apart.size):
            apart[i] = features[best, i] - features[a, i]
        gap, wide = marginal(model, constants, belief, apart)
        against = 0.5 * gap * gap / wide if wide > 0.0 else 0.0
        index[a] = -against - math.log(-math.log(chance.uniform(rng)))


@register
class LinMED(DependentPolicy):
    """Play each arm with a chance that falls with the evidence that the leader is better.

    >>> LinMED()
    LinMED()
    """

    name = "lin-med"
    sees = VALUES
    by_chance = True
    kernels = DependentKernels(lin_med_indices)
    remembers = LinMEDMemory

    @property
    def leaves_all_a_chance(self) -> bool:
        return True

    def chance(self, model: Model, belief: Any, features: Floats, sight: Any, arm: int) -> float:
        best, weights = int(leader(sight.eta)), []
        for row in features:
            gap, wide = marginal(model.kernels, model.constants, belief, features[best] - row)
            weights.append(math.exp(-0.5 * gap * gap / wide) if wide > 0.0 else 1.0)
        return weights[arm] / sum(weights)


class LinIDSMemory(NamedTuple):
    """Room for draws, and for what follows from them."""

    theta_scratch: Floats = part("D")
    value_scratch: Floats = part("K")
    share_scratch: Floats = part("K")  # how often each arm was best
    given_scratch: Floats = part("K", "K")  # Σ of the values of all arms where an arm was best
    mean_scratch: Floats = part("K")
    regret_scratch: Floats = part("K")
    gain_scratch: Floats = part("K")


@kernel
def lin_ids_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    arms, draws = index.size, int(params[0])
    share, given, mean = memory.share_scratch, memory.given_scratch, memory.mean_scratch
    value, regret, gain = memory.value_scratch, memory.regret_scratch, memory.gain_scratch
    for a in range(arms):
        share[a] = mean[a] = gain[a] = 0.0
        for b in range(arms):
            given[a, b] = 0.0
    highest = 0.0
    for _ in range(draws):
        best = draw_values(model, constants, belief, features, rng, memory.theta_scratch, value)
        share[best] += 1.0
        highest += value[best] / draws
        for a in range(arms):
            given[best, a] += value[a]
            mean[a] += value[a] / draws
    for b in range(arms):
        if share[b] > 0.0:
            for a in range(arms):
                apart = given[b, a] / share[b] - mean[a]
                gain[a] += share[b] / draws * apart * apart
    for a in range(arms):
        regret[a] = max(highest - mean[a], 0.0)
    first, second, weight = best_pair(regret, gain)
    chosen = first if chance.uniform(rng) < weight else second
    for a in range(arms):
        index[a] = 1.0 if a == chosen else -regret[a] - math.sqrt(gain[a])


@register
class LinIDS(DependentPolicy):
    """Play the two arms with the least squared regret per variance that the best arm explains.

    >>> LinIDS()
    LinIDS(draws=200)
    """

    draws: TwoDraws = 200

    name = "lin-ids"
    sees = VALUES
    by_chance = True
    kernels = DependentKernels(lin_ids_indices)
    remembers = LinIDSMemory
