"""The probability that each arm is the best one, by a deterministic rule.

P(a best) = ∫ H d ln F_a with H = Π_b F_b, F_a the distribution function of arm a's expected reward.
Between two points of a mesh on which H rises by little, ln F_a is nearly straight in ln H, so the
interval adds ΔH·Δln F_a/Δln H: exact for equal arms, second order for others, and the whole sums to
one. A mesh point is a quantile of the arm that rises most, so that neither narrow arms nor heavy
tails escape it. Arms that cannot be best are left out beforehand.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.families.family import Family

Floats = NDArray[np.float64]

_RISE = 1.0 / 40.0  # of H between two points of the mesh
_STEEP_RISE = 1e-4  # … where the distribution function of some arm rises by a factor of …
_STEEP = 0.25  # … e to this power: a narrow arm among wide ones
_POINTS = 400
_TAIL = 1e-5
_FAR = 1e300
_STEP = 1e-15
#: How many points of the mesh may wait for their turn.
DEPTH = 64


@kernel
def _bounds(family, law, beliefs, tail, low, high):
    """Quantiles of each arm's expected reward that leave `tail` below and tail/K above."""
    for a in range(low.size):
        low[a] = family.mean_quantile(law, beliefs[a], tail, False)
        high[a] = family.mean_quantile(law, beliefs[a], tail / low.size, True)


@kernel
def _logs_at(family, law, beliefs, high, x, logs):
    """Fill ln F_a(x) of every arm and return its sum ln H(x)."""
    total = 0.0
    for a in range(logs.size):
        logs[a] = 0.0
        if x < high[a]:
            logs[a] = math.log(max(family.mean_cdf(law, beliefs[a], x), 1e-300))
        total += logs[a]
    return total


@kernel
def _steepest(before, after):
    """The arm whose ln F rises most, and by how much."""
    arm, steepest = 0, 0.0
    for a in range(before.size):
        rise = after[a] - before[a]
        if rise > steepest:
            arm, steepest = a, rise
    return arm, steepest


@kernel
def _between(family, law, belief, before, after, left, right):
    """Where an arm has done half of its rise between two points; next to an end that has more."""
    low, high = math.exp(before), math.exp(after)
    if low < 0.5:
        middle = family.mean_quantile(law, belief, 0.5 * (low + high), False)
    else:
        middle = family.mean_quantile(law, belief, 0.5 * (2.0 - low - high), True)
    if middle <= left:
        return left + max(_STEP * abs(left), 1.0 / _FAR)
    return right - max(_STEP * abs(right), 1.0 / _FAR) if middle >= right else middle


@kernel
def _integrate(family, law, beliefs, high, floor, rise, mesh, logs, sums, shares):
    """Walk the mesh depth first, by a stack of right ends: split where much rises, else add it."""
    ceiling = 0.0
    for a in range(high.size):
        ceiling = max(ceiling, high[a]) if a > 0 else high[0]
    left = floor
    left_sum = _logs_at(family, law, beliefs, high, left, logs[0])
    mesh[1] = ceiling
    sums[1] = _logs_at(family, law, beliefs, high, ceiling, logs[1])
    top = 1
    points = 2
    while top > 0:
        right, right_sum = mesh[top], sums[top]
        gain = math.exp(right_sum) - math.exp(left_sum)
        arm, steepest = _steepest(logs[0], logs[top])
        middle = left
        steep = gain > rise or (gain > _STEEP_RISE and steepest > _STEEP)
        if top + 1 < mesh.size and points < _POINTS and steep:
            middle = _between(family, law, beliefs[arm], logs[0, arm], logs[top, arm], left, right)
        if left < middle < right:
            top += 1
            points += 1
            mesh[top] = middle
            sums[top] = _logs_at(family, law, beliefs, high, middle, logs[top])
        else:
            span = right_sum - left_sum
            if span > 0.0:
                for a in range(shares.size):
                    shares[a] += gain * (logs[top, a] - logs[0, a]) / span
            for a in range(shares.size):
                logs[0, a] = logs[top, a]
            left, left_sum = right, right_sum
            top -= 1


@kernel
def best_share(family, law, beliefs, scratch):
    """The arm that is most likely the best, and how likely, for loops: `scratch` is DEPTH + 3 rows
    of two numbers more than there are arms.
    """
    arms = len(beliefs)
    low, high, shares = scratch[DEPTH, :arms], scratch[DEPTH + 1, :arms], scratch[DEPTH + 2, :arms]
    _bounds(family, law, beliefs, _TAIL, low, high)
    floor = -_FAR
    for a in range(arms):
        floor, high[a], shares[a] = max(floor, low[a]), min(high[a], _FAR), 0.0
    logs, mesh, sums = scratch[:DEPTH, :arms], scratch[:DEPTH, arms], scratch[:DEPTH, arms + 1]
    _integrate(family, law, beliefs, high, floor, _RISE, mesh, logs, sums, shares)
    best, total = 0, 0.0
    for a in range(arms):
        total += shares[a]
        if shares[a] > shares[best]:
            best = a
    return best, shares[best] / total if total > 0.0 else 1.0


def best_probabilities(family: Family, beliefs: Floats) -> Floats:
    """The probability of being best of each arm, given its belief (one a row), accurate to 1e-3.

    Where a belief has much of its mass closer to an end of the range than floats can tell apart
    (Beta parameters under 0.05), arms that crowd there share it about equally.

    >>> from belman.families import Bernoulli
    >>> best_probabilities(Bernoulli(), np.array([[2.0, 1.0], [1.0, 2.0]])).round(3).tolist()
    [0.833, 0.167]
    """
    rows = np.ascontiguousarray(beliefs, dtype=np.float64)
    low, high = np.empty(len(rows)), np.empty(len(rows))
    family.enter(_bounds, beliefs=rows, tail=_TAIL, low=low, high=high)
    floor = max(low.max(), -_FAR)
    chances = np.zeros(len(rows))
    contenders = np.flatnonzero(high > floor)
    if len(contenders) < 2:
        chances[np.argmax(high)] = 1.0
        return chances
    shares = np.zeros(len(contenders))
    mesh, sums, logs = np.empty(DEPTH), np.empty(DEPTH), np.empty((DEPTH, len(contenders)))
    family.enter(
        _integrate,
        beliefs=rows[contenders],
        high=np.minimum(high[contenders], _FAR),
        floor=float(floor),
        rise=_RISE,
        mesh=mesh,
        logs=logs,
        sums=sums,
        shares=shares,
    )
    chances[contenders] = shares / shares.sum()
    return chances
