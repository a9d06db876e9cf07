"""Policies that mix made-up rewards into an arm's own, and play the largest mean of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.families.family import Family
from belman.policies.bounded import Bounded, ends_of_rewards
from belman.policies.policy import Floats
from belman.policies.settings import is_number, require


@dataclass(frozen=True)
class PseudoRewards(Bounded):
    """A policy with `a` pseudo-rewards per reward; params: the low end of rewards, their width, a.

    The draws are none from beliefs.
    """

    a: float = 1.0

    draws_from_beliefs = False

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.a) and 0.0 < self.a <= 1_000.0
        require(self, "a", fits, "a positive number up to 1000")

    def params(self, family: Family) -> Floats:
        low, high = ends_of_rewards(self.name, self.range, family)
        return np.array([low, high - low, float(self.a)])
