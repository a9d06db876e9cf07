"""The table of Gittins indices of Bernoulli arms, by calibration.

The index of Beta(α, β) is the certain reward λ a turn for which playing on and retiring are worth
the same. What the arm is worth beyond being played for ever at its mean μ is W(α, β) = max((λ −
μ)/(1 − γ), γ (μ W(α + 1, β) + (1 − μ) W(α, β + 1))), walked down from large counts, where one more
chance to learn stands for the future, for a mesh of λ.

Tables that take seconds to compute, kept on disk beside compiled code, per digest of theirs.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from belman.engine import cache_directory, entry, kernel
from belman.files import write_atomically
from belman.policies.memory import Floats

COUNTS = 400  # rows of nodes that are kept
_NEGLIGIBLE = 1e-9  # of W


@kernel
def _last_lesson(mean, count, reward, discount):
    """(1 − γ) W of an arm that is played L more times, then for ever or no more, for the best L.

    Its mean M is then nearly normal around μ, and E(λ − M)⁺ at most λ (1 − μ), because M stays in
    [0, 1].
    """
    best = reward - mean
    turns = 1.0
    while turns * (1.0 - discount) < 4.0:
        sigma = math.sqrt(mean * (1.0 - mean) / (count + 1.0) * turns / (count + turns))
        z = (reward - mean) / sigma
        hope = sigma * (
            math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
            + 0.5 * z * math.erfc(-z / math.sqrt(2.0))
        )
        best = max(best, discount**turns * min(hope, reward * (1.0 - mean)))
        turns *= math.sqrt(2.0)
    return best


@kernel
def _sweep(discount, reward, before, counts, alpha_start, beta_start, worth, first, edge, table):
    """Walk all counts down for one λ, enter the indices between the last λ and it, and count them.

    `edge` keeps what playing on is worth beyond retiring, `first[n]` the least node of α in row n
    that is worth playing; W is 0 above `top`.
    """
    keep = 1.0 / (1.0 - discount)
    depth, result = worth.size - 2, 0
    more_alpha, more = alpha_start - 1.0, alpha_start + beta_start - 2.0
    for a in range(worth.size):
        worth[a] = 0.0
    top = first[depth] - 1
    while top < depth - 1 and (top < reward * depth or worth[top] > _NEGLIGIBLE):
        top += 1
        mean = (top + more_alpha) / (depth + more)
        worth[top] = keep * _last_lesson(mean, depth + more, reward, discount)
    while first[depth] <= top and worth[first[depth]] <= keep * (
        reward - (first[depth] + more_alpha) / (depth + more)
    ):
        first[depth] += 1
    for n in range(depth - 1, 1, -1):
        low = first[n]
        top = min(top, n - 1)
        if low < first[n + 1]:
            worth[low] = keep * (reward - (low + more_alpha) / (n + 1 + more))
        for a in range(low, top + 1):
            mean = (a + more_alpha) / (n + more)
            leave = keep * (reward - mean)
            stay = discount * (mean * worth[a + 1] + (1.0 - mean) * worth[a])
            worth[a] = max(stay, leave)
            if stay < leave:
                first[n] = a + 1
            if n <= counts:
                position = n * (n + 1) // 2 + a
                if stay < leave:
                    table[position] = before + (reward - before) * edge[position] / (
                        edge[position] - stay + leave
                    )
                    result += 1
                edge[position] = stay - leave
        while top > low and worth[top] < _NEGLIGIBLE:
            worth[top] = 0.0
            top -= 1
    return result


@kernel
def _fill(discount, step, counts, alpha_start, beta_start, worth, first, edge, table):
    """The index at every inner node of the table, by sweeps over rising λ."""
    missing = counts * (counts - 1) // 2
    logit = math.log(0.5 * min(alpha_start, 1.0) / worth.size)
    before = 0.0
    while missing > 0:
        reward = 1.0 / (1.0 + math.exp(-logit))
        missing -= _sweep(
            discount, reward, before, counts, alpha_start, beta_start, worth, first, edge, table
        )
        before = reward
        logit += step


def lifts(
    discount: float,
    starts: tuple[float, float] = (1.0, 1.0),
    counts: int = COUNTS,
    depth: int = 4 * COUNTS,
    step: float = 0.005,
) -> Floats:
    """logit(index) − logit(μ) at α, β in 0, start, start + 1, …: rows i + j ≤ `counts` of nodes.

    At 0 stands the limit. The recursion starts at i + j = `depth`; the mesh of λ has that `step` in
    logits.
    """
    index = np.zeros((counts + 1) * (counts + 2) // 2)
    first = np.ones(depth + 1, dtype=np.int64)
    entry(_fill)(
        discount=discount,
        step=step,
        counts=counts,
        alpha_start=starts[0],
        beta_start=starts[1],
        worth=np.zeros(depth + 2),
        first=first,
        edge=np.zeros(len(index)),
        table=index,
    )
    row = np.repeat(np.arange(counts + 1), np.arange(1, counts + 2))
    i = np.arange(len(row)) - row * (row + 1) // 2
    alpha, beta = (
        np.maximum(nodes + start - 1.0, 0.0) * (nodes > 0)
        for nodes, start in zip((i, row - i), starts, strict=True)
    )
    inside = (alpha > 0.0) & (beta > 0.0)
    table = np.zeros(len(index))
    table[inside] = np.log(index[inside] / (1.0 - index[inside]) * beta[inside] / alpha[inside])
    # α → 0: one success would be followed for ever, a failure by retirement. β → 0: one failure is
    # followed by retirement.
    table[alpha == 0.0] = np.log1p(discount / ((1.0 - discount) * (1.0 + beta[alpha == 0.0])))
    last = (beta == 0.0) & (alpha > 0.0)
    table[last] = -np.log((1.0 - discount) * alpha[last] * _harmonic_sums(discount, alpha[last]))
    return table


def _harmonic_sums(discount: float, a: Floats) -> Floats:
    """S(a) = Σ_k γ^k/(a + k) for a, a + 1, …, term by term or by S(a) = 1/a + γ S(a + 1)."""
    if discount < 0.99:
        turns = np.arange(4000)[:, None]
        sums: Floats = (discount**turns / (turns + a)).sum(axis=0)
        return sums
    from scipy import special

    chain = [special.hyp2f1(1.0, a[0], a[0] + 1.0, discount) / a[0]]
    for step in a[:-1]:
        chain.append((chain[-1] - 1.0 / step) / discount)
    return np.array(chain)


def kept_table(
    name: str,
    module: ModuleType,
    key: object,
    header: Sequence[float],
    size: int,
    make: Callable[[], Floats],
) -> Floats:
    """A header and the `size` numbers that `make` gives, from disk where this module made them."""
    code = Path(str(module.__file__)).read_bytes()
    digest = hashlib.sha256(code + repr(key).encode()).hexdigest()
    path = cache_directory() / f"{name}_{digest[:24]}.npy"
    head = [float(value) for value in header]
    try:
        kept: Floats = np.load(path)
        # kernels look numbers up by place, and would read past the end of a shorter table
        if kept.shape != (len(head) + size,) or kept[: len(head)].tolist() != head:
            raise ValueError
    except (OSError, ValueError, EOFError):
        kept = np.concatenate([head, make()])
        buffer = io.BytesIO()
        np.save(buffer, kept)
        with contextlib.suppress(OSError):
            write_atomically(path, buffer.getvalue())
    return kept
