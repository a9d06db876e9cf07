"""KL-UCB++ (Ménard and Garivier, 2017): n d(μ̂, q) ≤ ln⁺(x (ln⁺(x)² + 1)) at x = T/(K n)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.kl_bound import HORIZON
from belman.policies.kl_policy import KLPolicy, bundles_with
from belman.policies.policy import Floats
from belman.policies.settings import is_whole, require


@kernel
def level(params, ledger, arm):
    share = params[HORIZON] / (ledger.plays.size * ledger.plays[arm])
    if share <= 1.0:
        return 0.0
    return math.log(share) + math.log1p(math.log(share) ** 2)


BUNDLES = bundles_with(level)


@dataclass(frozen=True)
class KLUCBPlusPlus(KLPolicy):
    """KL-UCB for a known horizon, minimax and asymptotically optimal; other settings as there.

    >>> KLUCBPlusPlus(1_000)
    KLUCBPlusPlus(divergence=None, range=None, horizon=1000)
    """

    horizon: int

    name = "kl-ucb++"
    bundles = BUNDLES

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "horizon", is_whole(self.horizon, 1), "a whole number of turns from 1 up")

    def params(self, family: Family) -> Floats:
        numbers = super().params(family)
        numbers[HORIZON] = self.horizon
        return numbers
