"""LUCB++ (Simchowitz, Jamieson and Recht, 2017): LUCB whose leaders and others doubt differently.

In rounds, the leader with the lowest μ̂ − U(n, δ/2(K − m)) and the other arm with the highest μ̂ +
U(n, δ/2m) are played, until they overlap by at most ε. U(n, δ) = σ sqrt(2 (ln(1/δ) + 3 ln ln(1/δ) +
1.5 ln ln(e n))/n), the bound of Kaufmann, Cappé and Garivier (2016) for one arm of n plays (theirs
for two arms of t plays together has e t/2). It is wrong by more than ε with a chance of at most δ.
Cost: a root an arm and round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.averages import average
from belman.policies.lucb import KLLUCB, WANTED, Memory, always_passes, bundle_with
from belman.policies.policy import Floats
from belman.policies.settings import is_number, is_whole, require
from belman.policies.subgaussian import SubGaussian

#: Where params have their numbers, after how many arms are wanted and a 0: σ, δ and ε.
SIGMA, DELTA, SLACK = 2, 3, 4


@kernel
def radius(sigma, plays, doubt):
    """U(n, δ) with ln(1/δ) = `doubt`."""
    level = doubt + 3.0 * math.log(max(doubt, 1.0))
    level += 1.5 * math.log(max(1.0 + math.log(plays), 1.0))
    return sigma * math.sqrt(2.0 * level / plays)


@kernel
def iterated_bound(family, law, params, ledger, arm, f, up):
    wanted = params[WANTED]
    others = wanted if up else max(ledger.plays.size - wanted, 1.0)
    reach = radius(params[SIGMA], ledger.plays[arm], math.log(2.0 * others / params[DELTA]))
    return average(ledger, arm) + (reach - params[SLACK] if up else -reach)


KERNELS = bundle_with(iterated_bound, always_passes)


@dataclass(frozen=True)
class LUCBPlusPlus(SubGaussian):
    """Find the m best arms, within `epsilon`, wrong with a chance of at most `delta`.

    >>> LUCBPlusPlus(epsilon=0.05)
    LUCBPlusPlus(sigma=None, delta=0.1, m=1, epsilon=0.05)
    """

    delta: float = 0.1
    m: int = 1
    epsilon: float = 0.0

    name = "lucb++"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.delta) and 0.0 < self.delta < 1.0
        require(self, "delta", fits, "strictly between 0 and 1")
        require(self, "m", is_whole(self.m, 1), "a whole number of arms from 1 up")
        fits = is_number(self.epsilon) and self.epsilon >= 0.0
        require(self, "epsilon", fits, "a number from 0 up")

    def params(self, family: Family) -> Floats:
        return np.array([float(self.m), 0.0, self.deviation(family), self.delta, self.epsilon])

    def memory(self, arms: int, dimension: int) -> Memory:
        return KLLUCB(m=self.m).memory(arms, dimension)

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return KLLUCB(m=self.m).whole_numbers(arms)

    def check(self, family: Family, arms: int) -> None:
        super().check(family, arms)
        if self.m >= arms:
            asked = f"{self.name} is asked for the {self.m} best of {arms} arms"
            raise PolicyError(f"{asked}: m must be less than their number")
