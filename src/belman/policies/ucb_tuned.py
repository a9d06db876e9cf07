"""UCB-tuned (Auer et al., 2002): argmax_a μ̂_a + sqrt((ln t/n_a)·min(¼, V_a + sqrt(2 ln t/n_a)))."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known, variance
from belman.policies.bounded import Bounded
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import require

_SQRT_TWO = math.sqrt(2.0)


class Memory(NamedTuple):
    """Per arm: average (infinite before its first play), 1/sqrt(n), variance of scaled rewards."""

    mean: Floats
    root: Floats
    variance: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    memory.root[arm] = 1.0 / math.sqrt(ledger.plays[arm]) if played else 0.0
    memory.variance[arm] = variance(ledger, arm) / (params[0] * params[0]) if played else 0.0


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    scale, most = params[0], params[1]
    for a in range(index.size):
        width = turn_value * memory.root[a]
        root = math.sqrt(min(most, memory.variance[a] + _SQRT_TWO * width))
        index[a] = memory.mean[a] + scale * width * root


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class UCBTuned(Bounded):
    """Play the largest upper confidence bound, tuned by the variance of each arm.

    `cap` keeps that variance at ¼, the largest that rewards in [0, 1] can have. `range` is that of
    the rewards; None takes the family's own.

    >>> UCBTuned(cap=False)
    UCBTuned(range=None, cap=False)
    """

    cap: bool = True

    name = "ucb-tuned"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "cap", isinstance(self.cap, (bool, np.bool_)), "True or False")

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), 0.25 if self.cap else math.inf)

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(ln t)."""
        return np.sqrt(np.log(turns))
