"""Policies to measure others by: chance, turns, the truth, and the widest belief.

Random: every arm with the same chance.

Uniform exploration: every arm in turn, argmin_a n_a.

Oracle: play an arm with the largest true mean, which the lab tells; regret starts here.

Widest belief: argmax_a q_a(¾) − q_a(¼), the arm known least by the quartiles of its belief.

It is BelMan's pure exploration without the location term: KL(b_a ‖ b̄) weighs how narrow a belief
is and how far it lies from the others, and here only its width counts, on the scale of the expected
reward.
"""

from __future__ import annotations

from belman.engine import kernel
from belman.policies.greedy import Held, held_indices
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.registry import register


@kernel
def random_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = 0.0


@register
class Random(Policy):
    """Play an arm drawn uniformly, whatever was learnt.

    >>> Random()
    Random()
    """

    name = "random"
    kernels = PolicyKernels(random_indices)

    leaves_all_a_chance = True


@kernel
def uniform_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = -ledger.plays[a]


@register
class Uniform(Policy):
    """Play the arm with the fewest plays: the plain way to explore.

    >>> Uniform()
    Uniform()
    """

    name = "uniform"
    kernels = PolicyKernels(uniform_indices)


@kernel
def oracle_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Params: the true means (K), or one placeholder."""
    for a in range(index.size):
        index[a] = params[min(a, params.size - 1)]


@register
class Oracle(Policy):
    """Play the arm that is the best in truth; for simulations only.

    >>> Oracle().sees_truth
    True
    """

    name = "oracle"
    kernels = PolicyKernels(oracle_indices)
    sees_truth = True


_TAIL = 0.25


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    belief = ledger.beliefs[arm]
    low = family.mean_quantile(constants, belief, _TAIL, False)
    memory.held[arm] = family.mean_quantile(constants, belief, _TAIL, True) - low


@register
class WidestBelief(Policy):
    """Play the arm known least: exploration that is not led astray by where beliefs lie.

    >>> WidestBelief()
    WidestBelief()
    """

    name = "widest-belief"
    kernels = PolicyKernels(held_indices, refresh)
    remembers = Held
