"""lil'UCB (Jamieson, Malloy, Nowak and Bubeck, 2014): bounds by the law of the iterated logarithm.

argmax_a μ̂_a + (1 + β)(1 + sqrt(ε)) σ sqrt(2 (1 + ε) ln(ln((1 + ε) n)/δ)/n), until one arm has more
than λ times the plays of all others, which is then recommended. The theorem has δ < ln(1 + ε)/e, so
the bound is infinite where ln((1 + ε) n) ≤ e δ. The defaults are those of the paper's heuristic, ε
= 0, β = ½, λ = 1 + 10/K and δ a fifth of the chance of an error, by which every arm is played twice
first; its theorem has λ = ((2 + β)/β)², as 9 with β = 1 and ε = 0.01. Cost: that of UCB1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.light_tailed import indices
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_number, require
from belman.policies.subgaussian import SubGaussian
from belman.policies.ucb1 import Memory

#: Where params have their numbers: the factor of the bonus, 1 + ε, δ, and λ (0 for 1 + 10/K).
FACTOR, STRETCH, DELTA, SHARE = 0, 1, 2, 3


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.mean[arm], memory.width[arm] = np.inf, 0.0
    if known(ledger, arm, 0.0):
        plays = ledger.plays[arm]
        grown = math.log(params[STRETCH] * plays) / params[DELTA]
        if grown > math.e:
            memory.mean[arm] = average(ledger, arm)
            reach = 2.0 * params[STRETCH] * math.log(grown) / plays
            memory.width[arm] = params[FACTOR] * math.sqrt(reach)


@kernel
def _recommend(family, law, params, ledger, memory, score):
    """The arm with the most plays, then the best average, which never outweighs a play."""
    for a in range(score.size):
        score[a] = ledger.plays[a]
        if known(ledger, a, 0.0):
            score[a] += 0.5 + math.atan(average(ledger, a)) / math.pi


@kernel
def _finished(family, law, params, ledger, memory):
    share = params[SHARE] if params[SHARE] > 0.0 else 1.0 + 10.0 / ledger.plays.size
    total, most = 0.0, 0.0
    for a in range(ledger.plays.size):
        if not known(ledger, a, 0.0):
            return False
        total += ledger.plays[a]
        most = max(most, ledger.plays[a])
    return most >= 1.0 + share * (total - most)


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties, _recommend, _finished)


@dataclass(frozen=True)
class LilUCB(SubGaussian):
    """Play the largest bound until one arm has most of the plays; that arm is the answer.

    `share` is λ, None for 1 + 10/K.

    >>> LilUCB()
    LilUCB(sigma=None, delta=0.02, epsilon=0.0, beta=0.5, share=None)
    """

    delta: float = 0.02
    epsilon: float = 0.0
    beta: float = 0.5
    share: float | None = None

    name = "lil-ucb"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.delta) and 0.0 < self.delta < 1.0
        require(self, "delta", fits, "strictly between 0 and 1")
        for name in ("epsilon", "beta"):
            value = getattr(self, name)
            require(self, name, is_number(value) and 0.0 <= value <= 100.0, "from 0 to 100")
        fits = self.share is None or (is_number(self.share) and self.share > 0.0)
        require(self, "share", fits, "a positive number, or None")

    def params(self, family: Family) -> Floats:
        factor = (1.0 + self.beta) * (1.0 + math.sqrt(self.epsilon)) * self.deviation(family)
        return np.array([factor, 1.0 + self.epsilon, self.delta, self.share or 0.0])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms))
