"""UCB1, LogUCB and UCB-tuned.

UCB1 (Auer, Cesa-Bianchi and Fischer, 2002): argmax_a μ̂_a + sqrt(2 ln t / n_a).

The bound inside Q-UCB (Krishnasamy et al., 2016): argmax_a μ̂_a + sqrt((ln t)^e / (2 n_a)).

UCB-tuned (Auer et al., 2002): argmax_a μ̂_a + sqrt((ln t/n_a)·min(¼, V_a + sqrt(2 ln t/n_a))).
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.averages import keep_average, variance
from belman.policies.memory import Floats, part
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import Bounded
from belman.policies.settings import MOST_EXPONENT, Flag, number
from belman.registry import register

_SQRT_TWO = math.sqrt(2.0)
_EXPONENT = number("(]", 0.0, MOST_EXPONENT, f"a positive number up to {MOST_EXPONENT:g}")


class MeanAndWidth(NamedTuple):
    """The average of every arm, infinite before its first play, and how wide its interval is."""

    mean: Floats = part("K")
    width: Floats = part("K")


@kernel
def ucb1_refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    memory.width[arm] = params[1] / math.sqrt(ledger.plays[arm]) if played else 0.0


@kernel
def ucb1_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    for a in range(index.size):
        index[a] = memory.mean[a] + turn_value * memory.width[a]


@register
class UCB1(Bounded):
    """Play the largest upper confidence bound that Hoeffding's inequality gives.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.

    >>> UCB1(range=(0, 10))
    UCB1(range=(0.0, 10.0))
    """

    name = "ucb1"
    kernels = PolicyKernels(ucb1_indices, ucb1_refresh)
    remembers = MeanAndWidth

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(2 ln t)."""
        return np.sqrt(2.0 * np.log(turns))


@register
class LogUCB(UCB1):
    """UCB1 with the bonus sqrt((ln t)^e / (2 n_a)): e is 2 in the codes of Q-UCB, 3 in its theory.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    exponent
        The exponent e of ln t.

    >>> LogUCB()
    LogUCB(range=None, exponent=2.0)
    """

    exponent: Annotated[float, _EXPONENT] = 2.0

    name = "log-ucb"

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt((ln t)^e / 2)."""
        return np.sqrt(0.5 * np.log(turns) ** self.exponent)


class UCBTunedMemory(NamedTuple):
    """Per arm: average (infinite before its first play), 1/sqrt(n), variance of scaled rewards."""

    mean: Floats = part("K")
    root: Floats = part("K")
    variance: Floats = part("K")


@kernel
def ucb_tuned_refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    memory.root[arm] = 1.0 / math.sqrt(ledger.plays[arm]) if played else 0.0
    memory.variance[arm] = variance(ledger, arm) / (params[1] * params[1]) if played else 0.0


@kernel
def ucb_tuned_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    scale, most = params[1], 0.25 if params[2] > 0.0 else np.inf
    for a in range(index.size):
        width = turn_value * memory.root[a]
        root = math.sqrt(min(most, memory.variance[a] + _SQRT_TWO * width))
        index[a] = memory.mean[a] + scale * width * root


@register
class UCBTuned(Bounded):
    """Play the largest upper confidence bound, tuned by the variance of each arm.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    cap
        Whether the variance is kept at ¼, the largest that rewards in [0, 1] can have.

    >>> UCBTuned(cap=False)
    UCBTuned(range=None, cap=False)
    """

    cap: Flag = True

    name = "ucb-tuned"
    kernels = PolicyKernels(ucb_tuned_indices, ucb_tuned_refresh)
    remembers = UCBTunedMemory

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(ln t)."""
        return np.sqrt(np.log(turns))
