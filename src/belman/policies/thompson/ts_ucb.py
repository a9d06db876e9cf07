"""Thompson draws held to bounds: TS-UCB and MOTS.

TS-UCB (Baek and Farias, 2020): play the arm that loses least per unit of confidence radius.

With R̂ the average over m Thompson draws of the largest, the arm is argmin_a (R̂ − μ_a)·sqrt(n_a);
arms never played come first.

MOTS, minimax optimal Thompson sampling (Jin, Xu, Shi, Xiao and Gu, 2021): clipped draws.

An arm draws θ from N(μ̂, σ²/(ρ n)), cut at μ̂ + σ sqrt(α ln⁺(T/(K n))/n), and the largest is played.
The theorem has ρ in (½, 1), and for each a large α; the defaults are this library's, with ρ next to
the 1 of Thompson sampling. Cost: a normal draw an arm and turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.averages import keep_average
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.scale import SubGaussian
from belman.policies.settings import Draws, Positive, PositiveShare, Turns
from belman.registry import register

_LARGEST = 1e300  # of R̂, so that differences stay defined


class TSUCBMemory(NamedTuple):
    """What a turn needs of each arm."""

    expected: Floats = part("K")  # expected reward
    root: Floats = part("K")  # sqrt(n)


@kernel
def ts_ucb_refresh(family, constants, params, ledger, memory, arm):
    memory.expected[arm] = family.expected_reward(constants, ledger.beliefs[arm])
    memory.root[arm] = math.sqrt(ledger.plays[arm])


@kernel
def ts_ucb_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    draws = int(params[0])
    total = 0.0
    for _ in range(draws):
        largest = -np.inf
        for a in range(index.size):
            largest = max(largest, family.sample_mean(constants, ledger.beliefs[a], rng))
        total += min(max(largest / draws, -_LARGEST), _LARGEST)
    for a in range(index.size):
        root = memory.root[a]
        index[a] = (memory.expected[a] - total) * root if root > 0.0 else np.inf


@kernel
def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
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
    below = _largest_below(family, constants, ledger, low)
    return max(_largest_below(family, constants, ledger, high) - below, 0.0) / ties


@kernel
def _largest_below(family, constants, ledger, x):
    """The chance that every arm's expected reward is at most x."""
    if not math.isfinite(x):
        return 1.0 if x > 0.0 else 0.0
    share = 1.0
    for a in range(ledger.plays.size):
        share *= family.mean_cdf(constants, ledger.beliefs[a], x)
    return share


@register
class TSUCB(Policy):
    """Play argmin_a (R̂ − μ_a)·sqrt(n_a), where R̂ averages the largest of `draws` Thompson draws.

    Parameters
    ----------
    draws
        The Thompson draws that are averaged.

    >>> TSUCB()
    TSUCB(draws=1)
    """

    draws: Draws = 1

    name = "ts-ucb"
    draws_from_beliefs = (
        False  # the distribution of an average of several largest draws has no closed form
    )
    kernels = PolicyKernels(ts_ucb_indices, ts_ucb_refresh, propensity)
    remembers = TSUCBMemory


#: Where params have their numbers.
SIGMA, HORIZON, RHO, ALPHA = 0, 1, 2, 3


class MOTSMemory(NamedTuple):
    """Per arm: the average (infinite before its first play), deviation and cap of its draws."""

    mean: Floats = part("K")
    width: Floats = part("K")
    cap: Floats = part("K")


@kernel
def mots_refresh(family, constants, params, ledger, memory, arm):
    if keep_average(ledger, memory, arm):
        plays = ledger.plays[arm]
        level = max(math.log(params[HORIZON] / (ledger.plays.size * plays)), 0.0)
        memory.width[arm] = params[SIGMA] / math.sqrt(params[RHO] * plays)
        reach = math.sqrt(params[ALPHA] * level / plays)
        memory.cap[arm] = memory.mean[arm] + params[SIGMA] * reach


@kernel
def mots_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = memory.mean[a]
        if index[a] < np.inf:
            index[a] = min(index[a] + memory.width[a] * chance.normal(rng), memory.cap[a])


@register
class MOTS(SubGaussian):
    """Thompson sampling with normal draws that are clipped from above, for a known horizon.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.
    horizon
        The number of turns of play.
    rho
        What divides the variance of the draws, above 0 and at most 1: 1 is that of Thompson
        sampling.
    alpha
        The factor inside of the root of the clip.

    >>> MOTS(1_000)
    MOTS(sigma=None, horizon=1000, rho=0.9999, alpha=2.0)
    """

    horizon: Turns
    rho: PositiveShare = 0.9999
    alpha: Positive = 2.0

    name = "mots"
    draws_from_beliefs = False
    kernels = PolicyKernels(mots_indices, mots_refresh, to_be_integrated)
    remembers = MOTSMemory
