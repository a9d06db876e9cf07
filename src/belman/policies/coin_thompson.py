"""Thompson as in the authors' queueing code: a coin of the drawn chance, and an arm that shows 1.

The coin throws away most of what the draw says, so that good arms are told from bad ones only by
how often they show 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.bounded import Bounded, ends_of_rewards
from belman.policies.policy import (
    Floats,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    to_be_integrated,
)
from belman.policies.settings import require

#: Of a place in the list: a million of them are less than a coin.
_STEP = 1e-9


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """Params: the low end of rewards, their width, and what a place further down the list costs."""
    for a in range(index.size):
        drawn = (family.sample_mean(law, ledger.beliefs[a], mind) - params[0]) / params[1]
        index[a] = (1.0 if chance.uniform(mind) < drawn else 0.0) - params[2] * a


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, to_be_integrated)


@dataclass(frozen=True)
class CoinThompson(Bounded):
    """Thompson by a Bernoulli draw of the Beta draw, as the authors code it, to show what it costs.

    `ties` is 'random', or 'lowest': the first of equal arms, as in the authors' code.

    >>> CoinThompson(ties="lowest").name
    'thompson-authors'
    """

    ties: str = "random"

    name = "thompson-authors"
    draws_from_beliefs = False  # coins do not tell which draw was the largest
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "ties", self.ties in ("random", "lowest"), "'random' or 'lowest'")

    def params(self, family: Family) -> Floats:
        low, high = ends_of_rewards(self.name, self.range, family)
        return np.array([low, high - low, _STEP if self.ties == "lowest" else 0.0])
