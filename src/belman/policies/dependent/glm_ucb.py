"""GLM-UCB (Filippi et al. 2010, in the form of Li et al. 2017): η + α‖φ‖, in the metric of Σφφᵀ.

The bonus takes no account of how much a reward tells at η: the design matrix is that of linear
rewards, which the policy keeps itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.models.square_root import observe, project
from belman.policies.dependent.lin_ucb import LinUCB
from belman.policies.dependent.policy import DependentKernels, Floats


class Memory(NamedTuple):
    """The root of (1 + Σφφᵀ)⁻¹."""

    root: Floats  # (d, d)
    projected_scratch: Floats  # (3, d)


@kernel
def learn(params, memory, features):
    scratch = memory.projected_scratch
    project(memory.root, features, scratch[0])
    observe(memory.root, scratch[0], 1.0, scratch[1], scratch[2])


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    for a in range(index.size):
        square = project(memory.root, features[a], memory.projected_scratch[0])
        index[a] = sight.eta[a] + params[0] * math.sqrt(square)


KERNELS = DependentKernels(indices, learn)


@dataclass(frozen=True)
class GLMUCB(LinUCB):
    """Play the largest mean of φᵀθ plus `alpha` times the length of φ in the metric of the plays.

    >>> GLMUCB()
    GLMUCB(alpha=1.0)
    """

    name = "glm-ucb"
    kernels = KERNELS

    def memory(self, arms: int, features: int) -> Memory:
        return Memory(np.eye(features), np.zeros((3, features)))
