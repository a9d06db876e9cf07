"""Explore-then-commit: every arm `explore` times, then argmax_a μ̂_a, chosen once, for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known
from belman.policies.policy import Floats, Policy, PolicyKernels, no_refresh, pick, share_of_ties
from belman.policies.settings import is_whole, require

_UNDECIDED = -1.0


class Memory(NamedTuple):
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
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
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


KERNELS = PolicyKernels(no_refresh, indices, choose, share_of_ties)


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Play every arm `explore` times, then the one with the best average for ever.

    >>> ExploreThenCommit(explore=20)
    ExploreThenCommit(explore=20)
    """

    explore: int

    name = "explore-then-commit"
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_whole(self.explore, 1)
        require(self, "explore", fits, "a whole number of plays of each arm, from 1 up")

    def params(self, family: Family) -> Floats:
        return np.array([float(self.explore)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.full(1, _UNDECIDED))

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"committed": (-1, arms - 1)}
