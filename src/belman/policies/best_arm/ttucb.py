"""Top-two rules by bounds and by improvement: TTUCB and TTEI.

TTUCB (Jourdan and Degenne, 2023): the largest bound leads, the least transport cost challenges.

The bound is the largest q with n d(μ̂, q) ≤ 2.64 ln t (α = s = 1.2 of the paper, whose divergence is
Gaussian), with β tracked. Cost: that of KL-UCB and of EB-TC.

TTEI, top-two expected improvement (Qin, Klabjan and Russo, 2017), for nearly normal beliefs.

With s_a = σ/sqrt(n_a) and f(x) = x Φ(x) + φ(x), the leader has the largest expected improvement s_a
f((μ̂_a − μ̂*)/s_a) on the best average, and the challenger the largest on the leader, with both
variances added; a coin of chance β decides. Beliefs are those of a flat prior. Cost: two roots an
arm and turn, and normal tails of arms that may be chosen, which hold it to 0.48 of Thompson's turns
at 20 arms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import plays_needed
from belman.policies.best_arm.top_two import (
    OWN,
    TopTwo,
    beats,
    bundle_with,
    coin_of_pair,
    least_transport,
)
from belman.policies.memory import POSITION, Floats, part
from belman.policies.optimism.kl_bound import race, renew, survey
from belman.policies.policy_kernels import leader, share_of_ties
from belman.policies.scale import SubGaussian
from belman.registry import register

_RATE = 1.2 * (1.0 + 1.2)


class Memory(NamedTuple):
    """What a top-two policy keeps, what a bound is searched by (`kl_bound.py`), and the bounds."""

    mean: Floats = part("K", first=np.inf)
    spread: Floats = part("K", first=1.0)
    terms: Floats = part("T", "K")
    scratch: Floats = part("T")
    led: Floats = part("K")
    followed: Floats = part("K")
    pair: Floats = part(2, first=-1.0, whole=POSITION)
    level: Floats = part("K")
    ceiling: Floats = part("K")
    bound: Floats = part("K")
    guess: Floats = part(1)
    weights: Floats = part("T")
    bounds: Floats = part("K")  # of the turn


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    renew(family, params[OWN:], ledger, memory, arm)


@kernel
def largest_bound(family, constants, params, ledger, memory, turn_value, rng, index):
    """By a race, which leaves out who cannot win; if an arm that is closed wins, by a survey."""
    race(family, params[OWN:], ledger, memory, turn_value, memory.bounds)
    result = _largest_open(ledger, memory, index)
    if memory.bounds[result] == -np.inf:
        survey(family, params[OWN:], ledger, memory, turn_value, memory.bounds)
        result = _largest_open(ledger, memory, index)
    return result


@kernel
def _largest_open(ledger, memory, index):
    best, result = -np.inf, -1
    for a in range(index.size):
        if index[a] == index[a] and (
            result < 0 or beats(ledger, memory.bounds[a], a, best, result)
        ):
            best, result = memory.bounds[a], a
    return result


@register
class TTUCB(TopTwo):
    """Play the arm with the largest upper bound in a share β of turns, else its hardest rival.

    Parameters
    ----------
    beta
        The share of turns that go to the leader.

    >>> TTUCB()
    TTUCB(beta=0.5)
    """

    name = "ttucb"
    kernels = bundle_with(largest_bound, least_transport, True, share_of_ties, refresh)
    remembers = Memory

    def params(self, family: Family) -> Floats:
        scale = (0.0, plays_needed(family), 0.0, 1.0, family.mean_range[1], *family.constants)
        return np.append(super().params(family), scale)

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """2.64 ln t."""
        return _RATE * np.log(turns)


_ROOT = math.sqrt(0.5)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


@kernel
def log_improvement(gap, width):
    """ln E(X)⁺ of a normal X of that mean and deviation; far out by its asymptote."""
    x = gap / width
    if x < -20.0:
        return math.log(width) - 0.5 * x * x - 2.0 * math.log(-x) + math.log(_DENSITY)
    tail = 0.5 * math.erfc(-x * _ROOT)
    return math.log(width * max(x * tail + _DENSITY * math.exp(-0.5 * x * x), 1e-300))


@kernel
def _most(ledger, memory, sigma, level, other, skipped, index):
    """The largest improvement on `level`, of an arm or (`other` > 0) of its lead on 1/other plays.

    A smaller gap with a smaller width improves less, whatever the numbers.
    """
    best, best_gap, best_width, result = -np.inf, 0.0, 0.0, -1
    for a in range(index.size):
        if a == skipped or index[a] != index[a]:
            continue
        gap, width = memory.mean[a] - level, sigma * math.sqrt(1.0 / ledger.plays[a] + other)
        if result >= 0 and gap < best_gap and width < best_width:
            continue
        value = log_improvement(gap, width)
        if result < 0 or beats(ledger, value, a, best, result):
            best, best_gap, best_width, result = value, gap, width, a
    return result


@kernel
def most_improvement(family, constants, params, ledger, memory, turn_value, rng, index):
    return _most(ledger, memory, params[OWN], leader(memory.mean, index), 0.0, -1, index)


@kernel
def most_improvement_on(family, constants, params, ledger, memory, first, rng, index):
    other = 1.0 / ledger.plays[first]
    return _most(ledger, memory, params[OWN], memory.mean[first], other, first, index)


@register
class TTEI(TopTwo, SubGaussian):
    """Play the arm of the largest expected improvement with chance β, else that on this arm.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    beta
        The chance of the leader's turn.

    >>> TTEI()
    TTEI(sigma=None, beta=0.5)
    """

    name = "ttei"
    kernels = bundle_with(most_improvement, most_improvement_on, False, coin_of_pair)

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), self.deviation(family))

    def check(self, family: Family, arms: int) -> None:
        self.deviation(family)
