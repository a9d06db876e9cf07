"""Policies by K_inf of the rewards as they came: KL-UCB, its switch to MOSS, and IMED.

Empirical KL-UCB (Cappé et al., 2013): argmax_a max{μ : n_a K_inf(F̂_a, μ) ≤ ln t}.

Cost: a search over K_inf an arm and turn, 0.1 of Thompson's turns at 20 arms; memory: 65 counts an
arm (`empirical.py`).

KL-UCB-switch (Garivier, Hadiji, Ménard and Stoltz, 2022): K_inf for few plays, MOSS for many.

The index of an arm with n ≤ (T/K)^⅕ plays is max{μ : n K_inf(F̂, μ) ≤ ln⁺(T/(K n))}, else that of
MOSS, μ̂ + sqrt(ln⁺(T/(K n))/(2n)). It is minimax and asymptotically optimal at once for rewards in
a range, whatever they are. Rewards lie on a grid (`empirical.py`). Cost: a search over K_inf for
few arms a turn, 0.6 of Thompson's turns at 20 arms; memory: 65 counts an arm.

IMED for any bounded rewards (Honda and Takemura, 2015): argmin_a n_a K_inf(F̂_a, μ̂*) + ln n_a.

Cost: K_inf of every arm behind the best average, 0.2 of Thompson's turns at 20 arms with coins;
memory: 65 counts an arm (`empirical.py`).
"""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel
from belman.policies.policy import log_turns
from belman.policies.policy_kernels import PolicyKernels
from belman.policies.resampling.empirical import CELLS, Empirical, empirical_learn, k_inf
from belman.policies.settings import Turns
from belman.registry import register

_STEPS = 60
_CLOSE = 1e-10
_NEAREST = -345.0  # the least ln(c − 1): the bound is then 1 to the last bit


@kernel
def on_the_curve(counts, n, beyond):
    """At c = 1 + `beyond`: h = E[1/(c − X)], n·K = n ln h + Σ ln(c − X), and the slope of n·K in
    ln(c − 1).
    """
    inverse, square, logs = 0.0, 0.0, 0.0
    for i in range(counts.size):
        if counts[i] > 0.0:
            near = 1.0 / (beyond + (1.0 - i / CELLS))
            inverse += counts[i] * near
            square += counts[i] * near * near
            logs -= counts[i] * math.log(near)
    return inverse / n, n * math.log(inverse / n) + logs, beyond * (inverse - n * square / inverse)


@kernel
def bound(counts, low, level):
    """The largest mean from `low` up that the rewards do not refute at this level.

    K_inf and its mean are a curve in c ≥ 1 (`families/bounded_atoms.py`). K falls as c grows, and
    beyond the mean of c = 1, which there is if no reward was 1, it grows like −ln(1 − μ). Elsewhere
    c is found by Newton's method on ln K over ln(c − 1), in a bracket, from the right: by
    Hoeffding's lemma K ≤ 1/(8 (c − 1)²).
    """
    n = counts.sum()
    if level <= _CLOSE or low >= 1.0:
        return low
    if counts[CELLS] == 0.0:
        h, refuted, _ = on_the_curve(counts, n, 0.0)
        if refuted <= level:
            return max(low, 1.0 - math.exp((refuted - level) / n) / h)
    left, right = _NEAREST, 0.5 * math.log(n / (8.0 * level))
    position = right
    for _ in range(_STEPS):
        h, refuted, slope = on_the_curve(counts, n, math.exp(position))
        if refuted > level:
            left = position
        else:
            right = position
        new = 0.5 * (left + right)
        if refuted > 0.0 > slope:  # else rounding hides them
            newton = position + refuted / slope * math.log(level / refuted)
            new = newton if left <= newton <= right else new
        done = abs(new - position) <= _CLOSE
        position = new
        if done:
            break
    beyond = math.exp(position)
    return max(low, 1.0 + beyond - 1.0 / on_the_curve(counts, n, beyond)[0])


@kernel
def kl_ucb_empirical_indices(
    family, constants, params, ledger, memory, turn, turn_value, rng, index
):
    """Only an arm that is not refuted at the best bound so far has its own searched."""
    best = -np.inf
    for a in range(index.size):
        plays, closed = memory.seen[0, a], index[a] != index[a]
        if closed:
            continue
        if plays == 0.0:
            index[a] = np.inf
            continue
        mean = memory.seen[1, a] / plays
        start = max(mean, best)
        index[a] = -np.inf
        if start == mean or k_inf(memory.counts[a], start) <= turn_value:
            best = bound(memory.counts[a], start, turn_value)
            index[a] = params[0] + params[1] * best


@register
class KLUCBEmpirical(Empirical):
    """KL-UCB by the rewards themselves, for rewards in a range.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.

    >>> KLUCBEmpirical()
    KLUCBEmpirical(range=None)
    """

    name = "kl-ucb-empirical"
    kernels = PolicyKernels(kl_ucb_empirical_indices, learn=empirical_learn)
    turn_values = log_turns


@kernel
def kl_ucb_switch_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Only an arm that is not refuted at the best bound so far has its own searched."""
    share, best = params[2] / index.size, -np.inf
    for a in range(index.size):
        plays, closed = memory.seen[0, a], index[a] != index[a]
        if closed:
            continue
        if plays == 0.0:
            index[a] = np.inf
            continue
        mean, level = memory.seen[1, a] / plays, max(math.log(share / plays), 0.0)
        index[a] = -np.inf
        if plays > share**0.2:
            index[a] = params[0] + params[1] * (mean + math.sqrt(0.5 * level / plays))
        else:
            start = max(mean, best)
            if start == mean or k_inf(memory.counts[a], min(start, 1.0)) <= level:
                result = bound(memory.counts[a], min(start, 1.0), level)
                index[a] = params[0] + params[1] * result
        best = max(best, (index[a] - params[0]) / params[1])


@register
class KLUCBSwitch(Empirical):
    """Empirical KL-UCB that goes over to MOSS, for rewards in a range and a known horizon.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.
    horizon
        The number of turns of play.

    >>> KLUCBSwitch(1_000)
    KLUCBSwitch(range=None, horizon=1000)
    """

    horizon: Turns

    name = "kl-ucb-switch"
    kernels = PolicyKernels(kl_ucb_switch_indices, learn=empirical_learn)


@kernel
def imed_k_inf_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    leading = -np.inf
    for a in range(index.size):
        if memory.seen[0, a] > 0.0 and index[a] == index[a]:
            leading = max(leading, memory.seen[1, a] / memory.seen[0, a])
    for a in range(index.size):
        plays = memory.seen[0, a]
        if plays == 0.0:
            index[a] = np.inf
        else:
            against = 0.0
            if memory.seen[1, a] / plays < leading:
                against = k_inf(memory.counts[a], leading)
            index[a] = -(against + math.log(plays))


@register
class IMEDKinf(Empirical):
    """IMED by the rewards themselves, for rewards in a range.

    Parameters
    ----------
    range
        The two ends of rewards; by default the family's own.

    >>> IMEDKinf()
    IMEDKinf(range=None)
    """

    name = "imed-k-inf"
    kernels = PolicyKernels(imed_k_inf_indices, learn=empirical_learn)
