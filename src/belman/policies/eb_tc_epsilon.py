"""EB-TCε (Jourdan, Degenne and Kaufmann, 2023): top two for an arm within ε of the best.

The best average leads, and argmin_a (μ̂_* − μ̂_a + ε)/sqrt(1/n_* + 1/n_a) challenges, with β tracked.
The slack ε0 keeps it from staring at two equal arms, and it is good at any time, with or without a
stopping rule. Cost: a root an arm and turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.policy import Floats, share_of_ties
from belman.policies.settings import is_number, require
from belman.policies.top_two import OWN, TopTwo, beats, best_average, bundle_with


@kernel
def least_slack_transport(family, law, params, ledger, memory, leader, mind, index):
    best, found = -np.inf, -1
    for a in range(index.size):
        if a != leader and index[a] == index[a]:
            lead = memory.mean[leader] - memory.mean[a] + params[OWN]
            cost = -lead / math.sqrt(1.0 / ledger.plays[leader] + 1.0 / ledger.plays[a])
            if found < 0 or beats(ledger, cost, a, best, found):
                best, found = cost, a
    return found


KERNELS = bundle_with(best_average, least_slack_transport, True, share_of_ties)


@dataclass(frozen=True)
class EBTCEpsilon(TopTwo):
    """EB-TC that is content with an arm within `epsilon` of the best, on the scale of rewards.

    >>> EBTCEpsilon(epsilon=0.05)
    EBTCEpsilon(beta=0.5, epsilon=0.05)
    """

    epsilon: float = 0.1

    name = "eb-tc-epsilon"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.epsilon) and self.epsilon >= 0.0
        require(self, "epsilon", fits, "a number from 0 up")

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), float(self.epsilon))
