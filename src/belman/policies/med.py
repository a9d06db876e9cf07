"""MED, minimum empirical divergence (Honda and Takemura, 2011): chances ∝ exp(−n_a d(μ̂_a, μ̂*)).

The divergence is the family's own here, for which it is optimal too (Baudry, Suzuki and Honda,
2023); the first paper has D_min of distributions of finite support. Cost: one evidence and one
Gumbel draw an arm and turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman.policies.maillard import Maillard, bundles_sparing

BUNDLES = bundles_sparing(0.0)


@dataclass(frozen=True)
class MED(Maillard):
    """Play every arm with the chance that the evidence against it leaves; settings as of kl-ucb.

    >>> MED()
    MED(divergence=None, range=None)
    """

    name = "med"
    bundles = BUNDLES
