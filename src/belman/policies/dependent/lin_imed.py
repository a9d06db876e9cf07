"""LinIMED (Bian and Tan 2024), its first form: the least Δ²/(β‖φ‖²) − ln(β‖φ‖²).

Δ is the gap to the leader, ‖φ‖² the variance of the arm in units of the noise, and β the square of
the radius that holds with chance 1 − 1/t² (`oful.radius`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from belman.engine import kernel
from belman.policies.dependent.oful import radius
from belman.policies.dependent.policy import DependentKernels, DependentPolicy, leader


@kernel
def indices(model, law, params, belief, features, sight, memory, turn, mind, index):
    best = leader(sight.eta)
    wide = radius(belief, 1.0 / ((turn + 1.0) * (turn + 1.0)), 0.0)
    for a in range(index.size):
        gap = sight.eta[best] - sight.eta[a]
        against = gap * gap / max(wide * wide * sight.variance[a], 1e-300)
        index[a] = math.log(wide * wide / sight.worth[a]) - against


KERNELS = DependentKernels(indices)


@dataclass(frozen=True)
class LinIMED(DependentPolicy):
    """Play the arm whose neglect is least explained by the evidence, with the proven radius.

    >>> LinIMED()
    LinIMED()
    """

    name = "lin-imed"
    kernels = KERNELS
