"""Policies that play the best average: always, but for a share of turns, or after a while.

Greedy: argmax_a E_a[X], the largest expected reward under the beliefs.

ε-greedy: every arm once, then any arm with chance ε, else argmax_a μ̂_a, the best average.

Explore-then-commit: every arm `explore` times, then argmax_a μ̂_a, chosen once, for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.averages import average, known
from belman.policies.policy import (
    Floats,
    Policy,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    pick,
    share_of_ties,
)
from belman.policies.settings import is_number, is_whole, require


class GreedyMemory(NamedTuple):
    """The expected reward of every arm (K)."""

    expected: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.expected[arm] = family.expected_reward(law, ledger.beliefs[arm])


@kernel
def greedy_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.expected[a]


GREEDY_KERNELS = PolicyKernels(refresh, greedy_indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Greedy(Policy):
    """Play the arm with the largest expected reward, arms of infinite expectation first.

    A sceptic's baseline: with many arms and a short horizon it is hard to beat, and in the long run
    it is stuck.

    >>> Greedy()
    Greedy()
    """

    name = "greedy"
    kernels = GREEDY_KERNELS

    def memory(self, arms: int, dimension: int) -> GreedyMemory:
        return GreedyMemory(np.zeros(arms))


@kernel
def epsilon_greedy_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    exploring = chance.uniform(mind) < params[0]
    for a in range(index.size):
        if not known(ledger, a, 0.0):
            index[a] = np.inf
        else:
            index[a] = 0.0 if exploring else average(ledger, a)


@kernel
def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """ε/|open| + (1 − ε)·[arm among the best]/|best|; 1/ties among arms never played."""
    if not known(ledger, arm, 0.0):
        return 1.0 / ties
    best, sharing, count = -np.inf, 0, 0
    for a in range(ledger.plays.size):
        if closed.size == 0 or not closed[a]:
            count += 1
            mean = average(ledger, a)
            if mean > best:
                best, sharing = mean, 1
            elif mean == best:
                sharing += 1
    greedy = 1.0 / sharing if average(ledger, arm) == best else 0.0
    return params[0] / count + (1.0 - params[0]) * greedy


EPSILON_GREEDY_KERNELS = PolicyKernels(
    no_refresh, epsilon_greedy_indices, choose_by_index, propensity
)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Play the best average so far, and with chance `epsilon` any arm.

    >>> EpsilonGreedy()
    EpsilonGreedy(epsilon=0.1)
    """

    epsilon: float = 0.1

    name = "epsilon-greedy"
    kernels = EPSILON_GREEDY_KERNELS

    def __post_init__(self) -> None:
        fits = is_number(self.epsilon) and 0.0 <= self.epsilon <= 1.0
        require(self, "epsilon", fits, "a number from 0 to 1")

    @property
    def leaves_all_a_chance(self) -> bool:
        return self.epsilon > 0.0


_UNDECIDED = -1.0


class ExploreThenCommitMemory(NamedTuple):
    """The arm it is committed to (1), or −1."""

    committed: Floats


@kernel
def explored(params, ledger, turn):
    """Whether every arm has its plays and as many turns are over: asks not told yet count too."""
    fewest = np.inf
    for a in range(ledger.plays.size):
        fewest = min(fewest, ledger.plays[a])
    return fewest >= params[0] and turn > params[0] * ledger.plays.size


@kernel
def explore_then_commit_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """The fewest plays first; then the averages, with the arm it is committed to above all."""
    committed = memory.committed[0] >= 0.0
    by_average = committed or explored(params, ledger, turn)
    for a in range(index.size):
        index[a] = average(ledger, a) if by_average and known(ledger, a, 0.0) else -ledger.plays[a]
    if committed:
        index[int(memory.committed[0])] = np.inf


@kernel
def choose(policy, family, law, params, ledger, memory, turn, turn_value, mind, index):
    """The first choice among all arms that is made by averages is the last."""
    policy.indices(family, law, params, ledger, memory, turn, turn_value, mind, index)
    arm, ties = pick(index, mind)
    if memory.committed[0] < 0.0 and explored(params, ledger, turn):
        memory.committed[0] = arm
    return arm, ties


EXPLORE_THEN_COMMIT_KERNELS = PolicyKernels(
    no_refresh, explore_then_commit_indices, choose, share_of_ties
)


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Play every arm `explore` times, then the one with the best average for ever.

    >>> ExploreThenCommit(explore=20)
    ExploreThenCommit(explore=20)
    """

    explore: int

    name = "explore-then-commit"
    kernels = EXPLORE_THEN_COMMIT_KERNELS

    def __post_init__(self) -> None:
        fits = is_whole(self.explore, 1)
        require(self, "explore", fits, "a whole number of plays of each arm, from 1 up")

    def memory(self, arms: int, dimension: int) -> ExploreThenCommitMemory:
        return ExploreThenCommitMemory(np.full(1, _UNDECIDED))

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"committed": (-1, arms - 1)}
