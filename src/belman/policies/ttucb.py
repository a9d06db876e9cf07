"""TTUCB (Jourdan and Degenne, 2023): the largest bound leads, the least transport cost challenges.

The bound is the largest q with n d(μ̂, q) ≤ 2.64 ln t (α = s = 1.2 of the paper, whose divergence is
Gaussian), with β tracked. Cost: bounds of arms that may lead and a
divergence an arm, 0.3 of Thompson's turns at 20 arms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, variance
from belman.policies.kl_interval import farthest
from belman.policies.policy import Floats, share_of_ties
from belman.policies.top_two import (
    NEEDED,
    OWN,
    TopTwo,
    beats,
    best_average,
    bundle_with,
    least_transport,
)

_RATE = 1.2 * (1.0 + 1.2)


@kernel
def largest_bound(family, law, params, ledger, memory, turn_value, mind, index):
    """The best average first; evidence against an arm at the best bound so far spares a search."""
    first = best_average(family, law, params, ledger, memory, turn_value, mind, index)
    best, found = -np.inf, first
    for place in range(index.size):
        a = first if place == 0 else place - (place <= first)
        if index[a] == index[a]:
            mean, plays = average(ledger, a), ledger.plays[a]
            spread = max(variance(ledger, a), 1e-300) if params[NEEDED] > 0.0 else 1.0
            behind = mean < best < params[OWN]
            if behind and plays * family.d(law, mean, best, spread) > turn_value:
                continue
            bound = farthest(family, law, plays, mean, spread, turn_value, params[OWN])
            if beats(ledger, bound, a, best, found):
                best, found = bound, a
    return found


KERNELS = bundle_with(largest_bound, least_transport, True, share_of_ties)


@dataclass(frozen=True)
class TTUCB(TopTwo):
    """Play the arm with the largest upper bound in a share β of turns, else its hardest rival.

    >>> TTUCB()
    TTUCB(beta=0.5)
    """

    name = "ttucb"
    kernels = KERNELS

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), family.mean_range[1])

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """2.64 ln t."""
        return _RATE * np.log(turns)
