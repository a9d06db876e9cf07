"""Policies for rewards of any origin: estimates of every arm's total from the arm that was played.

A reward divided by the chance with which its arm was played is, on average, what the arm would have
given. So a policy keeps the chances of its last turn in which each arm was chosen; a reward that
comes late is weighed by these. Params begin with the range of rewards, low and high − low.

Tsallis-INF (Zimmert and Seldin, 2021): best of both worlds, and of corrupted ones in between.

Chances are w_a = 4 (η_t (L̂_a − x))⁻², with x such that they add up to 1, and L̂ estimated losses.
`reduced` variance: η_t = 4/sqrt(t) and (ℓ − B)/w + B for all, with B = ½ where w ≥ η_t²; else η_t =
2/sqrt(t) and ℓ/w. Regret is of order sqrt(KT) against any adversary, and of order ln T where
rewards are drawn, without knowing which. Cost: a search for x by Newton's method, some five rounds
over arms a turn, and a Gumbel draw an arm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.policies.memory import Floats, part, rearranged
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import Bounded, scaled
from belman.policies.settings import Flag
from belman.registry import register


class Memory(NamedTuple):
    """What K arms are estimated to have given."""

    totals: Floats = part("K")  # estimates of the sum of scaled losses, or rewards
    shares: Floats = part("K")  # the chances of the last turn
    played: Floats = part("K")  # the chance with which each arm was last chosen
    rate: Floats = part(1, first=1.0)  # the learning rate of the last turn


@factory
def bundle_with(weigh: Callable[..., None], learn: Callable[..., None]) -> PolicyKernels:
    """Kernels that play by `weigh(params, memory, turn_value)`, which fills the shares."""

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        weigh(params, memory, turn_value)
        total = 0.0
        for a in range(index.size):
            total += memory.shares[a] if index[a] == index[a] else 0.0
        best, arm = -np.inf, 0
        for a in range(index.size):
            if index[a] == index[a]:
                memory.shares[a] /= total
                index[a] = math.log(max(memory.shares[a], 1e-300)) + chance.gumbel(rng)
                if index[a] > best:
                    best, arm = index[a], a
            else:
                memory.shares[a] = 0.0
        memory.played[arm] = memory.shares[arm]

    @kernel
    def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
        return memory.shares[arm]

    return PolicyKernels(indices, propensity=propensity, learn=learn)


class Adversarial(Bounded):
    """A policy that keeps estimates of totals, and plays every arm with a chance that it knows."""

    leaves_all_a_chance = True
    learns_from_asks = True
    remembers = Memory

    def memory(self, arms: int, dimension: int) -> Memory:
        fresh: Memory = super().memory(arms, dimension)
        fresh.shares[:] = fresh.played[:] = 1.0 / arms
        return fresh

    def resettled(self, memory: Memory, fresh: Memory, positions: Sequence[int]) -> Memory:
        """A new arm starts even with the best of the others."""
        kept = [memory.totals[old] for old in positions if old >= 0]
        totals = np.full(len(positions), self.even(np.array(kept)) if kept else 0.0)
        return fresh._replace(totals=rearranged(memory.totals, totals, 0, positions))

    def even(self, totals: Floats) -> float:
        """The estimate of an arm that equals the best."""
        raise NotImplementedError

    def forget(self, memory: Memory, arm: int) -> None:
        """Estimates cannot be made from a belief: the arm is taken to be the best."""
        others = np.delete(memory.totals, arm)
        memory.totals[arm] = self.even(others) if len(others) else 0.0


_STEPS = 60


@kernel
def weigh(params, memory, rate):
    """Newton's method from where the best arm alone has all: Σ w is convex, and never missed."""
    memory.rate[0] = rate
    least = np.inf
    for a in range(memory.totals.size):
        least = min(least, memory.totals[a])
    x = least - 2.0 / rate
    for _ in range(_STEPS):
        total, slope = 0.0, 0.0
        for a in range(memory.totals.size):
            root = 2.0 / (rate * max(memory.totals[a] - x, 1e-100))
            total += root * root
            slope += rate * root * root * root
            memory.shares[a] = root * root
        step = (total - 1.0) / slope
        x -= step
        if step <= 1e-9 * (least - x):
            break


@kernel
def learn(family, constants, params, ledger, memory, arm, reward):
    loss, share, base = 1.0 - scaled(params, reward), max(memory.played[arm], 1e-12), 0.0
    if params[2] > 0.0:
        rate = memory.rate[0]
        base = 0.5 if share >= rate * rate else 0.0
        for a in range(memory.totals.size):
            memory.totals[a] += 0.5 if memory.shares[a] >= rate * rate else 0.0
        memory.totals[arm] -= 0.5 if memory.shares[arm] >= rate * rate else 0.0
    memory.totals[arm] += (loss - base) / share + base


@register
class TsallisINF(Adversarial):
    """Follow the leader of estimated losses, regularised so that no origin of rewards hurts much.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    reduced
        Whether losses are estimated with the reduced variance.

    >>> TsallisINF()
    TsallisINF(range=None, reduced=True)
    """

    reduced: Flag = True

    name = "tsallis-inf"
    kernels = bundle_with(weigh, learn)

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """η_t."""
        return (4.0 if self.reduced else 2.0) / np.sqrt(turns)

    def even(self, totals: Floats) -> float:
        return float(totals.min())
