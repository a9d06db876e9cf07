"""Exp-KL-MS (Qin, Jun and Zhang, 2025): Maillard sampling in exponential families.

p_a ∝ exp(−L(n_a) d(μ̂_a, μ̂*)) with the inverse temperature L(n) = n − 1. Cost: that of MED.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman.policies.maillard import Maillard, bundles_sparing

BUNDLES = bundles_sparing(1.0)


@dataclass(frozen=True)
class ExpKLMS(Maillard):
    """MED in which the first play of every arm is no evidence; settings as of kl-ucb.

    >>> ExpKLMS()
    ExpKLMS(divergence=None, range=None)
    """

    name = "exp-kl-ms"
    bundles = BUNDLES
