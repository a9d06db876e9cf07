"""Top-two rules by transport costs: EB-TC, EB-TCε and T3C.

EB-TC (Jourdan et al., 2022): the empirical best leads, the least transport cost challenges.

By the family's own divergence. β is tracked, as their later papers do it; the first tossed a coin.
Of two arms that look alike it may stare at the wrong one for long: EB-TCε does not. Cost: a
transport cost an arm and turn.

EB-TCε (Jourdan, Degenne and Kaufmann, 2023): top two for an arm within ε of the best.

The best average leads, and argmin_a Z_a = (μ̂_* − μ̂_a + ε)/sqrt(1/n_* + 1/n_a) challenges, with β
tracked. The slack keeps it from staring at two equal arms, and it is good at any time, with or
without a stopping rule. Its own: once min Z²/2σ² is above ln((1 + ln t)/δ), as the lab's customary
rule has it, the best average is within ε of the best arm but for a chance of δ; the paper proves a
larger threshold. Cost: a root an arm and turn.

T3C (Shang et al., 2020): a Thompson draw leads, the least transport cost challenges.

Where top-two Thompson draws again until another arm wins, which takes ever longer, the challenger
is the arm that is hardest to tell from the leader. Cost: a draw and a transport cost an arm and
turn.
"""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.best_arm.top_two import (
    OWN,
    TopTwo,
    beats,
    best_average,
    bundle_with,
    least_transport,
    refresh,
)
from belman.policies.memory import Floats
from belman.policies.policy_kernels import share_of_ties, to_be_integrated
from belman.policies.scale import SubGaussian
from belman.policies.settings import FromZero, Inside
from belman.registry import register


@register
class EBTC(TopTwo):
    """Play the best average in a share β of turns, else the arm hardest to tell from it.

    Parameters
    ----------
    beta
        The share of turns that go to the leader.

    >>> EBTC()
    EBTC(beta=0.5)
    """

    name = "eb-tc"
    kernels = bundle_with(best_average, least_transport, True, share_of_ties)


#: Where params have more numbers: ε is `OWN`, then δ and σ.
DELTA, SIGMA = OWN + 1, OWN + 2


@kernel
def apart(params, ledger, memory, leader, arm):
    """How many deviations of their difference an arm is from being ε better than the leader."""
    lead = memory.mean[leader] - memory.mean[arm] + params[OWN]
    return lead / math.sqrt(1.0 / ledger.plays[leader] + 1.0 / ledger.plays[arm])


@kernel
def least_apart(family, constants, params, ledger, memory, leader, rng, index):
    best, result = -np.inf, -1
    for a in range(index.size):
        if a != leader and index[a] == index[a]:
            cost = -apart(params, ledger, memory, leader, a)
            if result < 0 or beats(ledger, cost, a, best, result):
                best, result = cost, a
    return result


@kernel
def _recommend(family, constants, params, ledger, memory, score):
    for a in range(score.size):
        score[a] = memory.mean[a] if memory.mean[a] < np.inf else -np.inf


@kernel
def _finished(family, constants, params, ledger, memory):
    leader, turns = 0, 0.0
    for a in range(memory.mean.size):
        if memory.mean[a] == np.inf:
            return False
        turns += ledger.plays[a]
        leader = a if memory.mean[a] > memory.mean[leader] else leader
    least = np.inf
    for a in range(memory.mean.size):
        if a != leader:
            least = min(least, apart(params, ledger, memory, leader, a) / params[SIGMA])
    return 0.5 * least * least > math.log((1.0 + math.log(turns)) / params[DELTA])


@register
class EBTCEpsilon(TopTwo, SubGaussian):
    """EB-TC that is content with an arm within `epsilon` of the best, on the scale of rewards.

    It stops by itself where it knows how far rewards stray: `sigma`, None for the family's own.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    beta
        The share of turns that go to the leader.
    epsilon
        How far from the best an arm may be and count as the best, on the scale of rewards.
    delta
        The chance of a wrong answer.

    >>> EBTCEpsilon(epsilon=0.05)
    EBTCEpsilon(sigma=None, beta=0.5, epsilon=0.05, delta=0.1)
    """

    epsilon: FromZero = 0.1
    delta: Inside = 0.1

    name = "eb-tc-epsilon"
    kernels = bundle_with(
        best_average, least_apart, True, share_of_ties, refresh, _recommend, _finished
    )

    def check(self, family: Family, arms: int) -> None:
        """Any family plays; one without a deviation is never finished."""

    def params(self, family: Family) -> Floats:
        try:
            sigma = self.deviation(family)
        except PolicyError:
            sigma = math.inf
        return np.append(super().params(family), sigma)


@kernel
def largest_draw(family, constants, params, ledger, memory, turn_value, rng, index):
    best, result = -np.inf, -1
    for a in range(index.size):
        if index[a] == index[a]:
            drawn = family.sample_mean(constants, ledger.beliefs[a], rng)
            if result < 0 or drawn > best:
                best, result = drawn, a
    return result


@register
class T3C(TopTwo):
    """Play the largest of a Thompson draw with chance β, else the arm hardest to tell from it.

    Parameters
    ----------
    beta
        The chance of the leader's turn.

    >>> T3C()
    T3C(beta=0.5)
    """

    name = "t3c"
    draws_from_beliefs = False  # the challenger of every possible leader is not kept
    kernels = bundle_with(largest_draw, least_transport, False, to_be_integrated)
