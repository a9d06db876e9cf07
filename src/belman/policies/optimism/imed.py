"""Policies by the rates of Lai and Robbins: IMED, DMED and OSSB.

IMED (Honda and Takemura, 2015): argmin_a n_a d(μ̂_a, μ̂*) + ln n_a, μ̂* the best average.

DMED, deterministic minimum empirical divergence (Honda and Takemura, 2010): a list of arms.

The next list holds the arms with n_a d(μ̂_a, μ̂*) ≤ ln(t/n_a), with μ̂* the best average.

OSSB, optimal sampling for structured bandits (Combes, Magureanu and Proutière, 2017).

Plays track the rates of the lower bound, here of arms that tell nothing of one another: n_a →
ln t/d(μ̂_a, μ̂*). If all have (1 + γ) ln t of evidence against them, the best average is played; else
the least played, if it has at most ε s plays after s such turns, else the arm with the least
evidence. Every arm is played once first. Regret comes to the lower bound as ε and γ fall to 0; the
defaults, 0.01, are this library's (0 is what other code has). Cost: one evidence an arm and turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.averages import ByAverages, against, keep_standing
from belman.policies.memory import Floats, part
from belman.policies.policy import log_turns
from belman.policies.policy_kernels import PolicyKernels, leader
from belman.policies.settings import FromZero, Share
from belman.registry import register


class IMEDMemory(NamedTuple):
    """Per arm: the average and ln n, −∞ before it is known, and its side of the evidence."""

    mean: Floats = part("K")
    log_plays: Floats = part("K")
    terms: Floats = part("T", "K")
    scratch: Floats = part("T")


@kernel
def imed_refresh(family, constants, params, ledger, memory, arm):
    keep_standing(family, constants, params[0], ledger, memory, arm)
    known = memory.mean[arm] > -np.inf
    memory.log_plays[arm] = math.log(ledger.plays[arm]) if known else -np.inf


@kernel
def imed_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    leading = leader(memory.mean, index)
    if leading == -np.inf:
        index[:] = np.inf
        return
    family.weights(constants, leading, memory.scratch)
    for a in range(index.size):
        index[a] = -(against(family, ledger, memory, a) + memory.log_plays[a])


@register
class IMED(ByAverages):
    """Play the arm with the least evidence against its being the best, and few plays.

    >>> IMED()
    IMED()
    """

    name = "imed"
    kernels = PolicyKernels(imed_indices, imed_refresh)
    remembers = IMEDMemory


class DMEDMemory(NamedTuple):
    """Per arm: average (−∞ before it is known), side of the evidence, whether listed, plays."""

    mean: Floats = part("K")
    terms: Floats = part("T", "K")
    listed: Floats = part("K", whole=(0, 1))
    plays: Floats = part("K")
    scratch: Floats = part("T")


@kernel
def dmed_refresh(family, constants, params, ledger, memory, arm):
    """A played arm leaves the list. Fading counts fall strictly: one that has not was played."""
    if ledger.plays[arm] >= memory.plays[arm]:
        memory.listed[arm] = 0.0
    memory.plays[arm] = ledger.plays[arm]
    keep_standing(family, constants, params[0], ledger, memory, arm)


@kernel
def dmed_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """∞ for arms not yet known, 1 on the list; others by the evidence, if the list is closed."""
    leading, unknown, waiting = leader(memory.mean, index), 0, 0.0
    for a in range(index.size):
        unknown += memory.mean[a] == -np.inf
        waiting += memory.listed[a]
    if leading > -np.inf:
        family.weights(constants, leading, memory.scratch)
    renews = waiting == 0.0 or unknown > 0
    for a in range(index.size):
        if memory.mean[a] == -np.inf:
            index[a] = np.inf
            continue
        evidence = against(family, ledger, memory, a)
        if renews:
            spared = memory.mean[a] == leading or evidence <= turn_value - math.log(ledger.plays[a])
            memory.listed[a] = 1.0 if spared else 0.0
        index[a] = 1.0 if memory.listed[a] > 0.0 else -evidence


@register
class DMED(ByAverages):
    """Play, one after the other, the arms that the evidence has not refuted.

    >>> DMED()
    DMED()
    """

    name = "dmed"
    kernels = PolicyKernels(dmed_indices, dmed_refresh)
    remembers = DMEDMemory
    turn_values = log_turns


class OSSBMemory(NamedTuple):
    """What is known of each arm, and how many turns were spent exploring."""

    mean: Floats = part("K")  # average, −∞ before it is known
    terms: Floats = part("T", "K")  # its side of the evidence
    scratch: Floats = part("T")
    explored: Floats = part(1)


@kernel
def ossb_refresh(family, constants, params, ledger, memory, arm):
    keep_standing(family, constants, params[0], ledger, memory, arm)


@kernel
def ossb_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Params: the plays before an arm is known, ε and γ."""
    leading, fewest, least, unknown = leader(memory.mean, index), np.inf, np.inf, 0
    if leading > -np.inf:
        family.weights(constants, leading, memory.scratch)
    for a in range(index.size):
        if index[a] != index[a]:
            continue
        index[a] = np.inf
        if memory.mean[a] == -np.inf:
            unknown += 1
            continue
        fewest = min(fewest, ledger.plays[a])
        if memory.mean[a] < leading:
            index[a] = against(family, ledger, memory, a)
            least = min(least, index[a])
    exploring = least < (1.0 + params[2]) * turn_value and unknown == 0
    if exploring:
        memory.explored[0] += 1.0
    forced = exploring and fewest <= params[1] * memory.explored[0]
    for a in range(index.size):
        if index[a] == index[a] and memory.mean[a] > -np.inf:
            if forced:
                index[a] = -ledger.plays[a]
            elif exploring:
                index[a] = -index[a]
            else:
                index[a] = memory.mean[a]


@register
class OSSB(ByAverages):
    """Explore as much as the lower bound asks for, else play the best average.

    Parameters
    ----------
    epsilon
        The share of exploring turns that go to the least played arm.
    gamma
        The evidence against an arm, over ln t, beyond 1 that is asked for before the best average
        is played.

    >>> OSSB()
    OSSB(epsilon=0.01, gamma=0.01)
    """

    epsilon: Share = 0.01
    gamma: FromZero = 0.01

    name = "ossb"
    kernels = PolicyKernels(ossb_indices, ossb_refresh)
    remembers = OSSBMemory
    turn_values = log_turns
