"""Thompson sampling for arms that share a belief: exact, by Laplace, and TS-UCB.

What arms are worth under many draws of θ: for policies that integrate by drawing.

Thompson sampling with a shared belief: one draw of θ, and the arm that is best under it.

Thompson sampling with Laplace's belief (Chapelle and Li 2011): the mode, no moments.

TS-UCB (Baek and Farias 2023): the least (R̂ − η)/sd, R̂ the average best value of some draws.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from belman.engine import kernel
from belman.models.logistic import Logistic
from belman.models.model import Model
from belman.models.poisson_log import PoissonLog
from belman.models.shared import dot, draw
from belman.policies.dependent.being_best import chance_of_best
from belman.policies.dependent.policy import VALUES, DependentKernels, DependentPolicy, Floats
from belman.policies.memory import part
from belman.policies.settings import Draws, number
from belman.registry import register

_INFLATION = number("[]", 0.0, 1e6, "a number from 0 up")


@kernel
def draw_values(model, constants, belief, features, rng, theta, value):
    """The value of every arm under a draw of θ, into `value` (K), and which is the best."""
    draw(model, constants, belief, rng, 1.0, theta)
    best = 0
    for a in range(value.size):
        value[a] = dot(features[a], theta)
        best = a if value[a] > value[best] else best
    return best


class LinTSMemory(NamedTuple):
    """Room for a draw."""

    theta_scratch: Floats = part("D")


@kernel
def lin_ts_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    draw(model, constants, belief, rng, params[0], memory.theta_scratch)
    for a in range(index.size):
        index[a] = dot(features[a], memory.theta_scratch)


@register
class LinTS(DependentPolicy):
    """Play the best arm of a draw of θ; exact, or inflated (Agrawal and Goyal) by a factor.

    >>> LinTS()
    LinTS(inflation=1.0)
    """

    inflation: Annotated[float, _INFLATION] = 1.0

    name = "lin-ts"
    sees = VALUES
    by_chance = True
    kernels = DependentKernels(lin_ts_indices)
    remembers = LinTSMemory

    @property
    def leaves_all_a_chance(self) -> bool:
        return self.inflation > 0.0

    def chance(self, model: Model, belief: Any, features: Floats, sight: Any, arm: int) -> float:
        return chance_of_best(model, belief, features, arm, self.inflation)


@register
class LaplaceTS(LinTS):
    """Play the best arm of a draw of θ from the normal approximation, renewed by every reward.

    >>> LaplaceTS().believing(Logistic()).laplace
    True
    """

    name = "laplace-ts"

    def believing(self, model: Model) -> Model:
        if isinstance(model, (Logistic, PoissonLog)):
            return replace(model, laplace=True)
        return model


class LinTSUCBMemory(NamedTuple):
    """Room for draws."""

    theta_scratch: Floats = part("D")
    value_scratch: Floats = part("K")


@kernel
def lin_ts_ucb_indices(model, constants, params, belief, features, sight, memory, turn, rng, index):
    highest, value = 0.0, memory.value_scratch
    for _ in range(int(params[0])):
        best = draw_values(model, constants, belief, features, rng, memory.theta_scratch, value)
        highest += value[best] / params[0]
    for a in range(index.size):
        gap = sight.eta[a] - highest
        index[a] = gap / math.sqrt(max(sight.variance[a], 1e-300))


@register
class LinTSUCB(DependentPolicy):
    """Play the arm that is fewest standard deviations below what the best is expected to be.

    >>> LinTSUCB()
    LinTSUCB(draws=20)
    """

    draws: Draws = 20

    name = "lin-ts-ucb"
    sees = VALUES
    by_chance = True
    kernels = DependentKernels(lin_ts_ucb_indices)
    remembers = LinTSUCBMemory
