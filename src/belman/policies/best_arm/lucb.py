"""LUCB, KL-LUCB (Kalyanakrishnan et al., 2012; Kaufmann and K., 2013): doubt the weakest leader.

In each round the leader with the lowest lower bound and the other arm with the highest upper bound
are played; it has had enough when these bounds no longer overlap. Bounds are the ends of {q : n_a
d(μ̂_a, q) ≤ β(t, δ)}, with the Gaussian d of Hoeffding's inequality (LUCB) or the family's own
(KL-LUCB).

LUCB++ (Simchowitz, Jamieson and Recht, 2017): LUCB whose leaders and others doubt differently.

In rounds, the leader with the lowest μ̂ − U(n, δ/2(K − m)) and the other arm with the highest μ̂ +
U(n, δ/2m) are played, until they overlap by at most ε. U(n, δ) = σ sqrt(2 (ln(1/δ) + 3 ln ln(1/δ) +
1.5 ln ln(e n))/n), the bound of Kaufmann, Cappé and Garivier (2016) for one arm of n plays (theirs
for two arms of t plays together has e t/2). It is wrong by more than ε with a chance of at most δ.
Cost: a root an arm and round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import factory, kernel
from belman.errors import PolicyError, unknown
from belman.families.family import Family
from belman.policies.averages import average, farthest, known, plays_needed, variance
from belman.policies.memory import POSITION, Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick_most
from belman.policies.scale import SubGaussian, ends_of_rewards, interval
from belman.policies.settings import Arms, FromZero, Inside
from belman.registry import register

_NOBODY = -1.0
#: Constants of the rate that is proved, in Kaufmann and Kalyanakrishnan's Theorem 2.
_ALPHA, _K1 = 1.1, 405.5
#: Where params have their numbers: how many arms are wanted, the plays before an arm is known, and
#: the ends of means or rewards.
WANTED, NEEDED, LOW, HIGH = 0, 1, 2, 3


class Memory(NamedTuple):
    """Who leads, whose turn is next in this round, and how far bounds overlapped when it began."""

    leads: Floats = part("K", whole=(0, 1))
    partner: Floats = part(1, first=_NOBODY, whole=POSITION)
    overlap: Floats = part(1, first=np.inf)


@kernel
def hoeffding_bound(family, constants, params, ledger, arm, f, up):
    radius = (params[HIGH] - params[LOW]) * math.sqrt(f / (2.0 * ledger.plays[arm]))
    return average(ledger, arm) + (radius if up else -radius)


@kernel
def always_passes(family, constants, params, ledger, arm, f, level, up):
    """Where a bound costs no more than a test of it."""
    return True


@kernel
def _spread(params, ledger, arm):
    return max(variance(ledger, arm), 1e-300) if params[NEEDED] > 0.0 else 1.0


@kernel
def kl_bound(family, constants, params, ledger, arm, f, up):
    spread, end = _spread(params, ledger, arm), params[HIGH] if up else params[LOW]
    return farthest(family, constants, ledger.plays[arm], average(ledger, arm), spread, f, end)


@kernel
def kl_passes(family, constants, params, ledger, arm, f, level, up):
    """Whether the bound of an arm lies beyond a level, by one divergence."""
    mean = average(ledger, arm)
    if not np.isfinite(level) or (mean >= level if up else mean <= level):
        return True
    return ledger.plays[arm] * family.d(constants, mean, level, _spread(params, ledger, arm)) < f


@factory
def bundle_with(bound: Callable[..., float], passes: Callable[..., bool]) -> PolicyKernels:
    """Kernels by a bound at the exploration rate f, and a test whether it passes a level."""

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        """Arms not yet known first, then the two arms of the round, then the others' averages."""
        unknown = 0
        for a in range(index.size):
            index[a] = average(ledger, a) if known(ledger, a, params[NEEDED]) else np.inf
            unknown += index[a] == np.inf
        if unknown > 0:
            memory.partner[0], memory.overlap[0] = _NOBODY, np.inf
            return
        if memory.partner[0] == _NOBODY:
            pick_most(index, int(params[WANTED]), rng, memory.leads)
            weakest, strongest = np.inf, -np.inf
            first = second = 0
            for a in range(index.size):
                if memory.leads[a] > 0.0:
                    if passes(family, constants, params, ledger, a, turn_value, weakest, False):
                        lower = bound(family, constants, params, ledger, a, turn_value, False)
                        if lower < weakest:
                            weakest, first = lower, a
                elif passes(family, constants, params, ledger, a, turn_value, strongest, True):
                    upper = bound(family, constants, params, ledger, a, turn_value, True)
                    if upper > strongest:
                        strongest, second = upper, a
                index[a] = -ledger.plays[a]
            memory.overlap[0] = strongest - weakest
            memory.partner[0] = float(second) if strongest > -np.inf else _NOBODY
            index[first] = np.inf
        else:
            index[int(memory.partner[0])] = np.inf
            memory.partner[0] = _NOBODY

    return PolicyKernels(indices, finished=_finished)


@kernel
def _finished(family, constants, params, ledger, memory):
    return memory.overlap[0] <= 0.0


#: Exploration rates β(t, δ) by name, as functions of the turns, the number of arms and δ.
RATES: dict[str, Callable[[Floats, int, float], Floats]] = {
    "customary": lambda turns, arms, delta: np.log1p(np.log(turns)) - math.log(delta),
    "proven": lambda turns, arms, delta: _proven(turns, math.log(_K1 * arms / delta)),
}


def _proven(turns: Floats, doubt: float) -> Floats:
    x = doubt + _ALPHA * np.log(turns)
    return x + np.log(x)


@dataclass(frozen=True)
class Rounds(Policy):
    """A policy that plays in rounds the weakest of m leaders and the strongest other, until they
    are told apart but for a chance `delta`.
    """

    delta: Inside = 0.1
    m: Arms = 1

    remembers = Memory

    def check(self, family: Family, arms: int) -> None:
        super().check(family, arms)
        if self.m >= arms:
            asked = f"{self.name} is asked for the {self.m} best of {arms} arms"
            raise PolicyError(f"{asked}: m must be less than their number")


@register
class KLLUCB(Rounds):
    """Play in rounds the weakest of the m leaders and the strongest other, by the family's d.

    `rate` 'customary' has β = ln((1 + ln t)/δ), and 'proven' x + ln x with x = ln(405.5 K t^1.1/δ),
    with which it is wrong with a chance of at most δ where it stops by its own rule.

    Parameters
    ----------
    delta
        The chance of a wrong answer.
    m
        The number of best arms to find.
    rate
        The level of confidence, 'customary' or 'proven'.

    >>> KLLUCB(delta=0.05)
    KLLUCB(delta=0.05, m=1, rate='customary')
    """

    rate: str = "customary"

    name = "kl-lucb"
    kernels = bundle_with(kl_bound, kl_passes)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate not in RATES:
            raise PolicyError(unknown("rate", self.rate, RATES))

    def params(self, family: Family) -> Floats:
        return np.array([float(self.m), plays_needed(family), *family.mean_range])

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """β(t, δ)."""
        return RATES[self.rate](turns, arms, self.delta)


@register
class LUCB(KLLUCB):
    """LUCB by Hoeffding's inequality, for rewards between two bounds.

    Parameters
    ----------
    delta
        The chance of a wrong answer.
    m
        The number of best arms to find.
    rate
        The level of confidence, 'customary' or 'proven', as of `KLLUCB`.
    range
        The two ends of rewards; by default the family's own.

    >>> LUCB()
    LUCB(delta=0.1, m=1, rate='customary', range=None)
    """

    range: tuple[float, float] | None = None

    name = "lucb"
    kernels = bundle_with(hoeffding_bound, always_passes)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "range", interval(self.name, self.range))

    def params(self, family: Family) -> Floats:
        return np.array([float(self.m), 0.0, *self.about(family)])

    def about(self, family: Family) -> tuple[float, ...]:
        return ends_of_rewards(self.name, self.range, family)


#: Where params have their numbers, after how many arms are wanted and a 0: σ, δ and ε.
SIGMA, DELTA, SLACK = 2, 3, 4


@kernel
def radius(sigma, plays, doubt):
    """U(n, δ) with ln(1/δ) = `doubt`."""
    level = doubt + 3.0 * math.log(max(doubt, 1.0))
    level += 1.5 * math.log(max(1.0 + math.log(plays), 1.0))
    return sigma * math.sqrt(2.0 * level / plays)


@kernel
def iterated_bound(family, constants, params, ledger, arm, f, up):
    wanted = params[WANTED]
    others = wanted if up else max(ledger.plays.size - wanted, 1.0)
    reach = radius(params[SIGMA], ledger.plays[arm], math.log(2.0 * others / params[DELTA]))
    return average(ledger, arm) + (reach - params[SLACK] if up else -reach)


@register
class LUCBPlusPlus(Rounds, SubGaussian):
    """Find the m best arms, within `epsilon`, wrong with a chance of at most `delta`.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    delta
        The chance of a wrong answer.
    m
        The number of best arms to find.
    epsilon
        How far from the best an arm may be and count as the best, on the scale of rewards.

    >>> LUCBPlusPlus(epsilon=0.05)
    LUCBPlusPlus(sigma=None, delta=0.1, m=1, epsilon=0.05)
    """

    epsilon: FromZero = 0.0

    name = "lucb++"
    kernels = bundle_with(iterated_bound, always_passes)

    def params(self, family: Family) -> Floats:
        return np.array([float(self.m), 0.0, self.deviation(family), self.delta, self.epsilon])
