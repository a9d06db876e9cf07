"""LB-SDA (Baudry, Russac and Cappé, 2021): sub-sampling duels by the last block of the leader.

It draws nothing after the first turns. Cost: a subtraction an arm and round; memory: `kept` sums an
arm (`sub_sampling.py`), as in their LB-SDA-LM with a limit that does not grow.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.policy import share_of_ties
from belman.policies.sub_sampling import SubSampling, bundle_with


@kernel
def last_end(mind, seen, kept, size):
    """The last block ends with the last reward."""
    return seen


KERNELS = bundle_with(last_end, share_of_ties)


@dataclass(frozen=True)
class LBSDA(SubSampling):
    """Play whoever is not worse than the last rewards of the leader, as many as it has itself.

    >>> LBSDA(kept=1_000)
    LBSDA(kept=1000)
    """

    name = "lb-sda"
    kernels = KERNELS
