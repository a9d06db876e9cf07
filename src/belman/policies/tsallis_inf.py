"""Tsallis-INF (Zimmert and Seldin, 2021): best of both worlds, and of corrupted ones in between.

Chances are w_a = 4 (η_t (L̂_a − x))⁻², with x such that they add up to 1, and L̂ estimated losses.
`reduced` variance: η_t = 4/sqrt(t) and (ℓ − B)/w + B for all, with B = ½ where w ≥ η_t²; else η_t =
2/sqrt(t) and ℓ/w. Regret is of order sqrt(KT) against any adversary, and of order ln T where
rewards are drawn, without knowing which. Cost: a search for x by Newton's method, some five rounds
over arms a turn, and a Gumbel draw an arm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.adversarial import Adversarial, bundle_with, scaled
from belman.policies.policy import Floats
from belman.policies.settings import require

_STEPS = 60


@kernel
def weigh(params, memory, rate):
    """Newton's method from where the best arm alone has all: Σ w is convex, and never missed."""
    memory.rate[0] = rate
    least = np.inf
    for a in range(memory.totals.size):
        least = min(least, memory.totals[a])
    x = least - 2.0 / rate
    for _ in range(_STEPS):
        total, slope = 0.0, 0.0
        for a in range(memory.totals.size):
            root = 2.0 / (rate * max(memory.totals[a] - x, 1e-100))
            total += root * root
            slope += rate * root * root * root
            memory.shares[a] = root * root
        step = (total - 1.0) / slope
        x -= step
        if step <= 1e-9 * (least - x):
            break


@kernel
def learn(family, law, params, ledger, memory, arm, reward):
    loss, share, base = 1.0 - scaled(params, reward), max(memory.played[arm], 1e-12), 0.0
    if params[2] > 0.0:
        rate = memory.rate[0]
        base = 0.5 if share >= rate * rate else 0.0
        for a in range(memory.totals.size):
            memory.totals[a] += 0.5 if memory.shares[a] >= rate * rate else 0.0
        memory.totals[arm] -= 0.5 if memory.shares[arm] >= rate * rate else 0.0
    memory.totals[arm] += (loss - base) / share + base


KERNELS = bundle_with(weigh, learn)


@dataclass(frozen=True)
class TsallisINF(Adversarial):
    """Follow the leader of estimated losses, regularised so that no origin of rewards hurts much.

    `range` is that of the rewards; None takes the family's own.

    >>> TsallisINF()
    TsallisINF(range=None, reduced=True)
    """

    reduced: bool = True

    name = "tsallis-inf"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "reduced", isinstance(self.reduced, bool), "True or False")

    @property
    def learns_from_asks(self) -> bool:
        return True

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), float(self.reduced))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """η_t."""
        return (4.0 if self.reduced else 2.0) / np.sqrt(turns)

    def even(self, totals: Floats) -> float:
        return float(totals.min())
