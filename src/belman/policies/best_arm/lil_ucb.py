"""lil'UCB and UGapE, which stop by themselves.

lil'UCB (Jamieson, Malloy, Nowak and Bubeck, 2014): bounds by the law of the iterated logarithm.

argmax_a μ̂_a + (1 + β)(1 + sqrt(ε)) σ sqrt(2 (1 + ε) ln(ln((1 + ε) n)/δ)/n), until one arm has more
than λ times the plays of all others, which is then recommended. The theorem has δ < ln(1 + ε)/e, so
the bound is infinite where ln((1 + ε) n) ≤ e δ. The defaults are those of the paper's heuristic, ε
= 0, β = ½, λ = 1 + 10/K and δ a fifth of the chance of an error, by which every arm is played twice
first; its theorem has λ = ((2 + β)/β)², as 9 with β = 1 and ε = 0.01. Cost: that of UCB1.

UGapE (Gabillon, Ghavamzadeh and Lazaric, 2012): unify the gap, play the less known of two.

B_a = max_{b≠a} U_b − L_a bounds what arm a lacks, with bounds μ̂ ± σ sqrt(2 ln(4K (t − 1)³/δ)/n):
UGapEc with Hoeffding's c = ½ for rewards in a range, whose σ is half of it. The arm with the least
B is held against the largest U of the others, and the one with fewer plays is played, until the
least B is at most ε: wrong by more than ε with a chance of at most δ. Cost: a root an arm and turn.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.memory import Floats, part
from belman.policies.optimism.light_tailed import light_tailed_indices
from belman.policies.optimism.ucb1 import MeanAndWidth
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import SubGaussian
from belman.policies.settings import FromZero, Inside, Positive, number
from belman.registry import register

UpTo100 = Annotated[float, number("[]", 0.0, 100.0, "from 0 to 100")]
#: Where params have their numbers: the factor of the bonus, 1 + ε, δ, and λ (0 for 1 + 10/K).
FACTOR, STRETCH, DELTA, SHARE = 0, 1, 2, 3


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    memory.mean[arm], memory.width[arm] = np.inf, 0.0
    if known(ledger, arm, 0.0):
        plays = ledger.plays[arm]
        grown = math.log(params[STRETCH] * plays) / params[DELTA]
        if grown > math.e:
            memory.mean[arm] = average(ledger, arm)
            reach = 2.0 * params[STRETCH] * math.log(grown) / plays
            memory.width[arm] = params[FACTOR] * math.sqrt(reach)


@kernel
def _lil_ucb_recommend(family, constants, params, ledger, memory, score):
    """The arm with the most plays, then the best average, which never outweighs a play."""
    for a in range(score.size):
        score[a] = ledger.plays[a]
        if known(ledger, a, 0.0):
            score[a] += 0.5 + math.atan(average(ledger, a)) / math.pi


@kernel
def _lil_ucb_finished(family, constants, params, ledger, memory):
    share = params[SHARE] if params[SHARE] > 0.0 else 1.0 + 10.0 / ledger.plays.size
    total, most = 0.0, 0.0
    for a in range(ledger.plays.size):
        if not known(ledger, a, 0.0):
            return False
        total += ledger.plays[a]
        most = max(most, ledger.plays[a])
    return most >= 1.0 + share * (total - most)


@register
class LilUCB(SubGaussian):
    """Play the largest bound until one arm has most of the plays; that arm is the answer.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    delta
        The δ of the bound; the chance of an error is about five times as large with the defaults.
    epsilon
        The ε of the bound, which widens it.
    beta
        The β of the bound: larger ones explore more.
    share
        How many times the plays of all others the answer must have (λ); by default 1 + 10/K.

    >>> LilUCB()
    LilUCB(sigma=None, delta=0.02, epsilon=0.0, beta=0.5, share=None)
    """

    delta: Inside = 0.02
    epsilon: UpTo100 = 0.0
    beta: UpTo100 = 0.5
    share: Positive | None = None

    name = "lil-ucb"
    kernels = PolicyKernels(
        light_tailed_indices, refresh, recommend=_lil_ucb_recommend, finished=_lil_ucb_finished
    )
    remembers = MeanAndWidth

    def params(self, family: Family) -> Floats:
        factor = (1.0 + self.beta) * (1.0 + math.sqrt(self.epsilon)) * self.deviation(family)
        return np.array([factor, 1.0 + self.epsilon, self.delta, self.share or 0.0])


class UGapEMemory(NamedTuple):
    """What each arm may lack, B, and the least of these."""

    lack: Floats = part("K", first=np.inf)
    least: Floats = part(1, first=np.inf)


@kernel
def _bounds(params, ledger, arm, level):
    width = params[0] * math.sqrt(2.0 * level / ledger.plays[arm])
    return average(ledger, arm) - width, average(ledger, arm) + width


@kernel
def ugape_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Arms never played first; then 2 for the arm to play and 1 for the other of the two."""
    memory.least[0] = np.inf
    first, second, unknown, holder = -np.inf, -np.inf, 0, -1
    for a in range(index.size):
        memory.lack[a] = np.inf
        if index[a] == index[a]:
            if not known(ledger, a, 0.0):
                unknown += 1
                continue
            upper = _bounds(params, ledger, a, turn_value)[1]
            if upper > first:
                first, second, holder = upper, first, a
            else:
                second = max(second, upper)
    held, rival, largest = -1, -1, -np.inf
    for a in range(index.size):
        if index[a] == index[a] and unknown == 0:
            other = second if a == holder else first
            memory.lack[a] = other - _bounds(params, ledger, a, turn_value)[0]
            if held < 0 or memory.lack[a] < memory.least[0]:
                memory.least[0], held = memory.lack[a], a
    for a in range(index.size):
        if index[a] == index[a] and unknown == 0 and a != held:
            upper = _bounds(params, ledger, a, turn_value)[1]
            if rival < 0 or upper > largest:
                largest, rival = upper, a
    for a in range(index.size):
        index[a] = 0.0 if known(ledger, a, 0.0) else np.inf
    if held >= 0:
        follows = rival < 0 or ledger.plays[held] <= ledger.plays[rival]
        index[held] = 2.0 if follows else 1.0
        if rival >= 0:
            index[rival] = 1.0 if follows else 2.0


@kernel
def _ugape_recommend(family, constants, params, ledger, memory, score):
    """The arm that lacks least; by averages before all are known."""
    for a in range(score.size):
        score[a] = -memory.lack[a]
        if memory.least[0] == np.inf:
            score[a] = average(ledger, a) if known(ledger, a, 0.0) else -np.inf


@kernel
def _ugape_finished(family, constants, params, ledger, memory):
    return memory.least[0] <= params[2]


@register
class UGapE(SubGaussian):
    """Find an arm within `epsilon` of the best, wrong with a chance of at most `delta`.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    delta
        The chance of a wrong answer.
    epsilon
        How far from the best an arm may be and count as the best, on the scale of rewards.

    >>> UGapE(epsilon=0.05)
    UGapE(sigma=None, delta=0.1, epsilon=0.05)
    """

    delta: Inside = 0.1
    epsilon: FromZero = 0.0

    name = "ugape"
    kernels = PolicyKernels(ugape_indices, recommend=_ugape_recommend, finished=_ugape_finished)
    remembers = UGapEMemory

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln(4K (t − 1)³/δ)."""
        plays = np.maximum(turns - 1.0, 1.0)
        return math.log(4.0 * arms / self.delta) + 3.0 * np.log(plays)
