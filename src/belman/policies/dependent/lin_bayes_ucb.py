"""Bayes-UCB (Kaufmann, Cappé and Garivier 2012) on marginals: their quantile at 1 − 1/t."""

from __future__ import annotations

import math
from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.dependent.policy import DependentKernels, DependentPolicy
from belman.special import normal_quantile


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    score = -normal_quantile(1.0 / (turn + 1.0))
    for a in range(index.size):
        index[a] = sight.eta[a] + score * math.sqrt(sight.variance[a])


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinBayesUCB(DependentPolicy):
    """Play the largest quantile at 1 − 1/(t + 1) of the value of an arm.

    >>> LinBayesUCB()
    LinBayesUCB()
    """

    name = "lin-bayes-ucb"
    kernels = KERNELS
