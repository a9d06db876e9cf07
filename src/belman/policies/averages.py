"""The average and variance of an arm's rewards, without a prior; fading counts are fractions.

The interval of means that n rewards cannot tell from their average μ̂: n·d(μ̂, q) ≤ f.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy

#: The least variance, so that divergences divide by it.
LEAST_SPREAD = 1e-300
_FADED = 1e-200  # plays that are none any more: sums of rewards have lost their digits


def plays_needed(family: Family) -> float:
    """How many plays an arm needs before its average counts: more where d needs a variance.

    >>> from belman.families import Bernoulli, GaussianUnknown
    >>> plays_needed(Bernoulli()), plays_needed(GaussianUnknown())
    (0.0, 3.0)
    """
    return 0.0 if family.mean_fixes_distribution else family.plays_for_spread


class ByAverages(Policy):
    """A policy that knows an arm by its average; params begin with the plays that takes."""

    def about(self, family: Family) -> tuple[float, ...]:
        return (plays_needed(family),)


class Mean(NamedTuple):
    """The average of every arm, infinite before its first play."""

    mean: Floats = part("K")


@kernel
def known(ledger, arm, needed):
    """Whether an arm has been played, and at least `needed` times."""
    return ledger.plays[arm] > _FADED and ledger.plays[arm] >= needed


@kernel
def average(ledger, arm):
    """The mean reward of an arm that was played."""
    return ledger.sums[arm] / ledger.plays[arm]


@kernel
def keep_average(ledger, memory, arm):
    """Renew an arm's average, infinite before its first play; whether there was one."""
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    return played


@kernel
def variance(ledger, arm):
    """The mean square of the rewards of an arm that was played, less the square of their mean."""
    mean = average(ledger, arm)
    return max(ledger.squares[arm] / ledger.plays[arm] - mean * mean, 0.0)


@kernel
def keep_moments(ledger, memory, arm, needed, unknown):
    """Renew an arm's average, `unknown` before it is known, and its variance, where d `needed`
    plays to have one; whether it is known.
    """
    memory.mean[arm], memory.spread[arm] = unknown, 1.0
    if not known(ledger, arm, needed):
        return False
    memory.mean[arm] = average(ledger, arm)
    if needed > 0.0:
        memory.spread[arm] = max(variance(ledger, arm), LEAST_SPREAD)
    return True


@kernel
def keep_terms(family, constants, mean, spread, scratch, terms, arm):
    """Renew the arm's side of the evidence, a column of `terms`, by its mean and spread."""
    family.terms(constants, mean, spread, scratch)
    for i in range(scratch.size):
        terms[i, arm] = scratch[i]


@kernel
def keep_terms_of(family, constants, belief, worth, mean, spread, scratch, terms, arm):
    """Renew it by all that a belief knows, taken for `worth` rewards of that mean and spread."""
    family.terms_of(family, constants, belief, worth, mean, spread, False, scratch)
    for i in range(scratch.size):
        terms[i, arm] = scratch[i]


@kernel
def keep_standing(family, constants, needed, ledger, memory, arm):
    """Renew an arm's average, −∞ before it is known, and its side of the evidence."""
    memory.mean[arm], memory.terms[:, arm] = -np.inf, 0.0
    if known(ledger, arm, needed):
        mean, spread = average(ledger, arm), variance(ledger, arm)
        belief, plays, scratch = ledger.beliefs[arm], ledger.plays[arm], memory.scratch
        keep_terms_of(family, constants, belief, plays, mean, spread, scratch, memory.terms, arm)
        memory.mean[arm] = mean


@kernel
def against(family, ledger, memory, arm):
    """The evidence against an arm, n·d(μ̂, μ), with the weights of μ in the scratch."""
    return ledger.plays[arm] * max(family.evidence(memory.terms, arm, memory.scratch), 0.0)


_STEPS = 100
_ENOUGH = 1e-7  # of the distance to the average: the last step leaves about its 1.6th power


@kernel
def farthest(family, constants, plays, mean, spread, f, end):
    """The interval's end on the side of `end`: secants on sqrt(d(μ̂, q)), nearly straight in q."""
    if f <= 0.0 or mean == end:
        return mean
    goal = math.sqrt(f / plays)
    if math.isfinite(end) and math.sqrt(max(family.d(constants, mean, end, spread), 0.0)) <= goal:
        return end
    near, far, last, last_height = mean, end, mean, 0.0
    q = 0.5 * (mean + end) if math.isfinite(end) else mean + math.copysign(max(abs(mean), 1.0), end)
    for _ in range(_STEPS):
        height = math.sqrt(max(family.d(constants, mean, q, spread), 0.0))
        if height <= goal:
            near = q
        else:
            far = q
        there = far
        if math.isfinite(height) and height != last_height:
            there = q + (goal - height) * (q - last) / (height - last_height)
            if abs(there - q) <= _ENOUGH * abs(q - mean):
                return min(max(there, min(near, far)), max(near, far))
            last, last_height = q, height
        if min(near, far) < there < max(near, far):
            q = there
        elif math.isinf(far):
            q = mean + 2.0 * (q - mean)
        else:
            q = 0.5 * (near + far)
    return near
