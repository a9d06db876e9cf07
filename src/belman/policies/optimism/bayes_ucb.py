"""Bayes-UCB (Kaufmann, Cappé and Garivier, 2012): the largest posterior quantile of the mean.

The index is the quantile at 1 − 1/(t (ln T)^c). An arm that is not played keeps its belief, so a
bound on its quantile lasts, and `choose` measures only those arms whose bound reaches the best. As
a function of y = −ln(tail) the quantile of a Beta belief with α, β ≥ 1 is concave, because its tail
is log-concave, and the bound is a tangent; elsewhere it is the quantile of a later turn.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick
from belman.policies.settings import MOST_EXPONENT, Turns, number
from belman.registry import register
from belman.special import log_beta

_SLACK = 1e-11  # relative, above the rounding of a quantile
_LATER = math.log(1.1)  # how far ahead the quantile of a later turn is taken


class Memory(NamedTuple):
    """A bound on each arm's quantile at y: height + slope (y − since), good up to y = until."""

    height: Floats = part("K")
    slope: Floats = part("K")
    since: Floats = part("K")
    until: Floats = part("K", first=-np.inf)
    measured: Floats = part("K")  # whether the quantile was taken this turn


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    memory.until[arm] = -np.inf


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = family.mean_quantile(constants, ledger.beliefs[a], turn_value, True)


@kernel
def _bound(family, constants, is_beta, belief, memory, arm, tail, y, x):
    """Renew the bound of an arm whose quantile is x."""
    memory.slope[arm] = 0.0
    memory.since[arm] = y
    if is_beta and min(belief[0], belief[1]) >= 1.0 and 0.0 < x < 1.0:
        log_density = (
            (belief[0] - 1.0) * math.log(x)
            + (belief[1] - 1.0) * math.log1p(-x)
            - log_beta(belief[0], belief[1])
        )
        memory.height[arm] = x * (1.0 + _SLACK)
        memory.slope[arm] = math.exp(-y - log_density)
        memory.until[arm] = np.inf
    elif y > memory.until[arm]:
        later = family.mean_quantile(constants, belief, tail * math.exp(-_LATER), True)
        memory.height[arm] = later + _SLACK * abs(later)
        memory.until[arm] = y + _LATER


@kernel
def _measure(family, constants, params, ledger, memory, arm, tail, y):
    """The quantile of an arm, and a new bound on its later ones."""
    x = family.mean_quantile(constants, ledger.beliefs[arm], tail, True)
    _bound(family, constants, params[0] > 0.0, ledger.beliefs[arm], memory, arm, tail, y, x)
    return x


@kernel
def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Measure arms without a bound, then the highest bound, then all bounds that reach the best."""
    y = -math.log(turn_value)
    best, highest, hopeful = -np.inf, -np.inf, -1
    for a in range(index.size):
        memory.measured[a] = y > memory.until[a]
        if memory.measured[a]:
            index[a] = _measure(family, constants, params, ledger, memory, a, turn_value, y)
            best = max(best, index[a])
        else:
            index[a] = memory.height[a] + memory.slope[a] * (y - memory.since[a])
            if index[a] > highest:
                highest, hopeful = index[a], a
    if highest >= best:
        for i in range(-1, index.size):
            a = hopeful if i < 0 else i
            if not memory.measured[a] and index[a] >= best:
                index[a] = _measure(family, constants, params, ledger, memory, a, turn_value, y)
                memory.measured[a] = True
                best = max(best, index[a])
    return pick(index, rng)


_EXPONENT = number("[]", 0.0, MOST_EXPONENT, f"a number from 0 to {MOST_EXPONENT:g}")


@register
class BayesUCB(Policy):
    """Play the largest posterior quantile at 1 − 1/(t (ln T)^c); only c > 0 needs the `horizon` T.

    Parameters
    ----------
    c
        The exponent of ln T in the level of the quantile; 0 in practice.
    horizon
        The number of turns T, which c > 0 needs.

    >>> BayesUCB()
    BayesUCB(c=0.0, horizon=None)
    """

    c: Annotated[float, _EXPONENT] = 0.0
    horizon: Turns | None = None

    name = "bayes-ucb"
    kernels = PolicyKernels(indices, refresh, choose=choose)
    remembers = Memory

    def about(self, family: Family) -> tuple[float, ...]:
        return (float(family.coin),)

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        log_horizon = math.log(self.horizon) if self.horizon else 1.0
        return np.minimum(1.0 / (turns * max(log_horizon**self.c, 1e-9)), 1.0)

    def check(self, family: Family, arms: int) -> None:
        if self.c > 0.0 and self.horizon is None:
            needs = f"bayes-ucb with c={self.c!r} needs the horizon"
            raise PolicyError(f"{needs}: give horizon=T, or c=0, which needs none")
