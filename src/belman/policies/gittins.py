"""Gittins: play the arm with the largest Gittins index, which is optimal for discounted Bernoulli rewards.

The index of Beta(α, β) is the certain reward λ a turn for which playing on and retiring are worth the same. With W the value of an arm
beyond playing it for ever at its mean μ, W(α, β) = max((λ − μ)/(1 − γ), γ (μ W(α + 1, β) + (1 − μ) W(α, β + 1))), computed from counts of
1,600 down for a mesh of λ, with the chance to learn once more in place of the future there. Kept is the lift logit(index) − logit(μ), which is
smooth and has closed limits as α or β tends to 0; between whole counts it is interpolated, and beyond 398 it fades as Chick and Gans's
(2009) boundary for normal rewards does. The indices are good to 1e-4 (to 1e-3 for γ above 0.9999 and counts in the hundreds).
"""

from __future__ import annotations

import functools
import io
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belman.cache import cache_directory
from belman.compile import entry, kernel
from belman.errors import PolicyError
from belman.families.bernoulli import Bernoulli
from belman.families.family import Family
from belman.files import write_atomically
from belman.policies.policy import Floats, Policy, PolicyKernels, choose_by_index, share_of_ties
from belman.policies.settings import is_number, is_whole, require

_COUNTS = 400  # α + β up to which indices are kept
_DEPTH = 1600  # … and from which the recursion starts
_STEP = 0.005  # of the mesh of λ, in logits
_NEGLIGIBLE = 1e-9  # of W
_HEADER = 2  # the numbers before the table: the edge of interpolation and ln(1/γ)
_MOST = 1.0 - 1e-6


@kernel
def _last_lesson(mean, count, reward, discount):
    """(1 − γ) W of an arm that is played L more times and then for ever or no more, for the best L; M is then nearly normal around μ.

    E(λ − M)⁺ is at most λ (1 − μ), because M stays in [0, 1].
    """
    best = reward - mean
    turns = 1.0
    while turns * (1.0 - discount) < 4.0:
        sigma = math.sqrt(mean * (1.0 - mean) / (count + 1.0) * turns / (count + turns))
        z = (reward - mean) / sigma
        hope = sigma * (math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))
        best = max(best, discount**turns * min(hope, reward * (1.0 - mean)))
        turns *= math.sqrt(2.0)
    return best


@kernel
def _sweep(discount, reward, before, worth, first, edge, table):
    """Walk all counts down for one λ. Where playing on turns from a gain (kept in `edge`) at λ = before into a loss, enter the index.

    `first[n]` is the least α with α + β = n that is worth playing; W is 0 from `top` up. Returns how many indices were found.
    """
    keep = 1.0 / (1.0 - discount)
    depth, counts, found = worth.size - 2, int((math.sqrt(8.0 * table.size + 1.0) - 3.0) / 2.0), 0
    for a in range(worth.size):
        worth[a] = 0.0
    top = first[depth] - 1
    while top < depth - 1 and (top < reward * depth or worth[top] > _NEGLIGIBLE):
        top += 1
        worth[top] = keep * _last_lesson(top / depth, float(depth), reward, discount)
    while first[depth] <= top and worth[first[depth]] <= keep * (reward - first[depth] / depth):
        first[depth] += 1
    for n in range(depth - 1, 1, -1):
        low = first[n]
        top = min(top, n - 1)
        if low < first[n + 1]:
            worth[low] = keep * (reward - low / (n + 1))
        for a in range(low, top + 1):
            mean = a / n
            leave = keep * (reward - mean)
            stay = discount * (mean * worth[a + 1] + (1.0 - mean) * worth[a])
            worth[a] = max(stay, leave)
            if stay < leave:
                first[n] = a + 1
            if n <= counts:
                place = n * (n + 1) // 2 + a
                if stay < leave:
                    table[place] = before + (reward - before) * edge[place] / (edge[place] - stay + leave)
                    found += 1
                edge[place] = stay - leave
        while top > low and worth[top] < _NEGLIGIBLE:
            worth[top] = 0.0
            top -= 1
    return found


@kernel
def _fill(discount, step, worth, first, edge, table):
    """The index of every whole α, β ≥ 1 of the table, by sweeps over rising λ."""
    counts = int((math.sqrt(8.0 * table.size + 1.0) - 3.0) / 2.0)
    missing = counts * (counts - 1) // 2
    logit = math.log(0.5 / worth.size)
    before = 0.0
    while missing > 0:
        reward = 1.0 / (1.0 + math.exp(-logit))
        missing -= _sweep(discount, reward, before, worth, first, edge, table)
        before = reward
        logit += step


@functools.lru_cache(maxsize=16)
def _params(discount: float) -> Floats:
    """The header and the table of lifts, row by row of α + β, from the cache on disk or computed in a second."""
    path = cache_directory() / f"gittins-{discount!r}.npy"
    try:
        kept: Floats = np.load(path)
    except (OSError, ValueError, EOFError):
        kept = np.concatenate([[_COUNTS - 2.0, -math.log(discount)], _lifts(discount, _COUNTS, _DEPTH, _STEP)])
        buffer = io.BytesIO()
        np.save(buffer, kept)
        write_atomically(path, buffer.getvalue())
    return kept


def _lifts(discount: float, counts: int, depth: int, step: float) -> Floats:
    index = np.zeros((counts + 1) * (counts + 2) // 2)
    first = np.ones(depth + 1, dtype=np.int64)
    entry(_fill, {}, {})(discount, step, np.zeros(depth + 2), first, np.zeros(len(index)), index)
    n = np.repeat(np.arange(counts + 1), np.arange(1, counts + 2))
    alpha = np.arange(len(n)) - n * (n + 1) // 2
    beta = n - alpha
    inside = (alpha > 0) & (beta > 0)
    lifts = np.zeros(len(index))
    lifts[inside] = np.log(index[inside] / (1.0 - index[inside]) * beta[inside] / alpha[inside])
    # α → 0: one success would be followed for ever, a failure by retirement. β → 0: one failure is followed by retirement.
    lifts[alpha == 0] = np.log1p(discount / ((1.0 - discount) * (1.0 + np.arange(counts + 1))))
    last = (beta == 0) & (alpha > 0)
    lifts[last] = -np.log((1.0 - discount) * alpha[last] * _harmonic_sums(discount, counts))
    return lifts


def _harmonic_sums(discount: float, counts: int) -> Floats:
    """S(a) = Σ_k γ^k/(a + k) for a = 1, …, counts, term by term or by S(a) = 1/a + γ S(a + 1)."""
    if discount < 0.99:
        turns = np.arange(4000)[:, None]
        sums: Floats = (discount**turns / (turns + np.arange(1, counts + 1))).sum(axis=0)
        return sums
    chain = [-math.log1p(-discount) / discount]
    for a in range(1, counts):
        chain.append((chain[-1] - 1.0 / a) / discount)
    return np.array(chain)


@kernel
def _fade(s):
    """Chick and Gans's approximation of the Gittins boundary of normal rewards at the scaled time s."""
    if s <= 1.0 / 7.0:
        return s / math.sqrt(2.0)
    log = math.log(s)
    if s <= 100.0:
        return math.exp(-0.02645 * log * log + 0.89106 * log - 0.4873)
    return math.sqrt(s * (2.0 * log - math.log(log) - math.log(16.0 * math.pi)))


@kernel
def gittins_index(params, alpha, beta):
    """The index of Beta(α, β) for any α, β > 0."""
    edge, rate, fade = params[0], params[1], 1.0
    count = alpha + beta
    a, b = alpha, beta
    if count > edge:
        fade = _fade(1.0 / (rate * count)) / _fade(1.0 / (rate * edge))
        a, b = alpha * (edge / count), beta * (edge / count)
    i, j = int(a), int(b)
    u, v = a - i, b - j
    row = _HEADER + (i + j) * (i + j + 1) // 2 + i
    following = row + i + j + 1
    third = following + i + j + 2
    lift = (1.0 - v) * ((1.0 - u) * params[row] + u * params[following + 1])
    lift += v * ((1.0 - u) * params[following] + u * params[third + 1])
    win = alpha * math.exp(fade * lift)
    return win / (win + beta)


class Memory(NamedTuple):
    """The index of each arm (K)."""

    index: Floats


@kernel
def refresh(family, law, params, ledger, memory, arm):
    memory.index[arm] = gittins_index(params, ledger.beliefs[arm, 0], ledger.beliefs[arm, 1])


@kernel
def indices(family, law, params, ledger, memory, turn, dial, mind, index):
    for a in range(index.size):
        index[a] = memory.index[a]


KERNELS = PolicyKernels(refresh, indices, choose_by_index, share_of_ties)


@dataclass(frozen=True)
class Gittins(Policy):
    """Play the largest Gittins index under a `discount`, by default 1 − 1/T for the `horizon` T, or 0.999 if that is not given either.

    For a finite horizon this is the discounted index whose expected lifetime is T, not the finite-horizon index.

    >>> round(Gittins(discount=0.9).index(1, 1), 4)
    0.7029
    """

    discount: float | None = None
    horizon: int | None = None

    name = "gittins"

    def __post_init__(self) -> None:
        given = self.discount is None or (is_number(self.discount) and 0.0 < self.discount <= _MOST)
        require(given, self.name, "discount", self.discount, "above 0 and at most 1 − 1e-6, or None")
        known = self.horizon is None or is_whole(self.horizon, 1)
        require(known, self.name, "horizon", self.horizon, "a whole number of turns from 1 up, or None")

    @property
    def kernels(self) -> PolicyKernels:
        return KERNELS

    def index(self, alpha: float, beta: float) -> float:
        """The index of an arm with belief Beta(α, β)."""
        return float(entry(gittins_index, {}, {})(_params(self._discount()), float(alpha), float(beta)))

    def _discount(self) -> float:
        if self.discount is not None:
            return float(self.discount)
        return 0.999 if self.horizon is None else min(max(1.0 - 1.0 / self.horizon, 1e-9), _MOST)

    def params(self, family: Family) -> Floats:
        return _params(self._discount())

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms))

    def check(self, family: Family, arms: int) -> None:
        if not isinstance(family, Bernoulli):
            raise PolicyError(
                f"gittins plays bernoulli rewards only, not {family.name}: its index is tabulated for Beta beliefs (use bayes-ucb or ids)"
            )
