"""The bound of KL-UCB and its kin: the largest q with n·d(μ̂, q) ≤ f, the turn's value plus
the arm's own.

Once the weights of q are known, n·d(μ̂_a, q) costs a few multiply-adds. So an arm is tested against
the best bound so far, and its own is searched only if it is larger.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.averages import average, keep_terms_of, known, variance
from belman.policies.memory import Floats, part

_STEPS = 200
_ENOUGH = 1e-8  # of the distance to the mean: the last step leaves about its 1.6th power
_STRETCH = 1e3
_SLACK = 1e-9

#: Where params have their numbers: the horizon (if it is known), the plays before an arm is known,
#: the range of rewards as low and high − low, and the largest mean there is, scaled; the
#: distribution of the divergence follows.
HORIZON, NEEDED, LOW, WIDTH, TOP, DISTRIBUTION = 0, 1, 2, 3, 4, 5


class Memory(NamedTuple):
    """Of every arm what its bound depends on, scaled; of the last turn where to look first."""

    mean: Floats = part("K")  # average reward, infinite before the arm is known
    spread: Floats = part("K", first=1.0)  # variance of its rewards, where d needs it
    level: Floats = part("K")  # what the arm adds to the value of the turn
    ceiling: Floats = part("K")  # the f from which its bound is the largest mean there is
    bound: Floats = part("K")  # the last one that was searched
    terms: Floats = part("T", "K")  # its side of the evidence
    guess: Floats = part(1)  # the best bound of the last turn
    weights: Floats = part("T")  # of the bound that arms are tested against
    scratch: Floats = part("T")


@kernel
def renew(source, params, ledger, memory, arm):
    """Renew the memory of an arm; `source` is the family of the divergence."""
    constants = params[DISTRIBUTION:]
    memory.mean[arm] = memory.bound[arm] = np.inf
    if known(ledger, arm, params[NEEDED]):
        mean = min((average(ledger, arm) - params[LOW]) / params[WIDTH], params[TOP])
        memory.mean[arm] = memory.bound[arm] = mean
        memory.spread[arm] = (
            variance(ledger, arm) / (params[WIDTH] * params[WIDTH]) if params[NEEDED] > 0.0 else 1.0
        )
        belief, plays, spread = ledger.beliefs[arm], ledger.plays[arm], memory.spread[arm]
        scratch = memory.scratch
        keep_terms_of(source, constants, belief, plays, mean, spread, scratch, memory.terms, arm)
        memory.ceiling[arm] = np.inf
        if params[TOP] < np.inf:
            source.weights(constants, params[TOP], memory.scratch)
            evidence = source.evidence(memory.terms, arm, memory.scratch)
            memory.ceiling[arm] = ledger.plays[arm] * evidence


@kernel
def search(source, params, ledger, memory, arm, f):
    """The bound of an arm: secants in a bracket on sqrt(n·d(μ̂, q)), which is nearly straight in q.

    It starts at the same q for all arms, so that arms of equal records have equal bounds.
    """
    constants = params[DISTRIBUTION:]
    mean, top = memory.mean[arm], params[TOP]
    if f <= 0.0 or f >= memory.ceiling[arm]:
        return mean if f <= 0.0 else top
    goal = math.sqrt(f)
    low, high = mean, top
    last, last_height = mean, 0.0
    q = memory.guess[0]
    if not mean < q < top:
        q = 0.5 * (mean + top) if top < np.inf else mean + max(abs(mean), 1.0)
    for _ in range(_STEPS):
        source.weights(constants, q, memory.scratch)
        evidence = ledger.plays[arm] * source.evidence(memory.terms, arm, memory.scratch)
        height = math.sqrt(max(evidence, 0.0))
        if height < goal:
            low = q
        else:
            high = q
        there = (
            q + (goal - height) * (q - last) / (height - last_height)
            if height != last_height
            else np.inf
        )
        if abs(there - q) <= _ENOUGH * (q - mean):
            return min(max(there, low), high)
        last, last_height = q, height
        q = _inside(there, mean, low, high)
    return high


@kernel
def _inside(there, mean, low, high):
    """The point proposed if between low and high, else one far out or in the (geometric) middle."""
    far = min(high, mean + _STRETCH * (low - mean)) if low > mean else high
    if low < there < far:
        return there
    if high == np.inf:
        return far
    if low > mean and high - mean > 4.0 * (low - mean):
        return mean + math.sqrt((low - mean) * (high - mean))
    return 0.5 * (low + high)


@kernel
def survey(source, params, ledger, memory, turn_value, index):
    """Fill the bound of every arm."""
    for a in range(index.size):
        index[a] = np.inf
        if memory.mean[a] < np.inf:
            bound = search(source, params, ledger, memory, a, turn_value + memory.level[a])
            index[a] = params[LOW] + params[WIDTH] * bound


@kernel
def race(source, params, ledger, memory, turn_value, index):
    """Fill the bound of every arm that may have the largest, and −∞ for the others."""
    leader = 0
    for a in range(index.size):
        index[a] = np.inf if memory.mean[a] == np.inf else -np.inf
        if memory.bound[a] > memory.bound[leader]:
            leader = a
    if memory.mean[leader] == np.inf:
        return
    best = search(source, params, ledger, memory, leader, turn_value + memory.level[leader])
    source.weights(params[DISTRIBUTION:], best, memory.weights)
    for a in range(index.size):
        f = turn_value + memory.level[a]
        if _same_record(ledger, memory, a, leader):
            memory.bound[a] = best
            index[a] = params[LOW] + params[WIDTH] * best
        elif ledger.plays[a] * source.evidence(memory.terms, a, memory.weights) <= f + _SLACK * (
            1.0 + abs(f)
        ):
            memory.bound[a] = search(source, params, ledger, memory, a, f)
            index[a] = params[LOW] + params[WIDTH] * memory.bound[a]
            if memory.bound[a] > best:
                leader, best = a, memory.bound[a]
                source.weights(params[DISTRIBUTION:], best, memory.weights)
    memory.guess[0] = best


@kernel
def _same_record(ledger, memory, arm, other):
    same = memory.mean[arm] == memory.mean[other] and ledger.plays[arm] == ledger.plays[other]
    return same and memory.spread[arm] == memory.spread[other]
