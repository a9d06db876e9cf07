"""Policies for rewards of any origin: estimates of every arm's total from the arm that was played.

A reward divided by the chance with which its arm was played is, on average, what the arm would have
given. So a policy keeps the chances of its last turn in which each arm was chosen; a reward that
comes late is weighed by these. Params begin with the range of rewards, low and high − low.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.families.family import Family
from belman.policies.bounded import Bounded, ends_of_rewards
from belman.policies.policy import (
    Floats,
    PolicyKernels,
    choose_by_index,
    no_refresh,
    rearranged,
)


class Memory(NamedTuple):
    """What K arms are estimated to have given."""

    totals: Floats  # (K) estimates of the sum of scaled losses, or rewards
    shares: Floats  # (K) the chances of the last turn
    played: Floats  # (K) the chance with which each arm was last chosen
    rate: Floats  # (1) the learning rate of the last turn


@factory
def bundle_with(weigh: Callable[..., None], learn: Callable[..., None]) -> PolicyKernels:
    """Kernels that play by `weigh(params, memory, turn_value)`, which fills the shares."""

    @kernel
    def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
        weigh(params, memory, turn_value)
        total = 0.0
        for a in range(index.size):
            total += memory.shares[a] if index[a] == index[a] else 0.0
        best, arm = -np.inf, 0
        for a in range(index.size):
            if index[a] == index[a]:
                memory.shares[a] /= total
                index[a] = math.log(max(memory.shares[a], 1e-300)) + chance.gumbel(mind)
                if index[a] > best:
                    best, arm = index[a], a
            else:
                memory.shares[a] = 0.0
        memory.played[arm] = memory.shares[arm]

    @kernel
    def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
        return memory.shares[arm]

    return PolicyKernels(no_refresh, indices, choose_by_index, propensity, learn=learn)


@kernel
def scaled(params, reward):
    """A reward on the scale from 0 to 1."""
    return min(max((reward - params[0]) / params[1], 0.0), 1.0)


class Adversarial(Bounded):
    """A policy that keeps estimates of totals, and plays every arm with a chance that it knows."""

    leaves_all_a_chance = True

    def params(self, family: Family) -> Floats:
        low, high = ends_of_rewards(self.name, self.range, family)
        return np.array([low, high - low])

    def memory(self, arms: int, dimension: int) -> Memory:
        even = np.full(arms, 1.0 / arms)
        return Memory(np.zeros(arms), even, even.copy(), np.ones(1))

    def resettled(self, memory: Memory, fresh: Memory, places: Sequence[int]) -> Memory:
        """A new arm starts even with the best of the others."""
        kept = [memory.totals[old] for old in places if old >= 0]
        totals = np.full(len(places), self.even(np.array(kept)) if kept else 0.0)
        return fresh._replace(totals=rearranged(memory.totals, totals, 0, places))

    def even(self, totals: Floats) -> float:
        """The estimate of an arm that is as good as the best."""
        raise NotImplementedError

    def forget(self, memory: Memory, arm: int) -> None:
        """Estimates cannot be made from a belief: the arm is taken for as good as the best."""
        memory.totals[arm] = (
            self.even(np.delete(memory.totals, arm)) if len(memory.totals) > 1 else 0.0
        )
