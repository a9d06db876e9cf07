"""The kernels of a policy, the defaults of those that it need not bring, and how the arm with the
largest index is picked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from belman import chance
from belman.engine import Bundle, inlined_kernel, kernel
from belman.policies.dealing import deal_by_asks

Kernel = Callable[..., Any]


@kernel
def score_by_expected_reward(family, constants, params, ledger, memory, score):
    """Fill E_a[X] of each arm; an arm whose expectation is infinite comes last."""
    for a in range(score.size):
        expected = family.expected_reward(constants, ledger.beliefs[a])
        score[a] = expected if np.isfinite(expected) else -np.inf


@kernel
def never_finished(family, constants, params, ledger, memory):
    """For policies that have no stopping rule of their own."""
    return False


@kernel
def learns_nothing(family, constants, params, ledger, memory, arm, reward):
    """For policies to which beliefs say all."""


@kernel
def no_refresh(family, constants, params, ledger, memory, arm):
    """For policies that read the ledger alone."""


@kernel
def leader(value, index):
    """The largest value of the arms that can be played now."""
    leading = -np.inf
    for a in range(index.size):
        if value[a] > leading and index[a] == index[a]:
            leading = value[a]
    return leading


@kernel
def pick(index, rng):
    """The arm with the largest index and how many share it, one of them drawn uniformly."""
    best = -np.inf
    first, ties = 0, 0
    for a in range(index.size):
        if index[a] > best:
            best, first, ties = index[a], a, 1
        elif index[a] == best:
            first = a if ties == 0 else first
            ties += 1
    if ties > 1:
        return _nth_tied(index, best, chance.below(rng, ties)), ties
    return first, ties


@kernel
def _nth_tied(index, best, rank):
    for a in range(index.size):
        if index[a] == best:
            if rank == 0:
                return a
            rank -= 1
    return 0


@kernel
def pick_most(score, count, rng, chosen):
    """Mark the `count` largest scores (ties drawn uniformly) in `chosen`, and use them up."""
    for a in range(score.size):
        chosen[a] = 0.0
    for _ in range(count):
        arm, _ = pick(score, rng)
        chosen[arm] = 1.0
        score[arm] = np.nan


@inlined_kernel
def choose_by_index(
    policy, family, constants, params, ledger, memory, turn, turn_value, rng, index
):
    """Compute every index and play the largest."""
    policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    return pick(index, rng)


@kernel
def choose_open(
    policy, family, constants, params, ledger, memory, turn, turn_value, rng, index, closed
):
    """Compute every index and play the largest of an arm that is not closed."""
    for a in range(index.size):
        index[a] = np.nan if closed[a] else 0.0
    policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    for a in range(index.size):
        if closed[a]:
            index[a] = np.nan
    return pick(index, rng)


@kernel
def any_open(arms, closed, rng):
    """Draw an arm that is not closed, uniformly; return it and the number of open arms."""
    count = 0
    for a in range(arms):
        count += closed.size == 0 or not closed[a]
    rank = chance.below(rng, count)
    for a in range(arms):
        if closed.size == 0 or not closed[a]:
            if rank == 0:
                return a, count
            rank -= 1
    return 0, count


@kernel
def share_of_ties(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """A policy that draws nothing but ties plays each of the best arms with the same chance."""
    return 1.0 / ties


@kernel
def to_be_integrated(
    family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties
):
    """A policy whose indices are draws: `Policy.chances` needs only the chances of being best."""
    return np.nan


@dataclass(frozen=True)
class PolicyKernels(Bundle):
    """The bundle of kernels of a policy, where … stands for family, constants,
    params, ledger, memory.

    | kernel | what it does |
    |---|---|
    | `indices(…, turn, turn_value, rng, index)` | fills the index (K) of every arm |
    | `refresh(…, arm)` | renews the memory of an arm whose ledger has changed |
    | `propensity(…, turn, turn_value, closed, arm, ties)` | its chance; NaN if to be integrated |
    | `learn(…, arm, reward)` | takes in a reward that beliefs do not keep, before `refresh` |
    | `choose(policy, …, turn, turn_value, rng, index)` | the arm to play and the number of ties |
    | `recommend(…, score)` | fills a score (K): the arms with the largest are recommended |
    | `finished(…)` | whether the policy's own stopping rule has had enough |
    | `deal(policy, …, turn, turn_value, n, rng, deal)` | shares out n decisions: `dealing.py` |

    What `indices` finds in the index is NaN at arms that cannot be played now: a policy that
    measures arms from a leader takes the best of the others (`leader`).
    """

    indices: Kernel
    refresh: Kernel = no_refresh
    propensity: Kernel = share_of_ties
    learn: Kernel = learns_nothing
    choose: Kernel = choose_by_index
    recommend: Kernel = score_by_expected_reward
    finished: Kernel = never_finished
    deal: Kernel = deal_by_asks
