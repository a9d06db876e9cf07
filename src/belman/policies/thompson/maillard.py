"""Maillard sampling and its kin: chances that fall with the evidence, and no draws of beliefs.

Chances that fall with the evidence: an arm is played with a chance ∝ exp(−(n_a − s) d(μ̂_a, μ̂*)).

The largest of log-weights with standard Gumbel noise has just that distribution, so that the index
of an arm is a draw and the chance of a choice a formula.

MED, minimum empirical divergence (Honda and Takemura, 2011): chances ∝ exp(−n_a d(μ̂_a, μ̂*)).

The divergence is the family's own here, for which it is optimal too (Baudry, Suzuki and Honda,
2023); the first paper has D_min of distributions of finite support. Cost: one evidence and one
Gumbel draw an arm and turn.

KL-MS, KL-Maillard sampling (Qin, Jun and Zhang, 2023): MED by the divergence of coins.

For rewards in [0, 1], or scaled to that: p_a ∝ exp(−n_a kl(μ̂_a, μ̂*)). Cost: that of MED.

Exp-KL-MS (Qin, Jun and Zhang, 2025): Maillard sampling in exponential families.

p_a ∝ exp(−L(n_a) d(μ̂_a, μ̂*)) with the inverse temperature L(n) = n − 1. Cost: that of MED.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from belman import chance
from belman.engine import factory, kernel
from belman.families.family_kernels import FamilyKernels
from belman.policies.optimism.kl_bound import DISTRIBUTION, renew
from belman.policies.optimism.kl_policy import KLPolicy, by_divergence, family_of
from belman.policies.policy_kernels import PolicyKernels
from belman.registry import register


@factory
def _bundle(spared: float, named: FamilyKernels | None) -> PolicyKernels:
    source = family_of(named)

    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
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
            source(family).weights(params[DISTRIBUTION:], leading, memory.weights)

    @kernel
    def log_weight(family, ledger, memory, arm):
        against = source(family).evidence(memory.terms, arm, memory.weights)
        return -max(ledger.plays[arm] - spared, 0.0) * max(against, 0.0)

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        for a in range(index.size):
            memory.level[a] = index[a] != index[a]
        face_leader(family, params, memory, memory.level)
        for a in range(index.size):
            if memory.mean[a] == np.inf:
                index[a] = np.inf
            else:
                index[a] = log_weight(family, ledger, memory, a) + chance.gumbel(rng)

    @kernel
    def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
        if memory.mean[arm] == np.inf:
            return 1.0 / ties
        face_leader(family, params, memory, closed)
        total = 0.0
        for a in range(memory.mean.size):
            open_now = closed.size == 0 or not closed[a]
            if open_now and memory.mean[a] < np.inf:
                total += math.exp(log_weight(family, ledger, memory, a))
        return math.exp(log_weight(family, ledger, memory, arm)) / total

    return PolicyKernels(indices, refresh, propensity)


def bundles_sparing(spared: float) -> dict[str, PolicyKernels]:
    """Kernels by the divergence's name, where `spared` plays of every arm count for nothing."""
    return by_divergence(lambda named: _bundle(spared, named))


@dataclass(frozen=True)
class Maillard(KLPolicy):
    """A policy that plays every known arm with a chance that falls with the evidence against it."""

    leaves_all_a_chance = True


@register
class MED(Maillard):
    """Play every arm with the chance that the evidence against it leaves.

    Parameters
    ----------
    divergence
        The divergence d: None for the family's own, else 'bernoulli', 'exponential', 'gaussian' or
        'poisson' on rewards that `range` scales to [0, 1].
    range
        The two ends of rewards; by default the family's own.

    >>> MED()
    MED(divergence=None, range=None)
    """

    name = "med"
    bundles = bundles_sparing(0.0)


@register
class KLMS(MED):
    """MED for rewards in a range, whatever their distribution.

    Parameters
    ----------
    divergence
        The divergence d: None for the family's own, else 'bernoulli', 'exponential', 'gaussian' or
        'poisson' on rewards that `range` scales to [0, 1].
    range
        The two ends of rewards; by default the family's own.

    >>> KLMS(range=(0, 10))
    KLMS(divergence='bernoulli', range=(0.0, 10.0))
    """

    divergence: str | None = field(default="bernoulli", kw_only=True)

    name = "kl-ms"


@register
class ExpKLMS(Maillard):
    """MED in which the first play of every arm is no evidence.

    Parameters
    ----------
    divergence
        The divergence d: None for the family's own, else 'bernoulli', 'exponential', 'gaussian' or
        'poisson' on rewards that `range` scales to [0, 1].
    range
        The two ends of rewards; by default the family's own.

    >>> ExpKLMS()
    ExpKLMS(divergence=None, range=None)
    """

    name = "exp-kl-ms"
    bundles = bundles_sparing(1.0)
