"""Bounds of light-tailed rewards: UCB and AdaUCB.

The light-tailed policy of Simchi-Levi, Zheng and Zhu (2022): safety against heavy-tailed regret.

argmax_a μ̂_a + σ sqrt(η T ln T/K)/n_a: a bonus ∝ 1/n where UCB has 1/sqrt(n), so that a regret of x
has a chance of exp(−Ω(x/sqrt(KT))), and regret is of order sqrt(KT ln T) on average, for any η > 0.
Policies that are optimal on average have tails like 1/x. Cost: that of UCB1.

Ada-UCB (Lattimore, 2018): a confidence level that adapts to how the other arms were played.

argmax_a μ̂_a + σ sqrt(2 ln̄(T/H_a)/n_a) with H_a = Σ_b min(n_a, sqrt(n_a n_b)) and the logarithm of
its proof, ln̄(x) = ln((x + e) sqrt(ln(x + e))), which is never below 1; without a `horizon` T is the
turn. It is minimax and asymptotically optimal, and no worse than UCB up to constants. Cost: of
order K² minima and two logarithms an arm and turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import keep_average
from belman.policies.memory import Floats, part
from belman.policies.optimism.ucb1 import MeanAndWidth
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import SubGaussian
from belman.policies.settings import Positive, Turns
from belman.registry import register


@kernel
def light_tailed_refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    bonus = params[0] / math.sqrt(ledger.plays.size)
    memory.width[arm] = bonus / ledger.plays[arm] if played else 0.0


@kernel
def light_tailed_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = memory.mean[a] + memory.width[a]


@register
class LightTailed(SubGaussian):
    """Upper bounds whose width falls with 1/n, for a known horizon: large regrets are rare.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    horizon
        The number of turns of play.
    eta
        The factor of the width: larger ones explore more.

    >>> LightTailed(10_000)
    LightTailed(sigma=None, horizon=10000, eta=0.1)
    """

    horizon: Turns
    eta: Positive = 0.1

    name = "light-tailed"
    kernels = PolicyKernels(light_tailed_indices, light_tailed_refresh)
    remembers = MeanAndWidth

    def params(self, family: Family) -> Floats:
        reach = self.eta * self.horizon * math.log(self.horizon)
        return np.array([self.deviation(family) * math.sqrt(reach)])


class AdaUCBMemory(NamedTuple):
    """Per arm: the average, infinite before its first play, and sqrt(n)."""

    mean: Floats = part("K")
    root: Floats = part("K")


@kernel
def raised_log(x):
    """ln̄(x), as the author writes it: ln x for large x, and 1 at 0."""
    above = math.log(x + math.e)
    return above + 0.5 * math.log(above)


@kernel
def ada_ucb_refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    memory.root[arm] = math.sqrt(ledger.plays[arm]) if played else 0.0


@kernel
def ada_ucb_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    horizon = params[1] if params[1] > 0.0 else turn_value
    for a in range(index.size):
        root, index[a] = memory.root[a], memory.mean[a]
        if root > 0.0:
            total = 0.0
            for b in range(index.size):
                total += min(root, memory.root[b])
            level = raised_log(horizon / (root * total))
            index[a] += params[0] * math.sqrt(2.0 * level) / root


@register
class AdaUCB(SubGaussian):
    """UCB whose confidence falls for arms that were played more than the others.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    horizon
        The number of turns of play; None takes the turn itself.

    >>> AdaUCB()
    AdaUCB(sigma=None, horizon=None)
    """

    horizon: Turns | None = None

    name = "ada-ucb"
    kernels = PolicyKernels(ada_ucb_indices, ada_ucb_refresh)
    remembers = AdaUCBMemory

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """t."""
        return turns
