"""Optimism for arms that share a belief: LinUCB, GLM-UCB, Bayes-UCB and OFUL.

LinUCB (Li et al. 2010): η + α·sd.

GLM-UCB (Filippi et al. 2010, in the form of Li et al. 2017): η + α‖φ‖, in the metric of Σφφᵀ.

The bonus takes no account of how much a reward tells at η: the design matrix is that of linear
rewards, which the policy keeps itself.

Bayes-UCB (Kaufmann, Cappé and Garivier 2012) on marginals: their quantile at 1 − 1/t.

OFUL (Abbasi-Yadkori, Pál and Szepesvári 2011): η + √β·sd, with the radius that is proven.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.models import arrow
from belman.models.square_root import observe, project
from belman.policies.dependent.policy import (
    COEFFICIENTS,
    MARGINALS,
    DependentKernels,
    DependentPolicy,
    Floats,
)
from belman.policies.memory import part
from belman.policies.settings import UpToAMillion, number
from belman.registry import register
from belman.special import normal_quantile


@kernel
def lin_ucb_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    for a in range(index.size):
        index[a] = sight.eta[a] + params[0] * math.sqrt(sight.variance[a])


@register
class LinUCB(DependentPolicy):
    """Play the largest mean plus `alpha` standard deviations.

    >>> LinUCB(alpha=2.0)
    LinUCB(alpha=2.0)
    """

    alpha: UpToAMillion = 1.0

    name = "lin-ucb"
    sees = MARGINALS
    kernels = DependentKernels(lin_ucb_indices)


class Memory(NamedTuple):
    """The root of (1 + Σφφᵀ)⁻¹."""

    root: Floats = part("D", "D")
    begin: arrow.Places = part("D")
    projected_scratch: Floats = part(3, "D")


@kernel
def learn(params, memory, features):
    scratch = memory.projected_scratch
    size = features.size  # all is common
    project(memory.root, memory.begin, features, size, size, scratch[0])
    observe(memory.root, memory.begin, scratch[0], 1.0, scratch[1], scratch[2])


@kernel
def glm_ucb_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    for a in range(index.size):
        out, size = memory.projected_scratch[0], features.shape[1]
        square = project(memory.root, memory.begin, features[a], size, size, out)
        index[a] = sight.eta[a] + params[0] * math.sqrt(square)


@register
class GLMUCB(LinUCB):
    """Play the largest mean of φᵀθ plus `alpha` times the length of φ in the metric of the plays.

    >>> GLMUCB()
    GLMUCB(alpha=1.0)
    """

    name = "glm-ucb"
    sees = COEFFICIENTS
    kernels = DependentKernels(glm_ucb_indices, learn)
    remembers = Memory

    def memory(self, arms: int, features: int) -> Memory:
        return (
            super()
            .memory(arms, features)
            ._replace(root=np.eye(features), begin=arrow.whole(features))
        )


@kernel
def lin_bayes_ucb_indices(
    model, constants, params, belief, features, sight, memory, turn, rng, index
):
    score = -normal_quantile(1.0 / (turn + 1.0))
    for a in range(index.size):
        index[a] = sight.eta[a] + score * math.sqrt(sight.variance[a])


@register
class LinBayesUCB(DependentPolicy):
    """Play the largest quantile at 1 − 1/(t + 1) of the value of an arm.

    >>> LinBayesUCB()
    LinBayesUCB()
    """

    name = "lin-bayes-ucb"
    sees = MARGINALS
    kernels = DependentKernels(lin_bayes_ucb_indices)


@kernel
def radius(belief, risk, bound):
    """√(2 ln(1/δ) + ln det S₀/S) + bound: how many standard deviations hold with chance 1 − δ.

    `bound` is how far θ is from the prior's mean, in its standard deviations; 0 stands for √d.
    """
    ratio = 0.0
    for b in range(len(belief.mean)):
        for i in range(belief.mean.shape[1]):
            common = belief.begin[0]
            position = i if i < common else common + i - belief.begin[i]
            ratio -= (
                2.0 * belief.share[b] * math.log(belief.root[b, i, position] / belief.prior[b, i])
            )
    far = bound if bound > 0.0 else math.sqrt(belief.mean.shape[1])
    return math.sqrt(2.0 * math.log(1.0 / risk) + max(ratio, 0.0)) + far


@kernel
def oful_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    wide = radius(belief, params[0], params[1])
    for a in range(index.size):
        index[a] = sight.eta[a] + wide * math.sqrt(sight.variance[a])


@register
class OFUL(DependentPolicy):
    """LinUCB with a radius that holds at all turns but for a chance `delta`.

    `bound` is the largest distance of θ from 0 in prior standard deviations; 0 takes √d.

    >>> OFUL()
    OFUL(delta=0.01, bound=0.0)
    """

    delta: Annotated[float, number("[]", 1e-300, 1.0 - 1e-12, "a chance between 0 and 1")] = 0.01
    bound: Annotated[float, number("[]", 0.0, 1e9, "a number from 0 up")] = 0.0

    name = "oful"
    kernels = DependentKernels(oful_indices)
