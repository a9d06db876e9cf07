"""Information-directed sampling (Russo and Van Roy, 2014): least regret for what it tells.

It minimises (expected regret)²/(information gain). With p_b the probability that arm b is best and
M_ab the expected reward of arm a if it is, the regret is Δ_a = Σ_b p_b (M_bb − M_ab) and the gain
about which arm is best g_a = Σ_b p_b d(M_ab, μ_a), with d the divergence of Bernoulli laws. For
other families the variance Σ_b p_b (M_ab − μ_a)² takes its place (their V-IDS).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.families.family import Family
from belman.policies.policy import Floats, Ledger, Policy, PolicyKernels, choose_by_index
from belman.policies.settings import MOST_DRAWS, is_whole, require
from belman.policies.thompson.information import (
    NODES,
    count,
    integrate,
    renew_columns,
    renew_draws,
    weigh,
)


class Memory(NamedTuple):
    """A mesh and what each arm does there, or draws; and the last decision."""

    mesh: Floats  # (3, nodes) x, ln x, ln(1 − x)
    leader: Floats  # (2) the mean and standard deviation around which the mesh was laid
    columns: Floats  # (rows, K) F(x), ln F(x) and E[θ | θ ≤ x], one below the other; or draws
    seen: Floats  # (K, D) the beliefs of the columns
    stale: Floats  # (K) whether the arm's ledger has changed
    middle: Floats  # (K) E[θ | θ ≤ x] between two nodes, then μ
    share: Floats  # (K) p_b
    joint: Floats  # (K, K) p_b M_ab at [b, a]
    regret: Floats  # (K) Δ
    gain: Floats  # (K) g
    chances: Floats  # (K) the chance of each arm


@kernel
def refresh(family, law, params, ledger, memory, arm):
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
def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
    """A race, chance over a standard exponential: the largest of any arms is drawn fairly."""
    exact, draws = params[0] > 0.0, int(params[1])
    memory.share[:] = 0.0
    memory.joint[:] = 0.0
    memory.chances[:] = 0.0
    if exact:
        renew_columns(ledger.beliefs, memory)
        integrate(memory)
    else:
        renew_draws(family, law, draws, turn, ledger.beliefs, memory, mind)
        count(draws, memory)
    weigh(exact, memory)
    first, second, weight = best_pair(memory.regret, memory.gain)
    _share_among_twins(ledger.beliefs, first, weight, memory.chances)
    _share_among_twins(ledger.beliefs, second, 1.0 - weight, memory.chances)
    for a in range(index.size):
        if memory.chances[a] > 0.0:
            index[a] = memory.chances[a] / -math.log(chance.uniform(mind))
        else:
            index[a] = -memory.regret[a]


@kernel
def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """Not known where draws stand for integrals: other draws would give other chances."""
    if params[0] == 0.0:
        return np.nan
    open_chance = 0.0
    for a in range(memory.chances.size):
        if closed.size == 0 or not closed[a]:
            open_chance += memory.chances[a]
    return memory.chances[arm] / open_chance if open_chance > 0.0 else 1.0 / ties


KERNELS = PolicyKernels(refresh, indices, choose_by_index, propensity)


@dataclass(frozen=True)
class IDS(Policy):
    """Play the two arms with the least squared expected regret per information on which is best.

    `draws` is how many posterior draws stand for the integrals in families other than Bernoulli.

    >>> IDS()
    IDS(draws=500)
    """

    draws: int = 500

    name = "ids"
    kernels = KERNELS
    draws_from_beliefs = False

    def __post_init__(self) -> None:
        fits = is_whole(self.draws, 2, MOST_DRAWS)
        require(self, "draws", fits, "a whole number from 2 to a million")

    def params(self, family: Family) -> Floats:
        return np.array([float(family.coin), float(self.draws)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(
            mesh=np.zeros((3, NODES)),
            leader=np.zeros(2),
            columns=np.zeros((max(3 * NODES, self.draws), arms)),
            seen=np.zeros((arms, dimension)),
            stale=np.ones(arms),
            middle=np.zeros(arms),
            share=np.zeros(arms),
            joint=np.zeros((arms, arms)),
            regret=np.zeros(arms),
            gain=np.zeros(arms),
            chances=np.zeros(arms),
        )

    def explanation(
        self, family: Family, ledger: Ledger, memory: Memory, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        """The expected regret, the information gain and the chance of each arm."""
        known = {"expected regret": memory.regret, "information gain": memory.gain}
        return {**known, "chance": memory.chances, "index": index}
