"""Many rewards learnt at once, compiled: for tests that need thousands."""

from __future__ import annotations

import numpy as np

from belman.engine import entry, kernel
from belman.models import Belief, Block, Model
from belman.models.arrow import spread_out
from belman.models.shared import learn


@kernel
def learn_all(model, constants, belief, rows, rewards):
    for i in range(len(rows)):
        learn(model, constants, belief, rows[i], rewards[i])
    return 0


def learnt(model: Model, blocks: list[Block] | int, rows, rewards) -> Belief:
    """The belief of a model after these rewards."""
    belief = model.belief(blocks)
    entry(learn_all, model=model.kernels)(
        constants=model.constants,
        belief=belief,
        rows=np.ascontiguousarray(rows, dtype=np.float64),
        rewards=np.ascontiguousarray(rewards, dtype=np.float64),
    )
    return belief


def covariance(belief: Belief, scale: float = 1.0, member: int = 0):
    """S of a member of the bank."""
    root = spread_out(belief.root[member], belief.begin)
    return scale * root @ root.T
