"""Rewards in a range as they came: counts on a grid, and K_inf, the least KL to a distribution of
that mean.

A reward between two points of the grid is shared by them so that its mean is kept, so memory is
bounded. K_inf(F, μ) = max over 0 ≤ λ ≤ 1/(1 − μ) of E ln(1 − λ(X − μ)) (Honda and Takemura, 2010).

Binomial and hypergeometric draws: outwards from the most likely count, in O(deviation) steps.

Histories without their order, in bounded memory: whole counts of rewards on a grid.

Each reward is entered at a point of that grid, and what rounding took from it is
added to the next one of the arm: sums are kept to half a cell, and sub-samples and bootstraps can
be drawn from counts. Rewards on the grid (coins, ratings) are kept as they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.memory import Floats, part
from belman.policies.scale import Bounded, scaled

CELLS = 64
_STEPS = 60
_CLOSE = 1e-10

#: Rows of `seen`: rewards of an arm, their sum on the scale from 0 to 1, and what rounding left.
SEEN, SUM, CARRY = 0, 1, 2


class Memory(NamedTuple):
    """What was seen of K arms. A grid cannot be made from a belief: it begins anew."""

    counts: Floats = part("K", CELLS + 1, told=True)  # at 0, 1/CELLS, …, 1
    seen: Floats = part(3, "K", told=True)


class Empirical(Bounded):
    """A policy that keeps the rewards of every arm on a grid over their range."""

    remembers = Memory


@kernel
def empirical_learn(family, constants, params, ledger, memory, arm, reward):
    """Share a reward between the two points beside it."""
    inside = scaled(params, reward)
    position = min(int(inside * CELLS), CELLS - 1)
    above = inside * CELLS - position
    memory.counts[arm, position] += 1.0 - above
    memory.counts[arm, position + 1] += above
    memory.seen[0, arm] += 1.0
    memory.seen[1, arm] += inside


@kernel
def slope_at(counts, mean, tilt):
    """The slope in λ of Σ c ln(1 − λ(x − μ)), and its bend."""
    slope, bend = 0.0, 0.0
    for i in range(counts.size):
        if counts[i] > 0.0:
            apart = i / CELLS - mean
            share = apart / (1.0 - tilt * apart)
            slope -= counts[i] * share
            bend -= counts[i] * share * share
    return slope, bend


@kernel
def k_inf(counts, mean):
    """n·K_inf of an arm against a mean, by Newton's method in a bracket."""
    if mean >= 1.0:
        return np.inf if counts.sum() > counts[CELLS] else 0.0
    low, high = 0.0, 1.0 / (1.0 - mean)
    if slope_at(counts, mean, 0.0)[0] <= 0.0:
        return 0.0
    tilt = high
    if counts[CELLS] > 0.0 or slope_at(counts, mean, high)[0] < 0.0:
        tilt = 0.5 * high
        for _ in range(_STEPS):
            slope, bend = slope_at(counts, mean, tilt)
            if slope > 0.0:
                low = tilt
            else:
                high = tilt
            new = tilt - slope / bend
            if not low < new < high:
                new = 0.5 * (low + high)
            done = abs(new - tilt) <= _CLOSE * high
            tilt = new
            if done:
                break
    total = 0.0
    for i in range(counts.size):
        if counts[i] > 0.0:
            total += counts[i] * math.log(max(1.0 - tilt * (i / CELLS - mean), 1e-300))
    return max(total, 0.0)


_NEGLIGIBLE = 1e-18


@kernel
def _log_choose(n, k):
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def binomial(rng, trials, p):
    """Successes in a whole number of trials."""
    if trials <= 0.0 or p <= 0.0:
        return 0.0
    if p >= 1.0:
        return trials
    mode = min(math.floor((trials + 1.0) * p), trials)
    log_mass = _log_choose(trials, mode) + mode * math.log(p) + (trials - mode) * math.log1p(-p)
    odds, more = p / (1.0 - p), math.exp(log_mass)
    fewer, up, down = more, mode, mode
    left = chance.uniform(rng) - more
    while left >= 0.0 and max(more, fewer) > _NEGLIGIBLE:
        more *= odds * (trials - up) / (up + 1.0)
        up += 1.0
        left -= more
        if left < 0.0:
            return up
        fewer *= down / (odds * (trials - down + 1.0))
        down -= 1.0
        left -= fewer
        if left < 0.0:
            return down
    return mode


@kernel
def hypergeometric(rng, good, bad, draws):
    """Good ones among `draws` drawn without replacement; whole numbers, draws ≤ good + bad."""
    low, high = max(0.0, draws - bad), min(draws, good)
    if low >= high:
        return low
    mode = min(max(math.floor((draws + 1.0) * (good + 1.0) / (good + bad + 2.0)), low), high)
    log_mass = _log_choose(good, mode) + _log_choose(bad, draws - mode)
    more = math.exp(log_mass - _log_choose(good + bad, draws))
    fewer, up, down = more, mode, mode
    left = chance.uniform(rng) - more
    while left >= 0.0 and max(more, fewer) > _NEGLIGIBLE:
        more *= (good - up) * (draws - up) / ((up + 1.0) * (bad - draws + up + 1.0))
        up += 1.0
        left -= more
        if left < 0.0:
            return up
        fewer *= down * (bad - draws + down) / ((good - down + 1.0) * (draws - down + 1.0))
        down -= 1.0
        left -= fewer
        if left < 0.0:
            return down
    return mode


@kernel
def whole_grid_learn(family, constants, params, ledger, memory, arm, reward):
    position = scaled(params, reward) * CELLS + memory.seen[CARRY, arm]
    cell = int(min(max(position + 0.5, 0.0), CELLS))
    memory.counts[arm, cell] += 1.0
    memory.seen[SEEN, arm] += 1.0
    memory.seen[SUM, arm] += cell / CELLS
    memory.seen[CARRY, arm] = position - cell


@kernel
def sub_sample_mean(rng, counts, total, size):
    """The mean of `size` rewards out of all, drawn without replacement."""
    left, wanted, drawn = total, size, 0.0
    for i in range(CELLS + 1):
        if counts[i] > 0.0 and wanted > 0.0:
            taken = hypergeometric(rng, counts[i], left - counts[i], wanted)
            drawn += taken * i
            wanted -= taken
            left -= counts[i]
    return drawn / (CELLS * size)


@kernel
def bootstrap_mean(rng, counts, total, extra):
    """The mean of as many draws, with replacement, as there are rewards and pseudo-rewards.

    Of these there are `extra` of 0 and `extra` of 1.
    """
    size = total + 2.0 * extra
    left, wanted, drawn = size, size, 0.0
    for i in range(CELLS + 1):
        here = counts[i] + (extra if i in (0, CELLS) else 0.0)
        if here > 0.0 and wanted > 0.0:
            taken = binomial(rng, wanted, here / left)
            drawn += taken * i
            wanted -= taken
            left -= here
    return drawn / (CELLS * size)
