"""IMED (Honda and Takemura, 2015): argmin_a n_a d(μ̂_a, μ̂*) + ln n_a, μ̂* the best average."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family, term_count
from belman.policies.averages import against, keep_standing, plays_needed
from belman.policies.policy import (
    Floats,
    Policy,
    PolicyKernels,
    choose_by_index,
    leader,
    share_of_ties,
)


class Memory(NamedTuple):
    """Per arm: the average and ln n, −∞ before it is known, and its side of the evidence."""

    mean: Floats  # (K)
    log_plays: Floats  # (K)
    terms: Floats  # (`term_count`, K)
    scratch: Floats  # (`term_count`)


@kernel
def refresh(family, law, params, ledger, memory, arm):
    keep_standing(family, law, params[0], ledger, memory, arm)
    known = memory.mean[arm] > -np.inf
    memory.log_plays[arm] = math.log(ledger.plays[arm]) if known else -np.inf


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    leading = leader(memory.mean, index)
    if leading == -np.inf:
        index[:] = np.inf
        return
    family.weights(law, leading, memory.scratch)
    for a in range(index.size):
        index[a] = -(against(family, ledger, memory, a) + memory.log_plays[a])


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class IMED(Policy):
    """Play the arm with the least evidence against its being the best, and few plays.

    >>> IMED()
    IMED()
    """

    name = "imed"
    kernels = KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([plays_needed(family)])

    def memory(self, arms: int, dimension: int) -> Memory:
        terms = term_count(dimension)
        return Memory(np.zeros(arms), np.zeros(arms), np.zeros((terms, arms)), np.zeros(terms))
