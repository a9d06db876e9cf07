"""A belief with some rewards, what is seen of a few arms, and the indices of a policy there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import entry
from belman.models import Belief, Linear, Model, Sight
from belman.models.sight import look_at_all
from belman.policies.dependent import DependentPolicy
from tests.models.learning import learnt


class Seen(NamedTuple):
    model: Model
    belief: Belief
    features: np.ndarray
    sight: Sight
    wide: np.ndarray  # the covariance of θ


def seen(model: Model | None = None, rewards: int = 12, arms: int = 6) -> Seen:
    """Arms with three features, the first of which was tried most."""
    rng = np.random.default_rng(21)
    model = Linear(noise=0.5) if model is None else model
    features = rng.normal(size=(arms, 3))
    rows = features[np.minimum(rng.integers(3 * arms, size=rewards), arms - 1)]
    belief = learnt(model, 3, rows, rng.integers(2, size=rewards).astype(float))
    sight = Sight.of(arms)
    look_at_all(model.kernels, model.constants, belief, features, sight)
    scale = model.kernels.scale(model.constants, belief.noise[0])
    return Seen(model, belief, features, sight, scale * belief.root[0] @ belief.root[0].T)


def bound(policy: DependentPolicy, at: Seen, turn: int = 13, rng=None, memory=None):
    """A call that fills the index of every arm, and the index."""
    arms, size = at.features.shape
    index = np.zeros(arms)
    call = entry(policy.kernels.indices, model=at.model.kernels).hold(
        constants=at.model.constants,
        params=policy.params,
        belief=at.belief,
        features=at.features,
        sight=at.sight,
        memory=policy.memory(arms, size) if memory is None else memory,
        turn=turn,
        rng=chance.generator(1) if rng is None else rng,
        index=index,
    )
    return call, index


def indices(policy: DependentPolicy, at: Seen, turn: int = 13, memory=None):
    """The index of every arm."""
    call, index = bound(policy, at, turn, memory=memory)
    call()
    return index
