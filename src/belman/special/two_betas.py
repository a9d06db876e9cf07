"""Which of two independent Beta variables is the larger: the chance, exactly and step by step.

θ₁ is Beta(a, b), θ₂ is Beta(c, d). Where a count grows by one, P(θ₁ > θ₂) changes by h over that
count, h = B(a + c, b + d)/(B(a, b) B(c, d)) before the step: up for a and d, down for b and c. So
the chance of either is the sum of the steps that make it vanish, all of them positive.
"""

from __future__ import annotations

import math

from belman.engine import kernel
from belman.special.gamma_functions import log_beta

_LAST = 1e-17  # of the sum: a step that changes it no more


@kernel
def grown(h, own, other, worth, total):
    """h after a count grew by one: that count before, its like of the other variable, the sum of
    both counts of its variable, that of all four.
    """
    return h * (own + other) / total * worth / own


@kernel
def chance_above(a, b, c, d):
    """P(θ₁ > θ₂), and h. The number of steps grows as the root of the counts.

    The chance of the variable with the smaller mean is summed: growing the successes of one and the
    failures of the other drives them apart, and every step is then smaller than the one before.
    """
    h = math.exp(log_beta(a + c, b + d) - log_beta(a, b) - log_beta(c, d))
    first = a * d >= b * c
    own, own_lost, other, lost = (a, b, c, d) if first else (c, d, a, b)
    left, step, total = 0.0, h, a + b + c + d
    while True:
        wins = step / own
        step = grown(step, own, other, own + own_lost, total)
        own, total = own + 1.0, total + 1.0
        losses = step / lost
        step = grown(step, lost, own_lost, other + lost, total)
        lost, total = lost + 1.0, total + 1.0
        left += wins + losses
        if not wins + losses > _LAST * left:
            return 1.0 - left if first else left, h


@kernel
def after_reward(result, h, a, b, c, d, first, won):
    """The same after θ₁, or else θ₂, had a success, or else a failure."""
    total = a + b + c + d
    if first:
        result += h / a if won else -h / b
        own, other, worth = (a, c, a + b) if won else (b, d, a + b)
    else:
        result += -h / c if won else h / d
        own, other, worth = (c, a, c + d) if won else (d, b, c + d)
    return result, grown(h, own, other, worth, total)


@kernel
def a_success_less(result, h, a, b, c, d):
    """The same with a failure of θ₂, now Beta(c, d), in the place of a success."""
    h /= grown(1.0, c, a, c + d - 1.0, a + b + c + d - 1.0)
    result += h / c + h / (d - 1.0)
    return result, grown(h, d - 1.0, b, c + d - 1.0, a + b + c + d - 1.0)


@kernel
def expected_most(result, h, a, b, c, d):
    """E max(θ₁, θ₂), from P(θ₁ > θ₂) and h."""
    return a / (a + b) * (result + h / a) + c / (c + d) * (1.0 - result + h / c)
