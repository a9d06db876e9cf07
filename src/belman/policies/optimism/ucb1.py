"""UCB1, LogUCB and UCB-tuned.

UCB1 (Auer, Cesa-Bianchi and Fischer, 2002): argmax_a μ̂_a + sqrt(2 ln t / n_a).

The bound inside Q-UCB (Krishnasamy et al., 2016): argmax_a μ̂_a + sqrt((ln t)^e / (2 n_a)).

UCB-tuned (Auer et al., 2002): argmax_a μ̂_a + sqrt((ln t/n_a)·min(¼, V_a + sqrt(2 ln t/n_a))).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import average, known, variance
from belman.policies.policy import Floats, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import MOST_EXPONENT, Bounded, is_number, require


class UCB1Memory(NamedTuple):
    """The average of every arm, infinite before its first play, and (high − low)/sqrt(n) (K)."""

    mean: Floats
    width: Floats


@kernel
def ucb1_refresh(family, law, params, ledger, memory, arm):
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    memory.width[arm] = params[0] / math.sqrt(ledger.plays[arm]) if played else 0.0


@kernel
def ucb1_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        index[a] = memory.mean[a] + turn_value * memory.width[a]


UCB1_KERNELS = PolicyKernels(ucb1_refresh, ucb1_indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class UCB1(Bounded):
    """Play the largest upper confidence bound that Hoeffding's inequality gives.

    `range` is that of the rewards; None takes the family's own.

    >>> UCB1(range=(0, 10))
    UCB1(range=(0.0, 10.0))
    """

    name = "ucb1"
    kernels = UCB1_KERNELS

    def memory(self, arms: int, dimension: int) -> UCB1Memory:
        return UCB1Memory(np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(2 ln t)."""
        return np.sqrt(2.0 * np.log(turns))


@dataclass(frozen=True)
class LogUCB(Bounded):
    """UCB1 with the bonus sqrt((ln t)^e / (2 n_a)): e is 2 in the codes of Q-UCB, 3 in its theory.

    >>> LogUCB()
    LogUCB(range=None, exponent=2.0)
    """

    exponent: float = 2.0

    name = "log-ucb"
    kernels = UCB1_KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.exponent) and 0.0 < self.exponent <= MOST_EXPONENT
        require(self, "exponent", fits, f"a positive number up to {MOST_EXPONENT:g}")

    def memory(self, arms: int, dimension: int) -> UCB1Memory:
        return UCB1Memory(np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt((ln t)^e / 2)."""
        return np.sqrt(0.5 * np.log(turns) ** self.exponent)


_SQRT_TWO = math.sqrt(2.0)


class UCBTunedMemory(NamedTuple):
    """Per arm: average (infinite before its first play), 1/sqrt(n), variance of scaled rewards."""

    mean: Floats
    root: Floats
    variance: Floats


@kernel
def ucb_tuned_refresh(family, law, params, ledger, memory, arm):
    played = known(ledger, arm, 0.0)
    memory.mean[arm] = average(ledger, arm) if played else np.inf
    memory.root[arm] = 1.0 / math.sqrt(ledger.plays[arm]) if played else 0.0
    memory.variance[arm] = variance(ledger, arm) / (params[0] * params[0]) if played else 0.0


@kernel
def ucb_tuned_indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    scale, most = params[0], params[1]
    for a in range(index.size):
        width = turn_value * memory.root[a]
        root = math.sqrt(min(most, memory.variance[a] + _SQRT_TWO * width))
        index[a] = memory.mean[a] + scale * width * root


UCB_TUNED_KERNELS = PolicyKernels(
    ucb_tuned_refresh, ucb_tuned_indices, choose_by_index, share_of_ties
)


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
    kernels = UCB_TUNED_KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "cap", isinstance(self.cap, (bool, np.bool_)), "True or False")

    def params(self, family: Family) -> Floats:
        return np.append(super().params(family), 0.25 if self.cap else math.inf)

    def memory(self, arms: int, dimension: int) -> UCBTunedMemory:
        return UCBTunedMemory(np.zeros(arms), np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(ln t)."""
        return np.sqrt(np.log(turns))
