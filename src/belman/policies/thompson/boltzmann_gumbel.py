"""Boltzmann–Gumbel exploration (Cesa-Bianchi, Gentile, Lugosi and Neu, 2017): Boltzmann done right.

argmax_a μ̂_a + C Z_a/sqrt(n_a) with standard Gumbel Z: a temperature of its own for every arm. C is
the deviation of rewards, σ, ½ for rewards from 0 to 1 (some code has 1). Cost: a Gumbel draw an arm
and turn.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.averages import keep_average
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.optimism.ucb1 import MeanAndWidth
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.scale import SubGaussian
from belman.policies.thompson.thompson import chances_of_largest
from belman.registry import register


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    memory.width[arm] = params[0] / math.sqrt(ledger.plays[arm]) if played else 0.0


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = memory.mean[a]
        if index[a] < np.inf:
            index[a] += memory.width[a] * chance.gumbel(rng)


#: Of a standard Gumbel distribution, from the level 1e-9 to 1 − 1e-9.
_QUANTILES = -np.log(np.logaddexp(0.0, -np.linspace(-21.0, 21.0, 85)))


@register
class BoltzmannGumbel(SubGaussian):
    """Play the largest average with Gumbel noise that shrinks as an arm is known better.

    Parameters
    ----------
    sigma
        How far rewards stray, σ of sub-Gaussian rewards; by default the family's own.

    >>> BoltzmannGumbel(sigma=0.25)
    BoltzmannGumbel(sigma=0.25)
    """

    name = "boltzmann-gumbel"
    kernels = PolicyKernels(indices, refresh, to_be_integrated)
    remembers = MeanAndWidth

    def own_chances(
        self, family: Family, ledger: Ledger, playable: NDArray[np.int64]
    ) -> Floats | None:
        plays = ledger.plays[playable]
        if (plays == 0.0).any():
            return (plays == 0.0) / np.count_nonzero(plays == 0.0)
        mean = ledger.sums[playable] / plays
        width = self.deviation(family) / np.sqrt(plays)
        points = np.sort((mean[:, None] + width[:, None] * _QUANTILES).ravel())
        return chances_of_largest(np.exp(-np.exp((mean[:, None] - points) / width[:, None])))
