"""What a belief is after many rewards."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.engine import kernel
from belman.families.family import Family

Floats = NDArray[np.float64]


@kernel
def _learn(family, law, belief, rewards):
    for i in range(rewards.size):
        family.update(law, belief, rewards[i])


def learnt(family: Family, belief: ArrayLike, rewards: ArrayLike) -> Floats:
    """The belief after these rewards, each of which the family must support.

    >>> from belman.families import Bernoulli
    >>> learnt(Bernoulli(), (1.0, 1.0), [1.0, 0.0, 1.0]).tolist()
    [3.0, 2.0]
    """
    after = np.array(belief, dtype=np.float64)
    values = np.ascontiguousarray(rewards, dtype=np.float64)
    if values.size:
        family.enter(_learn, belief=after, rewards=values)
    return after
