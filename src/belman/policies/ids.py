"""Information-directed sampling (Russo and Van Roy, 2014): play the mixture of two arms with the least (expected regret)²/(information gain).

With p_b the probability that arm b is best and M_ab the expected reward of arm a if it is, the regret of a is Δ_a = Σ_b p_b (M_bb − M_ab) and
its information gain about which arm is best is g_a = Σ_b p_b d(M_ab, μ_a), with d the divergence of Bernoulli laws. For Bernoulli rewards these
are integrals over the level x of the best arm, on a mesh as in `measures.best`; for other families draws replace the integrals, and the
variance Σ_b p_b (M_ab − μ_a)² of the conditional means replaces the gain (their V-IDS).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman import chance
from belman.compile import kernel
from belman.families.bernoulli import Bernoulli
from belman.families.family import Family
from belman.policies.policy import Floats, Ledger, Policy, PolicyKernels, choose_by_index
from belman.policies.settings import is_whole, require
from belman.special import beta_cdf, log_beta

_EVEN = 101  # nodes from 0 to 1 …
_CLOSE = 65  # … and around the leader, over …
_REACH = 5.0  # … so many standard deviations on either side
_NODES = _EVEN + _CLOSE
_COARSE = 0.03  # a standard deviation that the even nodes resolve
_NEGLIGIBLE = 1e-14  # probability
_FRESH = 8  # rows of draws that are renewed at each turn
_LARGEST = 1e150  # of a draw, whose square is finite


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
def _lay(memory, centre, width):
    """Merge the even nodes with those around the leader."""
    memory.leader[0], memory.leader[1] = centre, width
    even, close = 0, 0
    for k in range(_NODES):
        x = even / (_EVEN - 1.0)
        near = min(max(centre + width * _REACH * (2.0 * close / (_CLOSE - 1.0) - 1.0), 0.0), 1.0)
        if close < _CLOSE and near < x:
            x = near
            close += 1
        else:
            even += 1
        memory.mesh[0, k] = x
        memory.mesh[1, k] = math.log(x) if x > 0.0 else -np.inf
        memory.mesh[2, k] = math.log1p(-x) if x < 1.0 else -np.inf


@kernel
def _column(memory, belief, arm):
    """F and E[θ | θ ≤ x] = μ − u/((α + β) F) with u = x^α (1 − x)^β/B(α, β); a success lowers F by u/α, a failure raises it by u/β."""
    a, b = memory.seen[arm, 0], memory.seen[arm, 1]
    won, lost = belief[0] - a == 1.0 and belief[1] == b, belief[0] == a and belief[1] - b == 1.0
    if won or lost:
        scale = -log_beta(a, b) - math.log(a if won else b)
    else:
        a, b = belief[0], belief[1]
        scale = -log_beta(a, b)
    total = belief[0] + belief[1]
    for k in range(_NODES):
        x = memory.mesh[0, k]
        u = math.exp(a * memory.mesh[1, k] + b * memory.mesh[2, k] + scale)
        if won:
            memory.columns[k, arm] -= u
            u *= x * (a + b)
        elif lost:
            memory.columns[k, arm] += u
            u *= (1.0 - x) * (a + b)
        else:
            memory.columns[k, arm] = beta_cdf(a, b, x)
        below = min(max(memory.columns[k, arm], 1e-300), 1.0)
        memory.columns[_NODES + k, arm] = math.log(below)
        memory.columns[2 * _NODES + k, arm] = min(max((belief[0] - u / below) / total, 0.0), x)
    memory.seen[arm, 0], memory.seen[arm, 1] = belief[0], belief[1]


@kernel
def _renew_columns(beliefs, memory):
    """Bring the columns up to date, on a new mesh if the leader has become too narrow for the old one or has left it."""
    highest, centre, width = -np.inf, 0.0, 0.0
    for a in range(beliefs.shape[0]):
        mean = beliefs[a, 0] / (beliefs[a, 0] + beliefs[a, 1])
        sigma = math.sqrt(mean * (1.0 - mean) / (beliefs[a, 0] + beliefs[a, 1] + 1.0))
        if mean - 2.0 * sigma > highest:
            highest, centre, width = mean - 2.0 * sigma, mean, sigma
    laid = memory.leader[1]
    lost = width < 0.5 * laid or abs(centre - memory.leader[0]) > 1.5 * laid
    if laid == 0.0 or (width < _COARSE and lost):
        _lay(memory, centre, min(width, _COARSE))
        for a in range(beliefs.shape[0]):
            memory.stale[a] = 1.0
            memory.seen[a, 0], memory.seen[a, 1] = 0.0, 0.0
    for a in range(beliefs.shape[0]):
        if memory.stale[a] > 0.0:
            _column(memory, beliefs[a], a)
            memory.stale[a] = 0.0


@kernel
def _integrate(memory):
    """p_b and p_b M_ab: between two nodes ln F_b is nearly straight in ln H, H = Π F, so that arm b is best there with chance ΔH Δln F_b/Δln H."""
    arms = memory.share.size
    logs, means = memory.columns[_NODES : 2 * _NODES], memory.columns[2 * _NODES : 3 * _NODES]
    before, chance_before = 0.0, 0.0
    for k in range(_NODES):
        level = 0.0
        for a in range(arms):
            level += logs[k, a]
        chance_below = math.exp(level)
        rise = chance_below - chance_before
        if k > 0 and rise > _NEGLIGIBLE:
            for a in range(arms):
                memory.middle[a] = 0.5 * (means[k - 1, a] + means[k, a])
            for b in range(arms):
                mass = rise / (level - before) * (logs[k, b] - logs[k - 1, b])
                if mass > _NEGLIGIBLE:
                    memory.share[b] += mass
                    for a in range(arms):
                        memory.joint[b, a] += mass * memory.middle[a]
                    memory.joint[b, b] += mass * (0.5 * (memory.mesh[0, k - 1] + memory.mesh[0, k]) - memory.middle[b])
        before, chance_before = level, chance_below


@kernel
def _renew_draws(family, law, draws, turn, beliefs, memory, mind):
    """Draw the expected rewards of the arms whose belief has changed, and a few rows of all others, so that no draw lasts for ever."""
    for a in range(beliefs.shape[0]):
        whole = memory.stale[a] > 0.0
        memory.stale[a] = 0.0
        for i in range(draws if whole else min(_FRESH, draws)):
            row = i if whole else (turn * _FRESH + i) % draws
            memory.columns[row, a] = min(max(family.sample_mean(law, beliefs[a], mind), -_LARGEST), _LARGEST)


@kernel
def _count(draws, memory):
    """p_b and p_b M_ab as shares of the draws."""
    for row in range(draws):
        best = 0
        for a in range(1, memory.share.size):
            best = a if memory.columns[row, a] > memory.columns[row, best] else best
        memory.share[best] += 1.0 / draws
        for a in range(memory.share.size):
            memory.joint[best, a] += memory.columns[row, a] / draws


@kernel
def _information(family, law, exact, given, mean):
    """d(M, μ), by its series where they are close; or (M − μ)²."""
    apart = given - mean
    variance = mean * (1.0 - mean)
    if not exact:
        return apart * apart
    if abs(apart) < 1e-3 * variance:
        return apart * apart / (2.0 * variance) * (1.0 - apart * (1.0 - 2.0 * mean) / (3.0 * variance))
    return family.d(law, given, mean, 1.0)


@kernel
def _weigh(family, law, exact, memory):
    """Δ and g of every arm, from p_b and p_b M_ab."""
    arms = memory.share.size
    ideal, total = 0.0, 0.0
    memory.middle[:] = 0.0
    memory.gain[:] = 0.0
    for b in range(arms):
        ideal += memory.joint[b, b]
        total += memory.share[b]
        for a in range(arms):
            memory.middle[a] += memory.joint[b, a]
    for b in range(arms):
        share = memory.share[b]
        if share > _NEGLIGIBLE:
            for a in range(arms):
                memory.gain[a] += share * _information(family, law, exact, memory.joint[b, a] / share, memory.middle[a] / total)
    for a in range(arms):
        memory.regret[a] = max(ideal - memory.middle[a], 0.0)


@kernel
def _ratio(regret, gain):
    if gain > 0.0:
        return regret * regret / gain
    return np.inf if regret > 0.0 else 0.0


@kernel
def best_pair(regret, gain):
    """The arms i, j and the chance q of i that minimise (q Δ_i + (1 − q) Δ_j)²/(q g_i + (1 − q) g_j), which is convex in q."""
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
def _share_among_twins(beliefs, arm, weight, chances):
    """Give a chance in equal parts to all arms with the same belief."""
    for pass_ in range(2):
        twins = 0
        for a in range(chances.size):
            same = True
            for i in range(beliefs.shape[1]):
                same = same and beliefs[a, i] == beliefs[arm, i]
            if same:
                twins += 1
                chances[a] += weight if pass_ == 1 else 0.0
        weight /= twins


@kernel
def indices(family, law, params, ledger, memory, turn, dial, mind, index):
    """A race: chance over a standard exponential, so that among any arms the largest is drawn in proportion to the chances."""
    exact, draws = params[0] > 0.0, int(params[1])
    memory.share[:] = 0.0
    memory.joint[:] = 0.0
    memory.chances[:] = 0.0
    if exact:
        _renew_columns(ledger.beliefs, memory)
        _integrate(memory)
    else:
        _renew_draws(family, law, draws, turn, ledger.beliefs, memory, mind)
        _count(draws, memory)
    _weigh(family, law, exact, memory)
    first, second, weight = best_pair(memory.regret, memory.gain)
    _share_among_twins(ledger.beliefs, first, weight, memory.chances)
    _share_among_twins(ledger.beliefs, second, 1.0 - weight, memory.chances)
    for a in range(index.size):
        if memory.chances[a] > 0.0:
            index[a] = memory.chances[a] / -math.log(chance.uniform(mind))
        else:
            index[a] = -memory.regret[a]


@kernel
def propensity(family, law, params, ledger, memory, turn, dial, closed, arm, ties):
    open_chance = 0.0
    for a in range(memory.chances.size):
        if closed.size == 0 or not closed[a]:
            open_chance += memory.chances[a]
    return memory.chances[arm] / open_chance if open_chance > 0.0 else 1.0 / ties


KERNELS = PolicyKernels(refresh, indices, choose_by_index, propensity)


@dataclass(frozen=True)
class IDS(Policy):
    """Play the mixture of two arms with the least squared expected regret per information gained about which arm is best.

    `draws` is how many posterior draws stand for the integrals in families other than Bernoulli.

    >>> IDS()
    IDS(draws=500)
    """

    draws: int = 500

    name = "ids"

    def __post_init__(self) -> None:
        require(is_whole(self.draws, 2), self.name, "draws", self.draws, "a whole number from 2 up")

    @property
    def kernels(self) -> PolicyKernels:
        return KERNELS

    def params(self, family: Family) -> Floats:
        return np.array([1.0 if isinstance(family, Bernoulli) else 0.0, float(self.draws)])

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(
            mesh=np.zeros((3, _NODES)),
            leader=np.zeros(2),
            columns=np.zeros((max(3 * _NODES, self.draws), arms)),
            seen=np.zeros((arms, dimension)),
            stale=np.ones(arms),
            middle=np.zeros(arms),
            share=np.zeros(arms),
            joint=np.zeros((arms, arms)),
            regret=np.zeros(arms),
            gain=np.zeros(arms),
            chances=np.zeros(arms),
        )

    def explanation(self, family: Family, ledger: Ledger, memory: Memory, dial: float) -> dict[str, Floats]:
        """The expected regret, the information gain and the chance of each arm."""
        return {"expected regret": memory.regret, "information gain": memory.gain, "chance": memory.chances}
