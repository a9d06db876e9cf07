"""Thompson sampling: draw an expected reward from each belief and play the largest draw.

Thompson as in the authors' queueing code: a coin of the drawn chance, and an arm that shows 1.

The coin throws away most of what the draw says, so that good arms are told from bad ones only by
how often they show 1.

Chances of policies that play the largest of independent draws whose distributions are known.

P(a) = ∫ Π_{b≠a} F_b dF_a, summed over the cells of a mesh on which every F is nearly straight. A
point of positive chance is a cell as well: ties drawn uniformly are draws within it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from belman import chance
from belman.engine import inlined_kernel, kernel
from belman.families.family import Family
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.scale import Bounded
from belman.policies.settings import Allowed
from belman.registry import register

#: What a place further down the list costs an index of 0 or 1: a million are less than a coin.
_STEP = 1e-9
_TIES = Allowed(lambda value: value in ("random", "lowest"), "'random' or 'lowest'")


@inlined_kernel
def thompson_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = family.sample_mean(constants, ledger.beliefs[a], rng)


@register
class Thompson(Policy):
    """Play each arm with the chance that it is the best one.

    >>> Thompson()
    Thompson()
    """

    name = "thompson"
    kernels = PolicyKernels(thompson_indices, propensity=to_be_integrated)


@kernel
def coin_thompson_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Params: the low end of rewards, their width, and what a place further down the list costs."""
    for a in range(index.size):
        drawn = (family.sample_mean(constants, ledger.beliefs[a], rng) - params[0]) / params[1]
        index[a] = (1.0 if chance.uniform(rng) < drawn else 0.0) - params[2] * a


@register
class CoinThompson(Bounded):
    """Thompson by a Bernoulli draw of the Beta draw, as the authors code it, to show what it costs.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    ties
        'random', or 'lowest': the first of equal arms, as in the authors' code.

    >>> CoinThompson(ties="lowest").name
    'thompson-authors'
    """

    ties: Annotated[str, _TIES] = "random"

    name = "thompson-authors"
    draws_from_beliefs = False  # coins do not tell which draw was the largest
    kernels = PolicyKernels(coin_thompson_indices, propensity=to_be_integrated)

    def params(self, family: Family) -> Floats:
        return np.array([*self.about(family), _STEP if self.ties == "lowest" else 0.0])


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def chances_of_largest(levels: Floats) -> Floats:
    """The chance of each draw (a row: F at rising points) to be the largest.

    >>> chances_of_largest(np.array([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]])).tolist()
    [0.5, 0.5]
    """
    rises = np.diff(levels, axis=1)
    chances = np.zeros(len(levels))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        inside = levels[:, :-1] + 0.5 * (1.0 + node) * rises
        ahead = np.cumprod(np.vstack([np.ones_like(inside[:1]), inside[:-1]]), axis=0)
        behind = np.cumprod(np.vstack([np.ones_like(inside[:1]), inside[:0:-1]]), axis=0)[::-1]
        chances += 0.5 * weight * (rises * ahead * behind).sum(axis=1)
    total = chances.sum()
    return chances / total if total > 0.0 else np.full(len(levels), 1.0 / len(levels))
