"""What the mean of an arm is that wanders: beliefs that fade, beside a bank of hazards.

A bank of hazards (`run_lengths.py`) knows jumps. Where a mean moves a little all the time, its runs
are too old or too young, and what they say of the mean is too sure. So of each arm a few beliefs
are kept that fade towards the prior, by exp(−Δ/span) in a time Δ: for a mean that walks there is a
span at which such a belief is as wide as its error is large. Spans, and the bank of hazards as a
whole, are weighed by how well they predict, and a little of their first weights is mixed in at
every reward. No decision uses these beliefs; `Agent.beliefs` shows them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.memory import Floats, part

#: The weight of the bank of hazards at first, and what is mixed in of first weights at a reward.
OF_HAZARDS, RENEWAL = 0.2, 2e-3
_LEAST = 1e-300  # of a weight whose logarithm is taken


class Fading(NamedTuple):
    """F spans, K arms, beliefs of D numbers."""

    weights: Floats = part("1+F")  # of the bank of hazards, and of each span
    beliefs: Floats = part("F", "K", "D")  # as at the last reward of each arm


def blank(spans: int, arms: int, dimension: int) -> Fading:
    """Before its arms are seeded."""
    return Fading(np.zeros(1 + spans), np.zeros((spans, arms, dimension)))


@kernel
def first_weight(i, spans):
    """Of the bank (0), or of one of the spans."""
    if spans == 0:
        return 1.0
    return OF_HAZARDS if i == 0 else (1.0 - OF_HAZARDS) / spans


@kernel
def seed_arm(fading, arm, belief):
    """All that is believed of an arm now, in every span."""
    spans = fading.weights.size - 1
    for i in range(spans + 1):
        if fading.weights[i] == 0.0:
            fading.weights[i] = first_weight(i, spans)
    for i in range(spans):
        for k in range(belief.size):
            fading.beliefs[i, arm, k] = belief[k]


@kernel
def fade(family, constants, span, prior, belief, elapsed):
    """Let a belief fade for so long; its log-partition then."""
    if elapsed > 0.0:
        family.belief.blend(constants, belief, prior, math.exp(-elapsed / span))
    return family.foretells(family, constants, belief)


@kernel
def say(fading, i, gain):
    """Let one that said this logarithm of a chance count: its weight's logarithm stands."""
    fading.weights[i] = math.log(max(fading.weights[i], _LEAST)) + gain


@kernel
def said(family, constants, fading, i, arm, before, least):
    """Let a span, whose belief has learnt, count what it said: its weight's logarithm stands."""
    gain = max(family.foretells(family, constants, fading.beliefs[i, arm]) - before, least)
    say(fading, i + 1, gain)
    return gain


@kernel
def reweigh(fading, top):
    """From logarithms of weights to weights, mixed with the first ones."""
    weights, spans, total = fading.weights, fading.weights.size - 1, 0.0
    for i in range(spans + 1):
        weights[i] = math.exp(weights[i] - top)
        total += weights[i]
    for i in range(spans + 1):
        kept = weights[i] / total if total > 0.0 else first_weight(i, spans)
        weights[i] = (1.0 - RENEWAL) * kept + RENEWAL * first_weight(i, spans)


@kernel
def learn(
    family, constants, spans, prior, fading, arm, elapsed, reward, coins, least, said_by_hazards
):
    """Enter a reward, worth `coins` coins and `least_said`, so much time after the last one of its
    arm, of which the bank of hazards said the logarithm of a chance.
    """
    top = said_by_hazards
    say(fading, 0, said_by_hazards)
    for i in range(spans.size):
        belief = fading.beliefs[i, arm]
        before = fade(family, constants, spans[i], prior, belief, elapsed)
        family.told(family, constants, belief, reward, coins)
        top = max(top, said(family, constants, fading, i, arm, before, least))
    reweigh(fading, top)
