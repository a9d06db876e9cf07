"""RB-SDA (Baudry, Kaufmann and Maillard, 2020): sub-sampling duels by a random block of the leader.

Cost: a draw and a subtraction an arm and round; memory: `kept` sums an arm (`sub_sampling.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from belman import chance
from belman.engine import kernel
from belman.policies.policy import to_be_integrated
from belman.policies.sub_sampling import SubSampling, bundle_with


@kernel
def random_end(mind, seen, kept, size):
    """Where a block drawn uniformly among those that are kept ends."""
    return seen - chance.below(mind, min(seen, kept) - size + 1)


KERNELS = bundle_with(random_end, to_be_integrated)


@dataclass(frozen=True)
class RBSDA(SubSampling):
    """Play whoever is not worse than as many rewards in a row of the leader, drawn at random.

    >>> RBSDA()
    RBSDA(kept=512)
    """

    name = "rb-sda"
    draws_from_beliefs = False
    kernels = KERNELS
