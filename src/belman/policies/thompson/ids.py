"""Information-directed sampling (Russo and Van Roy, 2014): least regret for what it tells.

It minimises (expected regret)²/(information gain). With p_b the probability that arm b is best and
M_ab the expected reward of arm a if it is, the regret is Δ_a = Σ_b p_b (M_bb − M_ab) and the gain
about which arm is best g_a = Σ_b p_b d(M_ab, μ_a), with d the divergence of Bernoulli
distributions. For other families the variance Σ_b p_b (M_ab − μ_a)² takes its place (their V-IDS).
Two yes-or-no arms have them in closed form (`two_arms.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.settings import TwoDraws
from belman.policies.thompson.information import (
    NODES,
    count,
    integrate,
    renew_columns,
    renew_draws,
    weigh,
)
from belman.policies.thompson.two_arms import MOST_COUNTS, integrate_pair, renew_pair
from belman.registry import register


class Memory(NamedTuple):
    """A mesh and what each arm does there, or draws; and the last decision."""

    mesh: Floats = part(3, NODES)  # x, ln x, ln(1 − x)
    leader: Floats = part(2)  # the mean and standard deviation around which the mesh was laid
    columns: Floats = part("rows", "K")  # F(x), ln F(x) and E[θ | θ ≤ x], or draws
    seen: Floats = part("K", "D")  # the beliefs of the columns
    pair: Floats = part(6)  # of two arms: their beliefs, P(θ₁ > θ₂) and its step
    stale: Floats = part("K", first=1.0)  # whether the arm's ledger has changed
    middle: Floats = part("K")  # E[θ | θ ≤ x] between two nodes, then μ
    share: Floats = part("K")  # p_b
    joint: Floats = part("K", "K")  # p_b M_ab at [b, a]
    regret: Floats = part("K")  # Δ
    gain: Floats = part("K")  # g
    chances: Floats = part("K")  # the chance of each arm


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    memory.stale[arm] = 1.0


@kernel
def _ratio(regret, gain):
    if gain > 0.0:
        return regret * regret / gain
    return np.inf if regret > 0.0 else 0.0


@kernel
def best_pair(regret, gain):
    """Arms i, j and chance q of i with the least (q Δ_i + (1 − q) Δ_j)²/(q g_i + (1 − q) g_j)."""
    first, second, weight = 0, 0, 1.0
    for i in range(regret.size):
        first = i if regret[i] < regret[first] else first
    second = first
    least = _ratio(regret[first], gain[first])
    for i in range(regret.size):
        alone = _ratio(regret[i], gain[i])
        if alone < least:
            first, second, weight, least = i, i, 1.0, alone
        for j in range(i):
            more_regret, more_gain = regret[i] - regret[j], gain[i] - gain[j]
            q = regret[j] / more_regret - 2.0 * gain[j] / more_gain
            if 0.0 < q < 1.0:
                mixed = _ratio(regret[j] + q * more_regret, gain[j] + q * more_gain)
                if mixed < least:
                    first, second, weight, least = i, j, q, mixed
    return first, second, weight


@kernel
def _same(belief, other):
    apart = 0
    for i in range(belief.size):
        apart += belief[i] != other[i]
    return apart == 0


@kernel
def _share_among_twins(beliefs, arm, weight, chances):
    """Give a chance in equal parts to all arms with the same belief."""
    twins = 0
    for a in range(chances.size):
        twins += _same(beliefs[a], beliefs[arm])
    for a in range(chances.size):
        if _same(beliefs[a], beliefs[arm]):
            chances[a] += weight / twins


@kernel
def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """A race, chance over a standard exponential: the largest of any arms is drawn fairly."""
    exact, draws = params[0] > 0.0, int(params[1])
    memory.share[:] = 0.0
    memory.joint[:] = 0.0
    memory.chances[:] = 0.0
    if exact and index.size == 2 and np.sum(ledger.beliefs) < MOST_COUNTS:
        renew_pair(ledger.beliefs, memory.pair)
        integrate_pair(memory)
    elif exact:
        renew_columns(ledger.beliefs, memory)
        integrate(memory)
    else:
        renew_draws(family, constants, draws, turn, ledger.beliefs, memory, rng)
        count(draws, memory)
    weigh(exact, memory)
    first, second, weight = best_pair(memory.regret, memory.gain)
    _share_among_twins(ledger.beliefs, first, weight, memory.chances)
    _share_among_twins(ledger.beliefs, second, 1.0 - weight, memory.chances)
    for a in range(index.size):
        if memory.chances[a] > 0.0:
            index[a] = memory.chances[a] / -math.log(chance.uniform(rng))
        else:
            index[a] = -memory.regret[a]


@kernel
def propensity(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """Not known where draws stand for integrals: other draws would give other chances."""
    if params[0] == 0.0:
        return np.nan
    open_chance = 0.0
    for a in range(memory.chances.size):
        if closed.size == 0 or not closed[a]:
            open_chance += memory.chances[a]
    return memory.chances[arm] / open_chance if open_chance > 0.0 else 1.0 / ties


@register
class IDS(Policy):
    """Play the two arms with the least squared expected regret per information on which is best.

    Parameters
    ----------
    draws
        The posterior draws that stand for the integrals in families other than Bernoulli.

    >>> IDS()
    IDS(draws=500)
    """

    draws: TwoDraws = 500

    name = "ids"
    kernels = PolicyKernels(indices, refresh, propensity)
    draws_from_beliefs = False
    remembers = Memory

    @property
    def rows(self) -> int:
        """Of the columns: those of the mesh, one below the other, or the draws."""
        return max(3 * NODES, self.draws)

    def about(self, family: Family) -> tuple[float, ...]:
        return (float(family.coin),)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Memory, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        """The expected regret, the information gain and the chance of each arm."""
        known = {"expected regret": memory.regret, "information gain": memory.gain}
        return {**known, "chance": memory.chances, "index": index}
