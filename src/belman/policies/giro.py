"""Giro, garbage in, reward out (Kveton et al., 2019): a bootstrap of rewards and pseudo-rewards.

To the s rewards of an arm a s of 0 and a s of 1 are added, a s rounded at random as in the authors'
code; as many are drawn with replacement, and the arm with the largest mean of these is played.
Rewards lie on a grid (`whole_grid.py`). Cost: a binomial draw per arm and point of the grid that
was seen, 0.2 of Thompson's turns at 20 arms with coins; memory: 65 counts an arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.empirical import CELLS, Empirical, Memory
from belman.policies.policy import PolicyKernels, choose_by_index, no_refresh, to_be_integrated
from belman.policies.pseudo_rewards import PseudoRewards
from belman.policies.whole_grid import ROWS, SEEN, bootstrap_mean, learn


@kernel
def rounded(mind, x):
    """x up with the chance of its fraction, else down: x on average."""
    whole = math.floor(x)
    if x > whole and chance.uniform(mind) < x - whole:
        whole += 1
    return whole


@kernel
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    for a in range(index.size):
        plays = memory.seen[SEEN, a]
        index[a] = np.inf
        if plays > 0.0:
            extra = rounded(mind, params[2] * plays)
            drawn = bootstrap_mean(mind, memory.counts[a], plays, extra)
            index[a] = params[0] + params[1] * drawn


KERNELS = PolicyKernels(no_refresh, indices, choose_by_index, to_be_integrated, learn=learn)


@dataclass(frozen=True)
class Giro(PseudoRewards, Empirical):
    """Play the largest mean of a bootstrap; `a` pseudo-rewards of each end per reward.

    >>> Giro()
    Giro(range=None, a=1.0)
    """

    name = "giro"
    kernels = KERNELS

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros((arms, CELLS + 1)), np.zeros((ROWS, arms)))
