"""EXP3.P (Auer et al., 2002), as tuned by Bubeck and Cesa-Bianchi (2012, section 3.2).

p_a = (1 − γ) exp(η G_a)/Σ + γ/K, and after each turn every arm's G grows by (x·[played] + β)/p: the
bias β makes the bound of order sqrt(KT ln(K/δ)) hold with chance 1 − δ, not on average alone. With
the horizon T: β = sqrt(ln(K/δ)/(KT)), η = 0.95 sqrt(ln K/(KT)), γ = 1.05 sqrt(K ln K/T). Cost: an
exponential and a Gumbel draw an arm and turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.adversarial import Adversarial, bundle_with, scaled
from belman.policies.policy import Floats
from belman.policies.settings import is_number, is_whole, require

#: Where params have their numbers, after the range: the horizon and δ.
HORIZON, DELTA = 2, 3


@kernel
def weigh(params, memory, rate):
    arms, most, total = memory.totals.size, -np.inf, 0.0
    horizon, spread = params[HORIZON], math.log(arms) if arms > 1 else 0.0
    memory.rate[0] = 0.95 * math.sqrt(spread / (arms * horizon))
    mixed = min(1.05 * math.sqrt(arms * spread / horizon), 1.0)
    for a in range(arms):
        most = max(most, memory.totals[a])
    for a in range(arms):
        memory.shares[a] = math.exp(memory.rate[0] * (memory.totals[a] - most))
        total += memory.shares[a]
    for a in range(arms):
        memory.shares[a] = (1.0 - mixed) * memory.shares[a] / total + mixed / arms


@kernel
def learn(family, law, params, ledger, memory, arm, reward):
    arms = memory.totals.size
    bias = math.sqrt(math.log(arms / params[DELTA]) / (arms * params[HORIZON]))
    for a in range(arms):
        if memory.shares[a] > 0.0:
            memory.totals[a] += bias / memory.shares[a]
    memory.totals[arm] += scaled(params, reward) / max(memory.played[arm], 1e-12)


KERNELS = bundle_with(weigh, learn)


@dataclass(frozen=True)
class EXP3P(Adversarial):
    """Exponential weights whose regret is bounded with chance 1 − δ, for a known horizon.

    `range` is that of the rewards; None takes the family's own.

    >>> EXP3P(10_000)
    EXP3P(range=None, horizon=10000, delta=0.05)
    """

    horizon: int
    delta: float = 0.05

    name = "exp3.p"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "horizon", is_whole(self.horizon, 1), "a whole number of turns from 1 up")
        fits = is_number(self.delta) and 0.0 < self.delta < 1.0
        require(self, "delta", fits, "strictly between 0 and 1")

    @property
    def learns_from_asks(self) -> bool:
        return True

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), [float(self.horizon), self.delta])

    def even(self, totals: Floats) -> float:
        return float(totals.max())
