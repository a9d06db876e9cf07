"""BelMan for arms that share a belief.

The default for arms that share a belief: each is compared with the leader's optimistic value.

With η_a and v_a the marginal of arm a, L the leader and ν_a what the belief about a is worth in
rewards, the clock is what was learnt about the arms at hand, 1 + Σ_a (ν_a − ν_a0), and at most t.
The surprise at how little an arm is known is x_a = ln(clock/(ν_a + known)) from 0 up, and counts as

    ℓ(x) = p + φ(x),    φ(x) = x²/(x + q/(1 + (x/reach)⁴)),

φ being that of independent arms (`evidence.py`): little for a little surprise, and x for a large
one, so that an arm that was left after an unlucky start is not left for long. `known` is 0; in
contexts, where an arm is hardly known wherever it was rightly not played, it is a few rewards.
The leader may be as good as U = η_L + √(2 ℓ(x_L) v_L), where its own index is 0. The index is

    ℓ(x_a) − (U − η_a)²/(2 v_a):

the surprise at the neglect of an arm minus the evidence that it is not as good as that.

The paper's form on marginals: argmax_a s(t)·E_a[X] − KL(b_a ‖ b̄), b̄ the barycentre of all.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from belman.engine import inlined_kernel, kernel
from belman.manifold import distance_on_beliefs
from belman.policies.belman.evidence import phi
from belman.policies.dependent.policy import (
    MARGINALS,
    DependentKernels,
    DependentPolicy,
    leader,
)
from belman.policies.memory import Floats
from belman.policies.settings import UpToAMillion, number
from belman.registry import register

_ABOVE = number("[]", 1e-9, 1e6, "a number above 0, at most a million")
P, Q, REACH, KNOWN = 0, 1, 2, 3  # of params


@kernel
def count(x, params):
    """ℓ(x)."""
    return params[P] + phi(x, params[Q], params[REACH])


@kernel
def clock(sight, turn):
    """What was learnt about the arms at hand, in rewards, and at most the turn."""
    learnt = 1.0
    for a in range(sight.eta.size):
        if sight.first[a] > 0.0:
            learnt += sight.worth[a] * max(1.0 - sight.variance[a] / sight.first[a], 0.0)
    return min(learnt, 1.0 * turn)


@inlined_kernel
def shared_belman_indices(
    model, constants, params, belief, features, sight, memory, turn, rng, index
):
    best = leader(sight.eta)
    log_clock = math.log(clock(sight, turn))
    x = max(log_clock - math.log(sight.worth[best] + params[KNOWN]), 0.0)
    upper = sight.eta[best] + math.sqrt(2.0 * count(x, params) * sight.variance[best])
    for a in range(index.size):
        x = max(log_clock - math.log(sight.worth[a] + params[KNOWN]), 0.0)
        gap = upper - sight.eta[a]
        if a == best:
            index[a] = 0.0
        elif sight.variance[a] > 0.0:
            index[a] = count(x, params) - 0.5 * gap * gap / sight.variance[a]
        else:
            index[a] = 0.0 if gap <= 0.0 else -np.inf


@register
class SharedBelMan(DependentPolicy):
    """The default: surprise at how little an arm is known, minus the evidence against it.

    >>> SharedBelMan()
    SharedBelMan(p=1.5, q=12.0, reach=11.0, known=0.0)
    """

    p: UpToAMillion = 1.5
    q: Annotated[float, _ABOVE] = 12.0
    reach: Annotated[float, _ABOVE] = 11.0
    known: UpToAMillion = 0.0

    name = "shared-belman"
    sees = MARGINALS
    kernels = DependentKernels(shared_belman_indices)

    def explanation(self, sight: Any, turn: int) -> dict[str, Floats]:
        """The evidence that an arm is not as good as the leader may be, and how far the belief of
        all that was learnt is from the arm's (nats).
        """
        best = int(leader(sight.eta))
        x = np.maximum(math.log(clock(sight, turn)) - np.log(sight.worth + self.known), 0.0)
        apart = np.sqrt(2.0 * count(x[best], self.params) * sight.variance[best])
        gap = np.maximum(sight.eta[best] + apart - sight.eta, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rewards = np.where(gap > 0.0, 0.5 * gap * gap / sight.variance, 0.0)
        return {"distance on rewards": rewards, "distance on beliefs": distance_on_beliefs(x)}


@kernel
def paper_belman_indices(
    model, constants, params, belief, features, sight, memory, turn, rng, index
):
    arms = index.size
    pull = max(math.log(turn) + params[0] * math.log(math.log(turn)), 0.0) if turn > 2 else 0.0
    centre, wide = 0.0, 0.0
    for a in range(arms):
        centre += sight.eta[a] / arms
    for a in range(arms):
        apart = sight.eta[a] - centre
        wide += (sight.variance[a] + apart * apart) / arms
    for a in range(arms):
        expected = model.expected(constants, sight.eta[a], sight.variance[a])
        apart = sight.eta[a] - centre
        share = max(sight.variance[a], 1e-300) / max(wide, 1e-300)
        lies = apart * apart / max(wide, 1e-300)
        index[a] = pull * expected - 0.5 * (share - 1.0 - math.log(share) + lies)


@register
class PaperBelMan(DependentPolicy):
    """The paper's schedule s(t) = ln t + C ln ln t on the marginals of a shared belief.

    >>> PaperBelMan().C
    15.0
    """

    C: UpToAMillion = 15.0

    name = "shared-belman-paper"
    sees = MARGINALS
    kernels = DependentKernels(paper_belman_indices)
