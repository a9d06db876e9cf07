"""KL-UCB+ (Garivier and Cappé, 2011): argmax_a max{q : n_a d(μ̂_a, q) ≤ ln(t/n_a)}."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.kl_policy import KLPolicy, bundles_with
from belman.policies.policy import Floats


@kernel
def level(params, ledger, arm):
    return -math.log(ledger.plays[arm])


BUNDLES = bundles_with(level)


@dataclass(frozen=True)
class KLUCBPlus(KLPolicy):
    """KL-UCB with less confidence for arms played often; `divergence` and `range` as there.

    >>> KLUCBPlus()
    KLUCBPlus(divergence=None, range=None)
    """

    name = "kl-ucb+"
    bundles = BUNDLES

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t."""
        return np.log(turns)
