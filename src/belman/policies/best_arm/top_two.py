"""Top-two policies for the best arm: a leader and a challenger, and which of the two is played.

The transport cost of (leader, a) is the evidence that the leader is better than a (`stopping.py`);
its least challenger is the arm that is hardest to tell from the leader. A share β of plays goes to
the leader: by a coin, or tracked, so that of the turns in which an arm led it was played in β. Ties
go to the arm with fewer plays, then to the first. Any stopping rule of the lab goes with it. Each
arm's side of the evidence is kept, so that a transport cost takes the weights of one mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.policies.averages import LEAST_SPREAD, ByAverages, keep_moments, keep_terms
from belman.policies.memory import POSITION, Floats, part
from belman.policies.policy_kernels import (
    Kernel,
    PolicyKernels,
    never_finished,
    score_by_expected_reward,
)
from belman.policies.settings import Inside

_NOBODY = -1
#: Where params have their numbers: the plays before an arm is known, β, and what a policy adds.
NEEDED, BETA, OWN = 0, 1, 2


class Memory(NamedTuple):
    """What is known of each arm, how often it led, and who leads and challenges in the turn."""

    mean: Floats = part("K", first=np.inf)  # average reward, infinite before the arm is known
    spread: Floats = part("K", first=1.0)  # variance of its rewards, where d needs it
    terms: Floats = part("T", "K")  # its side of the evidence
    scratch: Floats = part("T")
    led: Floats = part("K")  # turns in which it led
    followed: Floats = part("K")  # turns in which it led and was played
    pair: Floats = part(2, first=-1.0, whole=POSITION)  # leader and challenger


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    if keep_moments(ledger, memory, arm, params[NEEDED], np.inf):
        mean, spread, scratch = memory.mean[arm], memory.spread[arm], memory.scratch
        keep_terms(family, constants, mean, spread, scratch, memory.terms, arm)


@kernel
def beats(ledger, value, a, best, other):
    """Whether a larger value, or else fewer plays, speak for an arm and against the best so far."""
    return value > best or (value == best and ledger.plays[a] < ledger.plays[other])


@kernel
def best_average(family, constants, params, ledger, memory, turn_value, rng, index):
    """The empirical best: a leader."""
    best, result = -np.inf, _NOBODY
    for a in range(index.size):
        if index[a] == index[a] and (result < 0 or beats(ledger, memory.mean[a], a, best, result)):
            best, result = memory.mean[a], a
    return result


@kernel
def transport(family, constants, ledger, memory, leader, arm):
    """The evidence that the leader is better than an arm, 0 where it is not."""
    mean, other = memory.mean[leader], memory.mean[arm]
    if not mean > other:
        return 0.0
    plays, other_plays = ledger.plays[leader], ledger.plays[arm]
    spread = max(memory.spread[leader], LEAST_SPREAD)
    other_spread = max(memory.spread[arm], LEAST_SPREAD)
    x = family.common_mean(constants, plays, mean, spread, other_plays, other, other_spread)
    family.weights(constants, x, memory.scratch)
    against = max(family.evidence(memory.terms, leader, memory.scratch), 0.0)
    other_against = max(family.evidence(memory.terms, arm, memory.scratch), 0.0)
    return plays * against + other_plays * other_against


@kernel
def least_transport(family, constants, params, ledger, memory, leader, rng, index):
    """The arm that is hardest to tell from the leader: a challenger."""
    best, result = -np.inf, _NOBODY
    for a in range(index.size):
        if a != leader and index[a] == index[a]:
            cost = -transport(family, constants, ledger, memory, leader, a)
            if result < 0 or beats(ledger, cost, a, best, result):
                best, result = cost, a
    return result


@kernel
def coin_of_pair(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """β for the leader and 1 − β for the challenger, where both are certain."""
    if memory.pair[1] < 0.0 or memory.pair[0] < 0.0:
        return 1.0 / ties
    return params[BETA] if arm == memory.pair[0] else 1.0 - params[BETA]


@factory
def bundle_with(
    lead: Callable[..., int],
    challenge: Callable[..., int],
    tracked: bool,
    propensity: Kernel,
    refreshed: Kernel = refresh,
    recommend: Kernel = score_by_expected_reward,
    finished: Kernel = never_finished,
) -> PolicyKernels:
    """Kernels by a leader, a challenger, and whether β is tracked or tossed."""

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        """Arms not yet known first; then 2 for the arm to play, 1 for the other of the two."""
        memory.pair[0] = memory.pair[1] = _NOBODY
        unknown = 0
        for a in range(index.size):
            unknown += index[a] == index[a] and memory.mean[a] == np.inf
        if unknown == 0:
            leader = lead(family, constants, params, ledger, memory, turn_value, rng, index)
            rival = challenge(family, constants, params, ledger, memory, leader, rng, index)
            memory.pair[0], memory.pair[1] = leader, rival
        for a in range(index.size):
            index[a] = np.inf if memory.mean[a] == np.inf else 0.0
        if unknown > 0:
            return
        leader, rival = int(memory.pair[0]), int(memory.pair[1])
        index[leader] = 2.0
        if rival < 0:
            return
        if tracked:
            memory.led[leader] += 1.0
            follows = memory.followed[leader] <= params[BETA] * memory.led[leader]
            memory.followed[leader] += 1.0 if follows else 0.0
        else:
            follows = chance.uniform(rng) < params[BETA]
        index[leader] = 2.0 if follows else 1.0
        index[rival] = 1.0 if follows else 2.0

    return PolicyKernels(indices, refreshed, propensity, recommend=recommend, finished=finished)


@dataclass(frozen=True)
class TopTwo(ByAverages):
    """A policy that plays a leader in a share `beta` of turns, else its challenger."""

    beta: Inside = 0.5

    remembers: ClassVar[type[tuple[Any, ...]]] = Memory
