"""KL-MS, KL-Maillard sampling (Qin, Jun and Zhang, 2023): MED by the divergence of coins.

For rewards in [0, 1], or scaled to that: p_a ∝ exp(−n_a kl(μ̂_a, μ̂*)). Cost: that of MED.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from belman.policies.maillard import Maillard
from belman.policies.med import BUNDLES


@dataclass(frozen=True)
class KLMS(Maillard):
    """MED for rewards in a range, whatever their distribution: `range`, or the family's own.

    >>> KLMS(range=(0, 10))
    KLMS(divergence='bernoulli', range=(0.0, 10.0))
    """

    divergence: str | None = field(default="bernoulli", kw_only=True)

    name = "kl-ms"
    bundles = BUNDLES
