"""KL-UCB (Garivier and Cappé, 2011): argmax_a max{q : n_a d(μ̂_a, q) ≤ ln t + c ln ln t}."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.policies.kl_policy import KLPolicy, bundles_with
from belman.policies.policy import Floats
from belman.policies.settings import is_number, require


@kernel
def level(params, ledger, arm):
    return 0.0


BUNDLES = bundles_with(level)


@dataclass(frozen=True)
class KLUCB(KLPolicy):
    """Play the largest mean that rewards do not refute: c = 0 in practice, c = 3 in theory.

    `divergence` is None for the family's own, or one of 'bernoulli', 'exponential', 'gaussian' and
    'poisson' on rewards that `range` scales to [0, 1]; no range takes the family's own. KL-UCB-exp
    is `KLUCB(divergence="exponential")`.

    >>> KLUCB(divergence="bernoulli", range=(0, 10))
    KLUCB(divergence='bernoulli', range=(0.0, 10.0), c=0.0)
    """

    c: float = 0.0

    name = "kl-ucb"
    bundles = BUNDLES

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "c", is_number(self.c) and self.c >= 0.0, "a number from 0 up")

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln t + c ln ln t, the second term 0 before it is positive."""
        log_turns = np.log(turns)
        return log_turns + self.c * np.log(np.maximum(log_turns, 1.0))
