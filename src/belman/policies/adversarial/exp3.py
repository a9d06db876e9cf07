"""EXP3.P and EXP3.S: exponential weights.

EXP3.P (Auer et al., 2002), as tuned by Bubeck and Cesa-Bianchi (2012, section 3.2).

p_a = (1 − γ) exp(η G_a)/Σ + γ/K, and after each turn every arm's G grows by (x·[played] + β)/p: the
bias β makes the bound of order sqrt(KT ln(K/δ)) hold with chance 1 − δ, not on average alone. With
the horizon T: β = sqrt(ln(K/δ)/(KT)), η = 0.95 sqrt(ln K/(KT)), γ = 1.05 sqrt(K ln K/T). Cost: an
exponential and a Gumbel draw an arm and turn.

EXP3.S (Auer, Cesa-Bianchi, Freund and Schapire, 2002): weights that may follow any change.

Arm a is played with chance p_a = (1 − γ) w_a/Σw + γ/K. A reward x in [0, 1] of arm a multiplies w_a
by exp(γ x/(p_a K)); then each weight gets a share e α Σw/K of all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.policies.adversarial.tsallis_inf import Adversarial, bundle_with
from belman.policies.memory import Floats, part, rearranged
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import Bounded, scaled
from belman.policies.settings import Inside, Turns, number
from belman.registry import register

#: Where params have their numbers, after the range: the horizon and δ.
HORIZON, DELTA = 2, 3


@kernel
def weigh(params, memory, rate):
    arms, most, total = memory.totals.size, -np.inf, 0.0
    horizon, spread = params[HORIZON], math.log(arms) if arms > 1 else 0.0
    memory.rate[0] = 0.95 * math.sqrt(spread / (arms * horizon))
    mixed = min(1.05 * math.sqrt(arms * spread / horizon), 1.0)
    for a in range(arms):
        most = max(most, memory.totals[a])
    for a in range(arms):
        memory.shares[a] = math.exp(memory.rate[0] * (memory.totals[a] - most))
        total += memory.shares[a]
    for a in range(arms):
        memory.shares[a] = (1.0 - mixed) * memory.shares[a] / total + mixed / arms


@kernel
def exp3_p_learn(family, constants, params, ledger, memory, arm, reward):
    arms = memory.totals.size
    bias = math.sqrt(math.log(arms / params[DELTA]) / (arms * params[HORIZON]))
    for a in range(arms):
        if memory.shares[a] > 0.0:
            memory.totals[a] += bias / memory.shares[a]
    memory.totals[arm] += scaled(params, reward) / max(memory.played[arm], 1e-12)


@register
class EXP3P(Adversarial):
    """Exponential weights whose regret is bounded with chance 1 − δ, for a known horizon.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    horizon
        The number of turns of play.
    delta
        The chance with which the bound on regret may fail.

    >>> EXP3P(10_000)
    EXP3P(range=None, horizon=10000, delta=0.05)
    """

    horizon: Turns
    delta: Inside = 0.05

    name = "exp3.p"
    kernels = bundle_with(weigh, exp3_p_learn)

    def even(self, totals: Floats) -> float:
        return float(totals.max())


GAMMA, ALPHA = 2, 3


class Memory(NamedTuple):
    """Weights of K arms, which add up to 1 (all 0 at first: they are equal)."""

    weights: Floats = part("K")


@kernel
def share_of(params, weights, arm):
    """The chance with which an arm is played."""
    total = 0.0
    for a in range(weights.size):
        total += weights[a]
    even = 1.0 / weights.size
    own = weights[arm] / total if total > 0.0 else even
    return (1.0 - params[GAMMA]) * own + params[GAMMA] * even


@kernel
def exp3_s_learn(family, constants, params, ledger, memory, arm, reward):
    """Weigh the reward by the chance of its arm, and share out a little of all weights."""
    weights, arms = memory.weights, memory.weights.size
    total = 0.0
    for a in range(arms):
        total += weights[a]
    if not total > 0.0:
        for a in range(arms):
            weights[a] = 1.0 / arms
    likely = share_of(params, weights, arm)
    gain = math.exp(params[GAMMA] * scaled(params, reward) / (likely * arms))
    weights[arm] *= gain
    total = 0.0
    for a in range(arms):
        total += weights[a]
    for a in range(arms):
        weights[a] = (weights[a] / total + math.e * params[ALPHA] / arms) / (
            1.0 + math.e * params[ALPHA]
        )


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """One arm is drawn by its chance, among those that can be played."""
    total = 0.0
    for a in range(index.size):
        if index[a] == index[a]:
            total += share_of(params, memory.weights, a)
    left = chance.uniform(rng) * total
    drawn = False
    for a in range(index.size):
        if index[a] == index[a]:
            left -= share_of(params, memory.weights, a)
            index[a] = 1.0 if left < 0.0 and not drawn else 0.0
            drawn = drawn or left < 0.0


@kernel
def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    total = 0.0
    for a in range(memory.weights.size):
        if not (closed.size > 0 and closed[a]):
            total += share_of(params, memory.weights, a)
    return share_of(params, memory.weights, arm) / total


@register
class EXP3S(Bounded):
    """Weights for rewards in a `range` that any opponent may have chosen, and change.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    gamma
        The share of turns that go to any arm.
    alpha
        The share of all weight that every arm gets at every turn: it is what lets weights follow a
        change.

    >>> EXP3S(gamma=0.1).gamma
    0.1
    """

    gamma: Annotated[float, number("(]", 0.0, 1.0, "a share from 0 to 1")] = 0.1
    alpha: Annotated[float, number("[]", 0.0, 1.0, "a share from 0 to 1")] = 1e-4

    name = "exp3-s"
    kernels = PolicyKernels(indices, propensity=propensity, learn=exp3_s_learn)
    leaves_all_a_chance = True
    remembers = Memory

    def resettled(self, memory: Memory, fresh: Memory, positions: Sequence[int]) -> Memory:
        """A new arm has the average weight."""
        even = np.full(len(positions), memory.weights.mean())
        return Memory(rearranged(memory.weights, even, 0, positions))
