"""POKER and UCB-DT: what others say of an arm enters its own number.

POKER, price of knowledge and estimated reward (Vermorel and Mohri, 2005): with H turns left,
argmax_a μ̂_a + δ H P(μ_a ≥ μ̂* + δ), by a normal distribution around μ̂_a of deviation
σ̂_a/sqrt(n_a). The gain δ that is expected is (μ̂_(1) − μ̂_(√q))/√q, from the ordered averages of q
arms that were played. Arms that were not have the average of the averages and deviations of others,
arms played once the average deviation. Two arms are played twice first.

UCB-DT (Zhang, Das and Kreutz-Delgado, 2021): UCB1 where plays of arms that look alike count less
and those of arms far off count in full: n_a + Σ_b |μ̂_a − μ̂_b|^(1/⌊γ n_a⌋) n_b stands for n_a. The
paper leaves γ to be tuned; 0.9 is one of the values that a public comparison plays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman.engine import kernel
from belman.policies.averages import Mean, keep_average, variance
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.scale import Bounded
from belman.policies.settings import Positive, Turns
from belman.registry import register

_LARGEST = 1e300


class Averages(NamedTuple):
    """Per arm the average of its rewards (infinite before its first play) and their deviation."""

    mean: Floats = part("K")
    deviation: Floats = part("K")
    others: Floats = part("K")  # averages that are not among the best so far


@kernel
def poker_refresh(family, constants, params, ledger, memory, arm):
    played = keep_average(ledger, memory, arm)
    memory.deviation[arm] = math.sqrt(variance(ledger, arm)) if played else 0.0


@kernel
def expected_gain(ledger, memory):
    """δ, the best average, and the averages of averages and deviations."""
    played, twice, means, deviations = 0, 0, 0.0, 0.0
    for a in range(memory.mean.size):
        if ledger.plays[a] > 0.0:
            memory.others[played] = memory.mean[a]
            means += memory.mean[a]
            played += 1
        if ledger.plays[a] > 1.0:
            deviations += memory.deviation[a]
            twice += 1
    if played == 0:
        return 0.0, 0.0, 0.0, 0.0
    root = math.sqrt(played)
    best, other = -np.inf, -np.inf
    for rank in range(min(int(root), played - 1) + 1):
        position = 0
        for i in range(played):
            if memory.others[i] > memory.others[position]:
                position = i
        other = memory.others[position]
        best = other if rank == 0 else best
        memory.others[position] = -np.inf
    return (best - other) / root, best, means / played, deviations / max(twice, 1)


@kernel
def poker_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    begun = 0
    for a in range(index.size):
        begun += ledger.plays[a] > 1.0
    if begun < min(2, index.size):
        for a in range(index.size):  # arms played once first, then those that were not
            plays = ledger.plays[a]
            index[a] = 0.0 if plays > 1.0 else 2.0 if plays > 0.0 else 1.0
        return
    gain, best, mean, deviation = expected_gain(ledger, memory)
    for a in range(index.size):
        plays = ledger.plays[a]
        own = memory.mean[a] if plays > 0.0 else mean
        width = memory.deviation[a] if plays > 1.0 else deviation
        width /= math.sqrt(max(plays, 1.0))
        z = (best + gain - own) / width if width > 0.0 else np.inf * (best + gain - own + 1e-300)
        above = 0.5 * math.erfc(z / math.sqrt(2.0)) if z == z else 0.5
        index[a] = min(own + gain * turn_value * above, _LARGEST)


@register
class POKER(Policy):
    """Play the largest average plus the price of knowledge, for a known horizon.

    Parameters
    ----------
    horizon
        The number of turns of play.

    >>> POKER(1_000)
    POKER(horizon=1000)
    """

    horizon: Turns

    name = "poker"
    kernels = PolicyKernels(poker_indices, poker_refresh)
    remembers = Averages

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """How many turns are left, this one included."""
        return np.maximum(self.horizon - turns + 1.0, 0.0)


@kernel
def ucb_dt_refresh(family, constants, params, ledger, memory, arm):
    keep_average(ledger, memory, arm)


@kernel
def ucb_dt_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Params: low, high − low, γ."""
    low, width, gamma = params[0], params[1], params[2]
    for a in range(index.size):
        plays, index[a] = ledger.plays[a], np.inf
        if memory.mean[a] < np.inf:
            count, whole = plays, math.floor(gamma * plays)
            for b in range(index.size):
                if b != a and memory.mean[b] < np.inf and whole > 0.0:
                    apart = min(abs(memory.mean[a] - memory.mean[b]) / width, 1.0)
                    count += apart ** (1.0 / whole) * ledger.plays[b]
            index[a] = (memory.mean[a] - low) / width + turn_value / math.sqrt(count)


@register
class UCBDT(Bounded):
    """Play UCB1's bound with counts that grow by the plays of arms that look different.

    Parameters
    ----------
    range
        The least and the largest reward; None takes the family's own.
    gamma
        The share of an arm's plays that sharpens how different another looks, above 0: the larger,
        the more plays of arms with nearly the same average count.

    >>> UCBDT()
    UCBDT(range=None, gamma=0.9)
    """

    gamma: Positive = 0.9

    name = "ucb-dt"
    kernels = PolicyKernels(ucb_dt_indices, ucb_dt_refresh)
    remembers = Mean

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt(2 ln t)."""
        return np.sqrt(2.0 * np.log(turns))
