"""Gittins indices of a finite horizon, by normal beliefs (Lattimore, 2016, analyses them).

With k turns left and a belief worth n rewards, the index is E[X] + s (h(k/n) − 0.583/sqrt(n +
0.18)), s the deviation of the belief about the mean: h is the boundary of the stopping problem of
Brownian motion, computed (`gittins-lattimore` has a closed form), the other term Chernoff's
correction for rewards that come one by one. For normal rewards and n from 1 up it is within 0.06
deviations of the index by backward induction for k up to 300, and 0.12 for k = 1000. Beyond k/n =
125 h² goes on straight in ln(k/n). Cost: two quantiles a reward, a look into a table and a root an
arm and turn.

Finite-horizon Gittins indices in closed form (Lattimore, 2016), by normal beliefs.

With k turns left and a belief worth n rewards, E[X] + s sqrt(2 ln⁺(c min{k/ln₊(k)^(3/2),
(k/n)/sqrt(ln₊(k/n))})), with s the deviation of the belief about the mean, ln₊ at least 1 and ln⁺
at least 0. The bounds of the paper are of this shape for unknown c; c = ¼ is near the index that
`gittins-finite` computes for hundreds of turns and more, and greedy in the last twenty.
Cost: a logarithm and a root an arm and turn, and two quantiles a reward, which hold it to 0.47 of
Thompson's turns at 20 yes-or-no arms.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.gittins import normal_table
from belman.policies.gittins.normal import between, keep_normal_belief
from belman.policies.gittins.normal_table import NODES, STEP
from belman.policies.gittins.table import kept_table
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import Positive, Turns
from belman.registry import register

_SMALL = 0.18  # of a reward, in the correction: from beliefs worth less than one


class NormalBeliefs(NamedTuple):
    """What is believed of each arm, as a normal distribution."""

    expected: Floats = part("K")  # infinite before there is a belief
    width: Floats = part("K")
    log_worth: Floats = part("K")
    step: Floats = part("K")  # the correction for rewards that come one by one


@functools.lru_cache(maxsize=1)
def _table() -> Floats:
    def make() -> Floats:
        ratios, lifts = normal_table.finite()
        squares = lifts * lifts
        slope = (squares[-1] - np.interp(ratios[-1] / 4.0, ratios, squares)) / math.log(4.0)
        return np.concatenate([[slope], normal_table.on_nodes(ratios, squares)])

    return kept_table("finite-gittins", normal_table, "squares", [], NODES + 3, make)


@kernel
def finite_gittins_lift(params, ratio, step):
    """How many deviations above its expected reward an arm's index lies, at a ratio ln(k/n).

    Params: the slope beyond the table of h², and the table.
    """
    square = between(params[1:], ratio)
    beyond = ratio - params[1] - params[2] * (NODES - 1)
    square += params[0] * max(beyond, 0.0)
    if ratio < params[1]:
        square *= math.exp(ratio - params[1])
    return max(math.sqrt(square) - step, 0.0)


@kernel
def correction(worth):
    """What rewards that come one by one take from the boundary."""
    return STEP / math.sqrt(worth + _SMALL)


@kernel
def finite_gittins_refresh(family, constants, params, ledger, memory, arm):
    memory.step[arm] = correction(keep_normal_belief(family, constants, ledger, memory, arm))


@kernel
def finite_gittins_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """The value of the turn is the logarithm of the turns that are left, this one included."""
    for a in range(index.size):
        index[a] = memory.expected[a]
        if turn_value > 0.0 and index[a] < np.inf:
            ratio = turn_value - memory.log_worth[a]
            index[a] += memory.width[a] * finite_gittins_lift(params, ratio, memory.step[a])


@register
class FiniteGittins(Policy):
    """Play the largest Gittins index for the turns that are left of a known horizon.

    Parameters
    ----------
    horizon
        The number of turns of play.

    >>> FiniteGittins(1_000)
    FiniteGittins(horizon=1000)
    """

    horizon: Turns

    name = "gittins-finite"
    kernels = PolicyKernels(finite_gittins_indices, finite_gittins_refresh)
    remembers = NormalBeliefs

    def params(self, family: Family) -> Floats:
        return _table()

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """ln of how many turns are left, this one included."""
        return np.log(np.maximum(self.horizon - turns + 1.0, 1.0))


@kernel
def most(log_left, log_scale):
    """ln of c k/ln₊(k)^(3/2), the same for all arms, from ln k and ln c."""
    return log_left - 1.5 * math.log(max(log_left, 1.0)) + log_scale


@kernel
def lattimore_gittins_lift(ratio, log_scale, ceiling):
    """How many deviations above its expected reward an arm's index lies, at a ratio ln(k/n)."""
    own = ratio - 0.5 * math.log(max(ratio, 1.0)) + log_scale
    return math.sqrt(2.0 * max(min(own, ceiling), 0.0))


@kernel
def lattimore_gittins_refresh(family, constants, params, ledger, memory, arm):
    keep_normal_belief(family, constants, ledger, memory, arm)


@kernel
def lattimore_gittins_indices(
    family, constants, params, ledger, memory, turn, turn_value, rng, index
):
    """The value of the turn is the logarithm of the turns that are left, this one included."""
    ceiling = most(turn_value, params[0])
    for a in range(index.size):
        index[a] = memory.expected[a]
        if ceiling > 0.0 and index[a] < np.inf:
            ratio = turn_value - memory.log_worth[a]
            index[a] += memory.width[a] * lattimore_gittins_lift(ratio, params[0], ceiling)


@register
class LattimoreGittins(FiniteGittins):
    """Play the largest index of Lattimore's closed form for the turns left of a known horizon.

    Parameters
    ----------
    horizon
        The number of turns of play.
    c
        The factor inside of the logarithm of the closed form.

    >>> LattimoreGittins(1_000)
    LattimoreGittins(horizon=1000, c=0.25)
    """

    c: Positive = 0.25

    name = "gittins-lattimore"
    kernels = PolicyKernels(lattimore_gittins_indices, lattimore_gittins_refresh)

    def params(self, family: Family) -> Floats:
        return np.array([math.log(self.c)])
