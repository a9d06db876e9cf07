"""Sub-sampling duels (Baudry, Kaufmann and Maillard, 2020): in rounds, challengers face a leader.

The leader has the most plays (then the best average). In a round each other arm is played whose
average is at least that of as many rewards of the leader, taken as one block, or that has at most
sqrt(ln r) plays in round r; if there is none, the leader. No distribution of rewards is needed, nor
bounds.

Of every arm the running sums of its last `kept` rewards are kept, so that a block costs one
subtraction and memory is bounded; a challenger with more plays than that meets a block of `kept`.

LB-SDA (Baudry, Russac and Cappé, 2021): sub-sampling duels by the last block of the leader.

It draws nothing after the first turns. Cost: a subtraction an arm and round; memory: `kept` sums an
arm, as in their LB-SDA-LM with a limit that does not grow.

RB-SDA (Baudry, Kaufmann and Maillard, 2020): sub-sampling duels by a random block of the leader.

Cost: a draw and a subtraction an arm and round; memory: `kept` sums an arm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import Kernel, PolicyKernels, share_of_ties, to_be_integrated
from belman.policies.settings import whole
from belman.registry import register

_MOST = 100_000  # rewards kept of an arm
_KEPT = whole(1, f"a whole number of rewards from 1 to {_MOST:,}", _MOST)


class Memory(NamedTuple):
    """What was seen of K arms, and who is to be played in this round. A history cannot be made from
    a belief: it begins anew.
    """

    sums: Floats = part("K", "positions", told=True)  # running sums, the n-th at n modulo kept + 1
    seen: Floats = part("K", told=True, whole=(0, 2**53))  # how many rewards
    total: Floats = part("K", told=True)  # their sum
    listed: Floats = part("K", whole=(0, 1))
    rounds: Floats = part(1, told=True, whole=(0, 2**53))


@kernel
def learn(family, constants, params, ledger, memory, arm, reward):
    memory.seen[arm] += 1.0
    memory.total[arm] += reward
    memory.sums[arm, int(memory.seen[arm]) % memory.sums.shape[1]] = memory.total[arm]


@kernel
def block_mean(memory, arm, last, size):
    """The mean of a block of rewards of an arm that ends with the `last` one."""
    positions = memory.sums.shape[1]
    return (memory.sums[arm, last % positions] - memory.sums[arm, (last - size) % positions]) / size


@kernel
def _lead(memory, index):
    """The open arm with the most plays, then the best average."""
    leader = -1
    for a in range(index.size):
        if index[a] == index[a]:
            more = leader < 0 or memory.seen[a] > memory.seen[leader]
            same = leader >= 0 and memory.seen[a] == memory.seen[leader]
            if more or (same and memory.total[a] > memory.total[leader]):
                leader = a
    return leader


@factory
def bundle_with(last_of: Callable[..., int], propensity: Kernel) -> PolicyKernels:
    """Kernels by `last_of(rng, seen, kept, size)`, where the leader's block of that size ends."""

    @kernel
    def renew(memory, leader, rng, index):
        """The list of a new round, among the arms that are open."""
        memory.rounds[0] += 1.0
        forced = math.sqrt(math.log(memory.rounds[0]))
        seen, kept, listed = memory.seen[leader], memory.sums.shape[1] - 1, 0
        for a in range(index.size):
            memory.listed[a] = 0.0
            plays = memory.seen[a]
            if a != leader and index[a] == index[a] and plays < seen:
                size = min(int(plays), kept)
                last = last_of(rng, int(seen), kept, size)
                mean = memory.total[a] / plays
                if plays <= forced or mean >= block_mean(memory, leader, last, size):
                    memory.listed[a] = 1.0
                    listed += 1
        if listed == 0:
            memory.listed[leader] = 1.0

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        """Arms never played, then the first on the list, which is struck off, then the others."""
        unseen, waiting = 0, 0
        for a in range(index.size):
            if index[a] == index[a]:
                unseen += memory.seen[a] == 0.0
                waiting += memory.listed[a] > 0.0
        if unseen == 0 and waiting == 0:
            renew(memory, _lead(memory, index), rng, index)
        struck = unseen > 0
        for a in range(index.size):
            closed = index[a] != index[a]
            index[a] = np.inf if memory.seen[a] == 0.0 else 0.0
            if not struck and not closed and memory.listed[a] > 0.0:
                index[a], memory.listed[a], struck = 1.0, 0.0, True

    return PolicyKernels(indices, propensity=propensity, learn=learn)


@dataclass(frozen=True)
class SubSampling(Policy):
    """A policy of sub-sampling duels, that keeps the last `kept` rewards of every arm."""

    kept: Annotated[int, _KEPT] = 512

    learns_from_asks = True
    remembers = Memory

    @property
    def positions(self) -> int:
        """How many running sums it keeps of an arm."""
        return self.kept + 1

    def forget(self, memory: Memory, arm: int) -> None:
        super().forget(memory, arm)
        memory.listed[arm] = 0.0


@kernel
def last_end(rng, seen, kept, size):
    """The last block ends with the last reward."""
    return seen


@register
class LBSDA(SubSampling):
    """Play arms that are not worse than the leader in its last rewards, as many as they have.

    Parameters
    ----------
    kept
        The rewards kept of each arm, the newest ones.

    >>> LBSDA(kept=1_000)
    LBSDA(kept=1000)
    """

    name = "lb-sda"
    kernels = bundle_with(last_end, share_of_ties)


@kernel
def random_end(rng, seen, kept, size):
    """Where a block drawn uniformly among those that are kept ends."""
    return seen - chance.below(rng, min(seen, kept) - size + 1)


@register
class RBSDA(SubSampling):
    """Play arms that are not worse than the leader in as many of its rewards in a row, at random.

    Parameters
    ----------
    kept
        The rewards kept of each arm, the newest ones.

    >>> RBSDA()
    RBSDA(kept=512)
    """

    name = "rb-sda"
    draws_from_beliefs = False
    kernels = bundle_with(random_end, to_be_integrated)
