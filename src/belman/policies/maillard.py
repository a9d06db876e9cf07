"""Chances that fall with the evidence: an arm is played with a chance ∝ exp(−(n_a − s) d(μ̂_a, μ̂*)).

The largest of log-weights with standard Gumbel noise has just that law, so that the index of an arm
is a draw and the chance of a choice a formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.families.family import FamilyKernels
from belman.policies.kl_bound import LAW, renew
from belman.policies.kl_policy import KLPolicy, by_divergence, family_of
from belman.policies.policy import PolicyKernels, choose_by_index


@factory
def _bundle(spared: float, named: FamilyKernels | None) -> PolicyKernels:
    source = family_of(named)

    @kernel
    def refresh(family, law, params, ledger, memory, arm):
        renew(source(family), params, ledger, memory, arm)

    @kernel
    def face_leader(family, params, memory, closed):
        """Weigh everyone against the best average of the arms that are open."""
        leading = -np.inf
        for a in range(memory.mean.size):
            open_now = closed.size == 0 or not closed[a]
            if open_now and leading < memory.mean[a] < np.inf:
                leading = memory.mean[a]
        if leading > -np.inf:
            source(family).weights(params[LAW:], leading, memory.weights)

    @kernel
    def log_weight(family, ledger, memory, arm):
        against = source(family).evidence(memory.terms, arm, memory.weights)
        return -max(ledger.plays[arm] - spared, 0.0) * max(against, 0.0)

    @kernel
    def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
        for a in range(index.size):
            memory.level[a] = index[a] != index[a]
        face_leader(family, params, memory, memory.level)
        for a in range(index.size):
            if memory.mean[a] == np.inf:
                index[a] = np.inf
            else:
                index[a] = log_weight(family, ledger, memory, a) + chance.gumbel(mind)

    @kernel
    def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
        if memory.mean[arm] == np.inf:
            return 1.0 / ties
        face_leader(family, params, memory, closed)
        total = 0.0
        for a in range(memory.mean.size):
            open_now = closed.size == 0 or not closed[a]
            if open_now and memory.mean[a] < np.inf:
                total += math.exp(log_weight(family, ledger, memory, a))
        return math.exp(log_weight(family, ledger, memory, arm)) / total

    return PolicyKernels(refresh, indices, choose_by_index, propensity)


def bundles_sparing(spared: float) -> dict[str, PolicyKernels]:
    """Kernels by the divergence's name, in which so many plays of every arm count for nothing."""
    return by_divergence(lambda named: _bundle(spared, named))


@dataclass(frozen=True)
class Maillard(KLPolicy):
    """A policy that plays every known arm with a chance that falls with the evidence against it."""

    leaves_all_a_chance = True
