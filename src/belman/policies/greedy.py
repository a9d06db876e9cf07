"""Policies that play the best average: always, but for a share of turns, or after a while.

Greedy: argmax_a E_a[X], the largest expected reward under the beliefs.

ε-greedy: every arm once, then any arm with chance ε, else argmax_a μ̂_a, the best average.

Explore-then-commit: every arm `explore` times, then argmax_a μ̂_a, chosen once, for ever.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.averages import average, known
from belman.policies.memory import POSITION, Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick
from belman.policies.settings import Share, whole
from belman.registry import register


class Held(NamedTuple):
    """The index of every arm, which changes with its ledger alone."""

    held: Floats = part("K")


@kernel
def held_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = memory.held[a]


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    memory.held[arm] = family.expected_reward(constants, ledger.beliefs[arm])


@register
class Greedy(Policy):
    """Play the arm with the largest expected reward, arms of infinite expectation first.

    A sceptic's baseline: with many arms and a short horizon it is hard to beat, and in the long run
    it is stuck.

    >>> Greedy()
    Greedy()
    """

    name = "greedy"
    kernels = PolicyKernels(held_indices, refresh)
    remembers = Held


@kernel
def epsilon_greedy_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    exploring = chance.uniform(rng) < params[0]
    for a in range(index.size):
        if not known(ledger, a, 0.0):
            index[a] = np.inf
        else:
            index[a] = 0.0 if exploring else average(ledger, a)


@kernel
def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
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


@register
class EpsilonGreedy(Policy):
    """Play the best average so far, and with chance `epsilon` any arm.

    Parameters
    ----------
    epsilon
        The chance of a turn that goes to any arm.

    >>> EpsilonGreedy()
    EpsilonGreedy(epsilon=0.1)
    """

    epsilon: Share = 0.1

    name = "epsilon-greedy"
    kernels = PolicyKernels(epsilon_greedy_indices, propensity=propensity)

    @property
    def leaves_all_a_chance(self) -> bool:
        return self.epsilon > 0.0


class ExploreThenCommitMemory(NamedTuple):
    """The arm it is committed to, or −1."""

    committed: Floats = part(1, first=-1.0, whole=POSITION)


@kernel
def explored(params, ledger, turn):
    """Whether every arm has its plays and as many turns are over: asks not told yet count too."""
    fewest = np.inf
    for a in range(ledger.plays.size):
        fewest = min(fewest, ledger.plays[a])
    return fewest >= params[0] and turn > params[0] * ledger.plays.size


@kernel
def explore_then_commit_indices(
    family, constants, params, ledger, memory, turn, turn_value, rng, index
):
    """The fewest plays first; then the averages, with the arm it is committed to above all."""
    committed = memory.committed[0] >= 0.0
    by_average = committed or explored(params, ledger, turn)
    for a in range(index.size):
        index[a] = average(ledger, a) if by_average and known(ledger, a, 0.0) else -ledger.plays[a]
    if committed:
        index[int(memory.committed[0])] = np.inf


@kernel
def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """The first choice among all arms that is made by averages is the last."""
    policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    arm, ties = pick(index, rng)
    if memory.committed[0] < 0.0 and explored(params, ledger, turn):
        memory.committed[0] = arm
    return arm, ties


@register
class ExploreThenCommit(Policy):
    """Play every arm `explore` times, then the one with the best average for ever.

    Parameters
    ----------
    explore
        The number of plays of each arm before the choice.

    >>> ExploreThenCommit(explore=20)
    ExploreThenCommit(explore=20)
    """

    explore: Annotated[int, whole(1, "a whole number of plays of each arm, from 1 up")]

    name = "explore-then-commit"
    kernels = PolicyKernels(explore_then_commit_indices, choose=choose)
    remembers = ExploreThenCommitMemory
