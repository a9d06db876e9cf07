"""What a contextual agent enters compiled code for: to choose among arms, and to learn a reward."""

from __future__ import annotations

from belman.deciders.featured.columns import lay_out
from belman.engine import kernel
from belman.models.shared import learn, marginal
from belman.models.sight import look_at_all
from belman.policies.policy import pick


@kernel
def lay_out_all(x, u, layout, places, features):
    """The features of all arms at hand; `places` says which has columns of its own (or −1)."""
    for a in range(len(features)):
        lay_out(x, u[a], layout, places[a], features[a])


@kernel
def choose(
    policy, model, law, params, belief, x, u, layout, places, features, sight, memory, mind, index,
    turn: int,
):  # fmt: skip
    """The place of the arm to play, and how many share its index."""
    lay_out_all(x, u, layout, places, features)
    look_at_all(model, law, belief, features, sight)
    policy.indices(model, law, params, belief, features, sight, memory, turn, mind, index)
    return pick(index, mind)


@kernel
def take_in(model, law, belief, x, own, layout, row, arm: int, reward: float):
    """Learn the reward of an arm that has the slots `own`."""
    lay_out(x, own, layout, arm, row)
    learn(model, law, belief, row, reward)
    return 0


@kernel
def foresee(model, law, belief, x, own, layout, row, arm: int):
    """The expected reward of an arm that has the slots `own`."""
    lay_out(x, own, layout, arm, row)
    eta, variance = marginal(model, law, belief, row)
    return model.expected(law, eta, variance)
