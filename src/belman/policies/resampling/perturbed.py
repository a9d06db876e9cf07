"""Perturbed histories: NPTS weighs rewards anew, PHE and Giro add made-up ones.

Non-parametric Thompson sampling (Riou and Honda, 2020): Dirichlet weights on what was seen.

Each reward so far, and one at the upper end of the range, gets a weight of a uniform Dirichlet
distribution; the arm with the largest weighted average is played. Rewards lie on a grid
(`empirical.py`). Cost: a gamma draw per arm and point of the grid that was seen, 0.35 of Thompson's
turns at 20 arms with coins; memory: 65 counts an arm.

Policies that mix made-up rewards into an arm's own, and play the largest mean of both.

PHE, perturbed-history exploration (Kveton et al., 2019): coins mixed into the history.

To the s rewards of an arm, scaled to [0, 1], ⌈a s⌉ fair coins are added anew in every turn, and the
largest mean of both is played. The theorem needs a > 2, and the authors' code has 2; the default
here explores less, without that proof. No history is kept: sums suffice. Cost: a binomial draw an
arm and turn, 0.3 of Thompson's turns at 20 arms.

Giro, garbage in, reward out (Kveton et al., 2019): a bootstrap of rewards and pseudo-rewards.

To the s rewards of an arm a s of 0 and a s of 1 are added, a s rounded at random as in the authors'
code; as many are drawn with replacement, and the arm with the largest mean of these is played.
Rewards lie on a grid (`empirical.py`). Cost: a binomial draw per arm and point of the grid that
was seen, 0.2 of Thompson's turns at 20 arms with coins; memory: 65 counts an arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.averages import known
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.resampling.empirical import (
    CELLS,
    SEEN,
    Empirical,
    binomial,
    bootstrap_mean,
    empirical_learn,
    whole_grid_learn,
)
from belman.policies.scale import Bounded
from belman.policies.settings import number
from belman.registry import register

_PER_REWARD = number("(]", 0.0, 1_000.0, "a positive number up to 1000")


@kernel
def npts_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        if memory.seen[0, a] == 0.0:
            index[a] = np.inf
            continue
        total = chance.gamma(rng, 1.0)
        drawn = total
        for i in range(CELLS + 1):
            if memory.counts[a, i] > 0.0:
                weight = chance.gamma(rng, memory.counts[a, i])
                total += weight
                drawn += weight * i / CELLS
        index[a] = params[0] + params[1] * drawn / total


@register
class NPTS(Empirical):
    """Thompson sampling for any rewards in a range.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.

    >>> NPTS(range=(0, 10))
    NPTS(range=(0.0, 10.0))
    """

    name = "npts"
    draws_from_beliefs = False
    kernels = PolicyKernels(npts_indices, propensity=to_be_integrated, learn=empirical_learn)


@dataclass(frozen=True)
class PseudoRewards(Bounded):
    """A policy with `a` pseudo-rewards per reward; params: the low end of rewards, their width, a.

    The draws are none from beliefs.
    """

    a: Annotated[float, _PER_REWARD] = 1.0

    draws_from_beliefs = False


@kernel
def phe_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = np.inf
        if known(ledger, a, 0.0):
            plays = ledger.plays[a]
            coins = math.ceil(params[2] * plays)
            total = (ledger.sums[a] - params[0] * plays) / params[1]
            drawn = (total + binomial(rng, coins, 0.5)) / (plays + coins)
            index[a] = params[0] + params[1] * drawn


@register
class PHE(PseudoRewards):
    """Play the largest average after `a` fair coins per reward were mixed in.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    a
        The fair coins that come with every reward.

    >>> PHE(a=2.1)
    PHE(range=None, a=2.1)
    """

    a: Annotated[float, _PER_REWARD] = 1.1

    name = "phe"
    kernels = PolicyKernels(phe_indices, propensity=to_be_integrated)


@kernel
def rounded(rng, x):
    """x up with the chance of its fraction, else down: x on average."""
    whole = math.floor(x)
    if x > whole and chance.uniform(rng) < x - whole:
        whole += 1
    return whole


@kernel
def giro_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        plays = memory.seen[SEEN, a]
        index[a] = np.inf
        if plays > 0.0:
            extra = rounded(rng, params[2] * plays)
            drawn = bootstrap_mean(rng, memory.counts[a], plays, extra)
            index[a] = params[0] + params[1] * drawn


@register
class Giro(PseudoRewards, Empirical):
    """Play the largest mean of a bootstrap; `a` pseudo-rewards of each end per reward.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    a
        The pseudo-rewards of each end that come with every reward.

    >>> Giro()
    Giro(range=None, a=1.0)
    """

    name = "giro"
    kernels = PolicyKernels(giro_indices, propensity=to_be_integrated, learn=whole_grid_learn)
