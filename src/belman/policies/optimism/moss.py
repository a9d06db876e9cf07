"""MOSS and UCBoost.

MOSS-anytime (Degenne and Perchet, 2016): μ̂_a + sqrt((1 + α)/2 · max(0, ln(t/(K n_a)))/n_a).

UCBoost (Liu, Wang, Buccapatnam and Shroff, 2018): KL-UCB in closed form, by weaker divergences.

The index is the least of three bounds max{q : d(μ̂, q) ≤ (ln t + c ln ln t)/n}, by the biquadratic
distance 2x² + 4x⁴/9, the squared Hellinger distance and the tangent μ̂ ln μ̂ + (1 − μ̂) ln((1 − μ̂)/(1
− q)) of kl: UCBoost({d_bq, d_h, d_lb}). Its proven regret has kl − 1/e where that of KL-UCB has kl.
Cost: a few roots and an exponential an arm and turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import Mean, average, keep_average, known
from belman.policies.memory import Floats, part
from belman.policies.optimism.kl_ucb import with_log_log
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import Bounded
from belman.policies.settings import FromZero
from belman.registry import register


class MOSSMemory(NamedTuple):
    """Per arm: average (infinite before its first play), (high − low)·sqrt((1 + α)/2n), ln n."""

    mean: Floats = part("K")
    width: Floats = part("K")
    log_plays: Floats = part("K")


@kernel
def moss_refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    memory.width[arm] = params[0] / math.sqrt(ledger.plays[arm]) if played else 0.0
    memory.log_plays[arm] = math.log(ledger.plays[arm]) if played else 0.0


@kernel
def moss_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        root = math.sqrt(max(turn_value - memory.log_plays[a], 0.0))
        index[a] = memory.mean[a] + memory.width[a] * root


@register
class MOSS(Bounded):
    """Play the largest bound of the minimax optimal strategy, in the form that needs no horizon.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    alpha
        The factor of the bonus is (1 + alpha)/2.

    >>> MOSS()
    MOSS(range=None, alpha=1.35)
    """

    alpha: FromZero = 1.35

    name = "moss"
    kernels = PolicyKernels(moss_indices, moss_refresh)
    remembers = MOSSMemory

    def params(self, family: Family) -> Floats:
        return np.array([self.about(family)[1] * math.sqrt(0.5 * (1.0 + self.alpha))])

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln(t/K)."""
        return np.log(turns / arms)


@kernel
def boosted_bound(p, level):
    """The least of the three bounds on the mean at n·d ≤ f, level = f/n."""
    if level <= 0.0:
        return p
    quadratic = p + math.sqrt(max(math.sqrt(81.0 / 16.0 + 2.25 * level) - 2.25, 0.0))
    bound = min(quadratic, 1.0)
    if level < 2.0 - 2.0 * math.sqrt(p):
        root = (1.0 - 0.5 * level) * math.sqrt(p)
        root += math.sqrt((1.0 - p) * (level - 0.25 * level * level))
        bound = min(bound, root * root)
    if p < 1.0:
        part = p * math.log(p) if p > 0.0 else 0.0
        bound = min(bound, 1.0 - (1.0 - p) * math.exp((part - level) / (1.0 - p)))
    return max(bound, p)


@kernel
def ucboost_refresh(family, constants, params, ledger, memory, arm):
    memory.mean[arm] = np.inf
    if known(ledger, arm, 0.0):
        memory.mean[arm] = min(max((average(ledger, arm) - params[0]) / params[1], 0.0), 1.0)


@kernel
def ucboost_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = np.inf
        if memory.mean[a] < np.inf:
            bound = boosted_bound(memory.mean[a], turn_value / ledger.plays[a])
            index[a] = params[0] + params[1] * bound


@register
class UCBoost(Bounded):
    """KL-UCB for rewards in a range, without a search.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    c
        The weight of ln ln t in the level of exploration: 0 in practice, 3 in theory.

    >>> UCBoost()
    UCBoost(range=None, c=0.0)
    """

    c: FromZero = 0.0

    name = "ucboost"
    kernels = PolicyKernels(ucboost_indices, ucboost_refresh)
    remembers = Mean
    turn_values = with_log_log
