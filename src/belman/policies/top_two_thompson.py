"""Top-two Thompson sampling (Russo, 2016): the largest of a draw, or of another that disagrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.policy import (
    Floats,
    Policy,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    pick,
    to_be_integrated,
)
from belman.policies.settings import is_number, require

_DRAWS = 100  # before the runner-up of the last draw is taken


@kernel
def _draw(family, law, beliefs, mind, index):
    """Draw an expected reward for each arm and return the arm with the largest."""
    for a in range(index.size):
        index[a] = family.sample_mean(law, beliefs[a], mind)
    return pick(index, mind)[0]


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """The draw in which the arm to play is the largest, so that it also ranks the other arms."""
    leader = _draw(family, law, ledger.beliefs, mind, index)
    if index.size > 1 and chance.uniform(mind) >= params[0]:
        for _ in range(_DRAWS):
            if _draw(family, law, ledger.beliefs, mind, index) != leader:
                return
        index[leader] = -np.inf


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, to_be_integrated)


@dataclass(frozen=True)
class TopTwoThompson(Policy):
    """With chance β play the largest of a draw, else draw again until another arm is the largest.

    An arm that is best with probability p_a is played with chance β p_a + (1 − β) p_a Σ_{b≠a}
    p_b/(1 − p_b). After 100 draws in vain the runner-up of the last one is played.

    >>> [round(float(share), 3) for share in TopTwoThompson().chances(np.array([0.6, 0.3, 0.1]))]
    [0.462, 0.392, 0.146]
    """

    beta: float = 0.5

    name = "top-two-thompson"
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_number(self.beta) and 0.0 < self.beta <= 1.0
        require(self, "beta", fits, "above 0 and at most 1")

    def params(self, family: Family) -> Floats:
        return np.array([self.beta])

    def chances(self, best: Floats) -> Floats:
        if len(best) == 1:
            return best
        sure = np.maximum(best, 1e-9)  # an arm that cannot be best may still be the runner-up
        p = sure / sure.sum()
        odds = p / (1.0 - p)
        chances: Floats = p * (self.beta + (1.0 - self.beta) * (odds.sum() - odds))
        return chances
