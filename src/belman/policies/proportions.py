"""The proportions of plays that tell the best arm from the others soonest: argmax_w min_a min_x w_* d(μ_*, x) + w_a d(μ_a, x).

With r_a = w_a/w_* the evidence against arm a per play of the best one is g_a(r) = min_x d(μ_*, x) + r d(μ_a, x), which rises and
is concave with slope d(μ_a, x). At the optimum all g_a are one y, and Σ_a d(μ_*, x_a)/d(μ_a, x_a) = 1 (Garivier and Kaufmann,
2016).
"""

from __future__ import annotations

import numpy as np

from belman.compile import kernel

_STEPS = 100
_ENOUGH = 1e-9
_CLOSE = 1e-12


@kernel
def _ratio(family, law, best, spread, mean, other_spread, y, r):
    """r_a(y) by Newton's method, which never passes the root from below, and d(μ_*, x)/d(μ_a, x) there."""
    quotient = 0.0
    for _ in range(_STEPS):
        x = family.common_mean(law, 1.0, best, spread, r, mean, other_spread)
        ours, theirs = family.d(law, best, x, spread), family.d(law, mean, x, other_spread)
        quotient = ours / theirs
        step = (y - ours - r * theirs) / theirs
        r = max(r + step, 0.0)
        if abs(step) <= _CLOSE * r or r == 0.0:
            break
    return r, quotient


@kernel
def _excess(family, law, means, spreads, leader, y, ratios):
    """Σ_a d(μ_*, x_a)/d(μ_a, x_a) − 1 at the level y, with all ratios brought there."""
    total = -1.0
    for a in range(means.size):
        if a != leader:
            args = spreads[leader], means[a], spreads[a]
            ratios[a], quotient = _ratio(family, law, means[leader], args[0], args[1], args[2], y, ratios[a])
            total += quotient
    return total


@kernel
def solve(family, law, means, spreads, leader, level, ratios):
    """Fill w_a/w_* and return y, for a best arm that is alone in the lead; `level` and `ratios` are where the search starts."""
    top = np.inf
    for a in range(means.size):
        if a != leader:
            top = min(top, family.d(law, means[leader], means[a], spreads[leader]))
    low, high = 0.0, top
    low_height, high_height = -1.0, np.inf
    y = level if 0.0 < level < top else 0.5 * min(top, 2.0)
    width = 0.05
    for _ in range(_STEPS):
        height = _excess(family, law, means, spreads, leader, y, ratios)
        if abs(height) <= _ENOUGH or high - low <= 1e-14 * y:
            break
        if height < 0.0:
            low, low_height = y, height
        else:
            high, high_height = y, height
        if high_height == np.inf or low_height == -1.0:
            # the root is probably near the last one: look a little farther each time
            y = min(y * (1.0 + width), 0.5 * (y + top)) if height < 0.0 else max(y * (1.0 - width), 0.5 * y)
            width *= 4.0
        else:
            share = -low_height / (high_height - low_height)
            y = low + (high - low) * min(max(share, 0.05), 0.95)
    return y
