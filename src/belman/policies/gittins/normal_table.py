"""Gittins indices of normal rewards: one number per state of knowledge, by calibration.

An arm whose mean is believed N(m, 1/n), with rewards N(mean, 1), is worth m + v(n); n is a number
of rewards. Against retirement at 0, what it is worth beyond being played for ever at m is W(m, n) =
max(−m/(1 − γ), γ E W(m′, n + 1)), with m′ − m normal of variance 1/(n(n + 1)); with k turns to go
instead of a discount, −k m stands for −m/(1 − γ). v(n) is where both sides are the same. Functions
of m are kept on a mesh of m·sqrt(n), and v(n)·sqrt(n) is what is tabulated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MESH = np.linspace(-9.0, 9.0, 721)
_SCORES = np.linspace(-5.5, 5.5, 45)
_WEIGHTS = np.exp(-0.5 * _SCORES**2) / np.exp(-0.5 * _SCORES**2).sum()
_DEPTH = 2_000
#: Counts of rewards from which the discounted table starts.
LEAST = 0.01
NODES = 160
#: How far, in steps, discrete time moves the boundary of a stopping problem.
STEP = 0.583


def _step(n: float, after: Floats, leave_then: float) -> Floats:
    """E W(m′, n + 1) on the mesh, from W on the mesh at n + 1, where leaving gives −m·that."""
    mean = _MESH / math.sqrt(n)
    then = (mean[:, None] + _SCORES / math.sqrt(n * (n + 1.0))) * math.sqrt(n + 1.0)
    worth = np.interp(then, _MESH, after, right=0.0)
    far = then < _MESH[0]
    worth[far] = -leave_then * then[far] / math.sqrt(n + 1.0)
    expected: Floats = worth @ _WEIGHTS
    return expected


def _boundary(stay: Floats, leave: Floats) -> float:
    """v·sqrt(n): how far below 0 the mean has to be for staying to be worth no more."""
    gain = stay - leave
    below = np.flatnonzero(gain <= 0.0)
    if not below.size:
        return -float(_MESH[0])
    i = int(below[-1])
    if i + 1 == len(gain):
        return 0.0
    share = -gain[i] / (gain[i + 1] - gain[i])
    return max(-float(_MESH[i] + share * (_MESH[i + 1] - _MESH[i])), 0.0)


def _last_lesson(discount: float, n: float) -> Floats:
    """W at the depth: the arm is played L more times, then for ever or no more, for the best L."""
    from scipy import special

    mean, best = _MESH / math.sqrt(n), np.maximum(-_MESH / math.sqrt(n), 0.0)
    turns = 1.0
    while turns * (1.0 - discount) < 4.0:
        width = math.sqrt(turns / (n * (n + turns)))
        x = -mean / width
        hope = width * (x * special.ndtr(x) + np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi))
        best = np.maximum(best, discount**turns * hope)
        turns *= math.sqrt(2.0)
    return best / (1.0 - discount)


def discounted(discount: float, depth: int = _DEPTH) -> tuple[Floats, Floats]:
    """Counts n and v(n)·sqrt(n) under a discount: whole n up to a quarter of the depth, and less.

    >>> n, lift = discounted(0.9, depth=200)
    >>> round(float(np.interp(1.0, n, lift)), 2)
    0.75
    """
    keep = 1.0 / (1.0 - discount)
    worth, counts, lifts = _last_lesson(discount, float(depth)), [], []
    second = worth
    for n in range(depth - 1, 0, -1):
        leave = -keep * _MESH / math.sqrt(n)
        stay = discount * _step(float(n), worth, keep)
        if n <= depth // 4:
            counts.append(float(n))
            lifts.append(_boundary(stay, leave))
        second, worth = worth, np.maximum(stay, leave)
    for n in np.geomspace(LEAST, 1.0, 24)[-2::-1].tolist():
        # at n + 1, between 1 and 2, W·sqrt(n) is nearly straight in n
        scaled = (1.0 - n) * worth + n * second * math.sqrt(2.0)
        leave = -keep * _MESH / math.sqrt(n)
        stay = discount * _step(n, scaled / math.sqrt(n + 1.0), keep)
        counts.append(n)
        lifts.append(_boundary(stay, leave))
    return np.array(counts[::-1]), np.array(lifts[::-1])


def finite(depth: int = _DEPTH) -> tuple[Floats, Floats]:
    """Ratios r = k/n of turns left to rewards known, rising, and v·sqrt(n) of Brownian motion.

    For many rewards v·sqrt(n) depends on the ratio alone; rewards that come one by one lower it by
    0.583/sqrt(n) (Chernoff's correction), which is added back. Walked for n of 16 and more.

    >>> ratio, lift = finite(400)
    >>> round(float(np.interp(1.0, ratio, lift)), 1)
    0.6
    """
    worth, ratios, lifts = np.maximum(-_MESH / math.sqrt(depth), 0.0), [], []
    for n in range(depth - 1, 15, -1):
        left = depth - n
        leave = -float(left + 1) * _MESH / math.sqrt(n)
        stay = _step(float(n), worth, float(left))
        ratios.append((left + 1) / n)
        lifts.append(_boundary(stay, leave) + STEP / math.sqrt(n))
        worth = np.maximum(stay, leave)
    return np.array(ratios), np.array(lifts)


def on_nodes(positions: Floats, values: Floats) -> Floats:
    """A table at `NODES` geometric places, headed by the ln of the first and their distance."""
    logs = np.linspace(math.log(positions[0]), math.log(positions[-1]), NODES)
    table: Floats = np.interp(logs, np.log(positions), values)
    return np.concatenate([[logs[0], logs[1] - logs[0]], table])
