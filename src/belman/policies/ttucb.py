"""TTUCB (Jourdan and Degenne, 2023): the largest bound leads, the least transport cost challenges.

The bound is the largest q with n d(μ̂, q) ≤ 2.64 ln t (α = s = 1.2 of the paper, whose divergence is
Gaussian), with β tracked. Cost: that of KL-UCB and of EB-TC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family, term_count
from belman.policies.averages import plays_needed
from belman.policies.kl_bound import race, renew, survey
from belman.policies.policy import Floats, share_of_ties
from belman.policies.top_two import OWN, TopTwo, beats, bundle_with, least_transport

_RATE = 1.2 * (1.0 + 1.2)


class Memory(NamedTuple):
    """What a top-two policy keeps, what a bound is searched by (`kl_bound.py`), and the bounds."""

    mean: Floats
    spread: Floats
    terms: Floats
    scratch: Floats
    led: Floats
    followed: Floats
    pair: Floats
    level: Floats
    ceiling: Floats
    bound: Floats
    guess: Floats
    weights: Floats
    bounds: Floats  # (K) of the turn


@kernel
def refresh(family, law, params, ledger, memory, arm):
    renew(family, params[OWN:], ledger, memory, arm)


@kernel
def largest_bound(family, law, params, ledger, memory, turn_value, mind, index):
    """By a race, which leaves out who cannot win; if an arm that is closed wins, by a survey."""
    race(family, params[OWN:], ledger, memory, turn_value, memory.bounds)
    found = _largest_open(ledger, memory, index)
    if memory.bounds[found] == -np.inf:
        survey(family, params[OWN:], ledger, memory, turn_value, memory.bounds)
        found = _largest_open(ledger, memory, index)
    return found


@kernel
def _largest_open(ledger, memory, index):
    best, found = -np.inf, -1
    for a in range(index.size):
        if index[a] == index[a] and (found < 0 or beats(ledger, memory.bounds[a], a, best, found)):
            best, found = memory.bounds[a], a
    return found


KERNELS = bundle_with(largest_bound, least_transport, True, share_of_ties, refresh)


@dataclass(frozen=True)
class TTUCB(TopTwo):
    """Play the arm with the largest upper bound in a share β of turns, else its hardest rival.

    >>> TTUCB()
    TTUCB(beta=0.5)
    """

    name = "ttucb"
    kernels = KERNELS

    def params(self, family: Family) -> Floats:
        scale = (0.0, plays_needed(family), 0.0, 1.0, family.mean_range[1], *family.law)
        return np.append(super().params(family), scale)

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(
            **TopTwo.memory(self, arms, dimension)._asdict(),
            level=np.zeros(arms),
            ceiling=np.zeros(arms),
            bound=np.zeros(arms),
            guess=np.zeros(1),
            weights=np.zeros(term_count(dimension)),
            bounds=np.zeros(arms),
        )

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """2.64 ln t."""
        return _RATE * np.log(turns)
