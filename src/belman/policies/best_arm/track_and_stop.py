"""Proportions that tell the best arm soonest: argmax_w min_a min_x w_* d(μ_*, x) + w_a d(μ_a, x).

With r_a = w_a/w_* the evidence against arm a per play of the best one is g_a(r) = min_x d(μ_*, x) +
r d(μ_a, x), which rises and is concave with slope d(μ_a, x). At the optimum all g_a are one y, and
Σ_a d(μ_*, x_a)/d(μ_a, x_a) = 1 (Garivier and Kaufmann, 2016).

Track-and-stop (Garivier and Kaufmann, 2016): plays follow the best proportions so far.

An arm with fewer than sqrt(t) − K/2 plays comes first; otherwise argmax_a t w*_a(μ̂) − n_a. With
Chernoff's stopping rule it needs T*(μ) ln(1/δ) turns as δ → 0, which no rule can better.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.averages import ByAverages, keep_moments
from belman.policies.memory import POSITION, Floats, part
from belman.policies.policy_kernels import PolicyKernels
from belman.registry import register

_STEPS = 100
_ENOUGH = 1e-8
_CLOSE = 1e-10
_MOST = 50.0  # of y, where means at the ends of their range are infinitely far apart


@kernel
def _ratio(family, constants, best, spread, mean, other_spread, y, r):
    """r_a(y) > 0 by Newton, never past the root from below, and d(μ_*, x)/d(μ_a, x) there."""
    quotient = 0.0
    for _ in range(_STEPS):
        x = family.common_mean(constants, 1.0, best, spread, r, mean, other_spread)
        ours, theirs = (
            family.d(constants, best, x, spread),
            family.d(constants, mean, x, other_spread),
        )
        if theirs == 0.0:  # r is so large that x is the mean of the arm
            quotient, r = math.inf, 0.1 * r
            continue
        quotient = ours / theirs
        step = (y - ours - r * theirs) / theirs
        r = max(r + step, 0.1 * r)
        if abs(step) <= _CLOSE * r:
            break
    return r, quotient


@kernel
def _sum_of_quotients(family, constants, means, spreads, leader, y, ratios):
    """Σ_a d(μ_*, x_a)/d(μ_a, x_a) at the level y, with all ratios brought there."""
    total = 0.0
    for a in range(means.size):
        if a != leader:
            ratios[a], quotient = _ratio(
                family,
                constants,
                means[leader],
                spreads[leader],
                means[a],
                spreads[a],
                y,
                ratios[a],
            )
            total += quotient
    return total


@kernel
def solve(family, constants, means, spreads, leader, guess, ratios):
    """Fill w_a/w_* and return y, as a share of the most it can be, for a best arm that leads alone.

    `guess` and `ratios` (positive) are where the search starts: regula falsi (Illinois) on F/(1 +
    F) − ½, which climbs from −½ to ½, with F the sum over arms.
    """
    top = _MOST
    for a in range(means.size):
        if a != leader:
            top = min(top, family.d(constants, means[leader], means[a], spreads[leader]))
    low, low_height, high, high_height = 0.0, -0.5, 1.0, 0.5
    share = guess if 0.0 < guess < 1.0 else 0.5
    side = 0
    for _ in range(_STEPS):
        total = _sum_of_quotients(family, constants, means, spreads, leader, share * top, ratios)
        height = 0.5 - 1.0 / (1.0 + total)
        if abs(height) <= _ENOUGH or high - low <= _CLOSE * share:
            break
        if height < 0.0:
            low, low_height = share, height
            high_height = 0.5 * high_height if side < 0 else high_height
            side = -1
        else:
            high, high_height = share, height
            low_height = 0.5 * low_height if side > 0 else low_height
            side = 1
        share = (low * high_height - high * low_height) / (high_height - low_height)
    return share


class Memory(NamedTuple):
    """Averages and variances; the leader of the last turn, and where the search for w* ended."""

    mean: Floats = part("K", first=-np.inf)  # −∞ before the arm is known
    spread: Floats = part("K", first=1.0)
    ratios: Floats = part("K", first=1.0)  # w_a/w_*
    level: Floats = part(1)  # y, as a share of the most it can be
    leader: Floats = part(1, first=-1.0, whole=POSITION)


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    keep_moments(ledger, memory, arm, params[0], -np.inf)


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """t w*_a − n_a, arms that lag behind above all; the fewest plays while no arm leads alone."""
    leader, ties, fewest, total = 0, 0, np.inf, 0.0
    for a in range(index.size):
        fewest = min(fewest, ledger.plays[a] if memory.mean[a] > -np.inf else -np.inf)
        total += ledger.plays[a]
        if memory.mean[a] > memory.mean[leader]:
            leader, ties = a, 0
        ties += memory.mean[a] == memory.mean[leader]
    if ties > 1 or fewest < turn_value - 0.5 * index.size or index.size == 1:
        for a in range(index.size):
            index[a] = -ledger.plays[a] if memory.mean[a] > -np.inf else np.inf
        return
    if memory.leader[0] != leader:
        memory.leader[0], memory.level[0] = leader, 0.0
        for a in range(index.size):
            memory.ratios[a] = 1.0
    level = solve(
        family, constants, memory.mean, memory.spread, leader, memory.level[0], memory.ratios
    )
    memory.level[0] = level
    memory.ratios[leader] = 1.0
    weight = 0.0
    if np.isnan(level):  # means that no arm of the family has, as imagined rewards may give
        memory.level[0] = 0.0
        for a in range(index.size):
            memory.ratios[a] = 1.0
    for a in range(index.size):
        weight += memory.ratios[a]
    for a in range(index.size):
        index[a] = total * memory.ratios[a] / weight - ledger.plays[a]


@register
class TrackAndStop(ByAverages):
    """Play the arm that lags most behind the proportions that tell the best arm soonest.

    >>> TrackAndStop()
    TrackAndStop()
    """

    name = "track-and-stop"
    kernels = PolicyKernels(indices, refresh)
    remembers = Memory

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(t)."""
        return np.sqrt(turns)
