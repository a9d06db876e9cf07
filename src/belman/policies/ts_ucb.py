"""TS-UCB (Baek and Farias, 2020): play the arm that loses least per unit of confidence radius.

With R̂ the average over m Thompson draws of the largest, the arm is argmin_a (R̂ − μ_a)·sqrt(n_a);
arms never played come first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index
from belman.policies.settings import MOST_DRAWS, is_whole, require

_LARGEST = 1e300  # of R̂, so that differences stay defined


class Memory(NamedTuple):
    """What a turn needs of each arm."""

    expected: Floats  # (K) expected reward
    root: Floats  # (K) sqrt(n)


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.expected[arm] = family.expected_reward(law, ledger.beliefs[arm])
    memory.root[arm] = math.sqrt(ledger.plays[arm])


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    draws = int(params[0])
    total = 0.0
    for _ in range(draws):
        largest = -np.inf
        for a in range(index.size):
            largest = max(largest, family.sample_mean(law, ledger.beliefs[a], mind))
        total += min(max(largest / draws, -_LARGEST), _LARGEST)
    for a in range(index.size):
        root = memory.root[a]
        index[a] = (memory.expected[a] - total) * root if root > 0.0 else np.inf


@kernel
def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """With one draw, R̂ ≤ x has chance Π_a F_a(x), and each arm is least in an interval of R̂."""
    if memory.root[arm] == 0.0 or memory.expected[arm] == np.inf:
        return 1.0 / ties
    if params[0] > 1.0:
        return np.nan
    low, high = -np.inf, np.inf
    for a in range(memory.root.size):
        if closed.size == 0 or not closed[a]:
            lead = memory.root[arm] - memory.root[a]
            cross = (
                memory.expected[arm] * memory.root[arm] - memory.expected[a] * memory.root[a]
            ) / lead
            if lead > 0.0:
                high = min(high, cross)
            elif lead < 0.0:
                low = max(low, cross)
    below = _largest_below(family, law, ledger, low)
    return max(_largest_below(family, law, ledger, high) - below, 0.0) / ties


@kernel
def _largest_below(family, law, ledger, x):
    """The chance that every arm's expected reward is at most x."""
    if not math.isfinite(x):
        return 1.0 if x > 0.0 else 0.0
    share = 1.0
    for a in range(ledger.plays.size):
        share *= family.mean_cdf(law, ledger.beliefs[a], x)
    return share


KERNELS = PolicyKernels(refresh, indices, choose_by_index, propensity)


@dataclass(frozen=True)
class TSUCB(Policy):
    """Play argmin_a (R̂ − μ_a)·sqrt(n_a), where R̂ averages the largest of `draws` Thompson draws.

    >>> TSUCB()
    TSUCB(draws=1)
    """

    draws: int = 1

    name = "ts-ucb"
    draws_from_beliefs = False  # the law of an average of several largest draws has no closed form
    kernels = KERNELS

    def __post_init__(self) -> None:
        fits = is_whole(self.draws, 1, MOST_DRAWS)
        require(self, "draws", fits, "a whole number from 1 to a million")

    def params(self, family: Family) -> Floats:
        return np.array([float(self.draws)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms))
