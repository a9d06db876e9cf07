"""The probability that each arm is the best, and what choosing it now is expected to lose.

P(a best) = ∫ H d ln F_a with H = Π_b F_b, F_a the distribution function of arm a's expected reward.
Between two points of a mesh on which H rises by little, ln F_a is nearly straight in ln H, so the
interval adds ΔH·Δln F_a/Δln H: exact for equal arms, second order for others, and the whole sums to
one. A mesh point is a quantile of the arm that rises most, so that neither narrow arms nor heavy
tails escape it. Arms that cannot be best are left out beforehand.

The loss E[max_b μ_b − μ_a] of the arm l with the largest mean is ∫ F_l(x) (1 − Π_{b≠l} F_b(x)) dx,
a positive integrand, so that nothing cancels; any other arm loses the difference of two means more.
The line is cut so that no distribution function rises far between two cuts, with a Gauss–Legendre
rule on every piece.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from belman.engine import kernel
from belman.measures.lift import OWN, MeanDistributions, Units, quantile_at_score

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
#: Normal scores of the quantiles at which the line is cut: dense in the tails, which may be heavy.
_SCORES = np.concatenate(
    [np.arange(-8.0, -2.5, 0.5), np.arange(-2.0, 2.5), np.arange(3.0, 8.5, 0.5)]
)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


@kernel
def _bounds(family, constants, beliefs, tail, low, high):
    """Quantiles of each arm's expected reward that leave `tail` below and tail/K above."""
    for a in range(low.size):
        low[a] = family.mean_quantile(constants, beliefs[a], tail, False)
        high[a] = family.mean_quantile(constants, beliefs[a], tail / low.size, True)


@kernel
def _logs_at(family, constants, beliefs, high, x, logs):
    """Fill ln F_a(x) of every arm and return its sum ln H(x)."""
    total = 0.0
    for a in range(logs.size):
        logs[a] = 0.0
        if x < high[a]:
            logs[a] = math.log(max(family.mean_cdf(constants, beliefs[a], x), 1e-300))
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
def _between(family, constants, belief, before, after, left, right):
    """Where an arm has done half of its rise between two points; next to an end that has more."""
    low, high = math.exp(before), math.exp(after)
    if low < 0.5:
        middle = family.mean_quantile(constants, belief, 0.5 * (low + high), False)
    else:
        middle = family.mean_quantile(constants, belief, 0.5 * (2.0 - low - high), True)
    if middle <= left:
        return left + max(_STEP * abs(left), 1.0 / _FAR)
    return right - max(_STEP * abs(right), 1.0 / _FAR) if middle >= right else middle


@kernel
def _integrate(family, constants, beliefs, high, floor, rise, mesh, logs, sums, shares):
    """Walk the mesh depth first, by a stack of right ends: split where much rises, else add it."""
    ceiling = 0.0
    for a in range(high.size):
        ceiling = max(ceiling, high[a]) if a > 0 else high[0]
    left = floor
    left_sum = _logs_at(family, constants, beliefs, high, left, logs[0])
    mesh[1] = ceiling
    sums[1] = _logs_at(family, constants, beliefs, high, ceiling, logs[1])
    top = 1
    points = 2
    while top > 0:
        right, right_sum = mesh[top], sums[top]
        gain = math.exp(right_sum) - math.exp(left_sum)
        arm, steepest = _steepest(logs[0], logs[top])
        middle = left
        steep = gain > rise or (gain > _STEEP_RISE and steepest > _STEEP)
        if top + 1 < mesh.size and points < _POINTS and steep:
            middle = _between(
                family, constants, beliefs[arm], logs[0, arm], logs[top, arm], left, right
            )
        if left < middle < right:
            top += 1
            points += 1
            mesh[top] = middle
            sums[top] = _logs_at(family, constants, beliefs, high, middle, logs[top])
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
def best_share(family, constants, beliefs, scratch):
    """The arm that is most likely the best, and how likely, for loops: `scratch` is DEPTH + 3 rows
    of two numbers more than there are arms.
    """
    arms = len(beliefs)
    low, high, shares = scratch[DEPTH, :arms], scratch[DEPTH + 1, :arms], scratch[DEPTH + 2, :arms]
    _bounds(family, constants, beliefs, _TAIL, low, high)
    floor = -_FAR
    for a in range(arms):
        floor, high[a], shares[a] = max(floor, low[a]), min(high[a], _FAR), 0.0
    logs, mesh, sums = scratch[:DEPTH, :arms], scratch[:DEPTH, arms], scratch[:DEPTH, arms + 1]
    _integrate(family, constants, beliefs, high, floor, _RISE, mesh, logs, sums, shares)
    best, total = 0, 0.0
    for a in range(arms):
        total += shares[a]
        if shares[a] > shares[best]:
            best = a
    return best, shares[best] / total if total > 0.0 else 1.0


def best_probabilities(family: MeanDistributions, beliefs: Floats) -> Floats:
    """Compute the probability that each arm is the best, accurate to 1e-3.

    Parameters
    ----------
    family
        The family of the rewards.
    beliefs
        The belief about each arm, a row each (K × D).

    Returns
    -------
    ndarray
        K probabilities that add up to 1.

    Notes
    -----
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


@kernel
def _fill_quantiles(family, constants, beliefs, scores, out):
    for a in range(len(beliefs)):
        for i in range(scores.size):
            out[a, i] = quantile_at_score(family, constants, beliefs[a], 0.0, 1.0, scores[i])


def _quantiles(family: MeanDistributions, beliefs: Floats, scores: Floats) -> Floats:
    """The means of each arm (a row) at some normal scores."""
    out = np.empty((len(beliefs), scores.size))
    family.enter(_fill_quantiles, beliefs=beliefs, scores=scores, out=out)
    return out


def _cuts(quantiles: Floats, leader: int) -> Floats:
    """From the leader's least to the largest of all, with at most one quantile of an arm between
    two cuts.
    """
    at, end = float(quantiles[leader, 0]), float(quantiles[:, -1].max())
    cuts, last = [at], quantiles.shape[1] - 1
    while at < end:
        beyond = np.minimum((quantiles <= at).sum(axis=1) + 1, last)
        ahead = quantiles[np.arange(len(quantiles)), beyond]
        at = float(ahead[ahead > at].min(initial=end))
        cuts.append(at)
    return np.array(cuts)


@kernel
def _integrate_loss(family, constants, beliefs, tops, leader, cuts, nodes, weights, out):
    """The expected loss of the leader; beyond its top an arm's distribution function is 1."""
    for piece in range(cuts.size - 1):
        half = 0.5 * (cuts[piece + 1] - cuts[piece])
        middle = 0.5 * cuts[piece + 1] + 0.5 * cuts[piece]
        for i in range(nodes.size):
            x = middle + half * nodes[i]
            others = 1.0
            for a in range(len(beliefs)):
                if a != leader and x < tops[a]:
                    others *= family.mean_cdf(constants, beliefs[a], x)
            mine = family.mean_cdf(constants, beliefs[leader], x)
            out[0] += half * weights[i] * mine * (1.0 - others)


def expected_losses(family: MeanDistributions, beliefs: Floats, units: Units = OWN) -> Floats:
    """Compute the expected loss of choosing each arm now, given independent beliefs.

    Parameters
    ----------
    family
        The family of the rewards.
    beliefs
        The belief about each arm, a row each (K × D).
    units
        How the user counts rewards.

    Returns
    -------
    ndarray
        How much more an oracle is expected to earn per turn, in the user's units; infinite where
        another arm's expected reward is infinite, or the arm's own expected cost is.

    >>> from belman.families import Bernoulli
    >>> expected_losses(Bernoulli(), np.array([[2.0, 1.0], [1.0, 2.0]])).round(4).tolist()
    [0.0333, 0.3667]
    """
    rows = np.ascontiguousarray(beliefs, dtype=np.float64)
    if len(rows) < 2:
        return np.zeros(len(rows))
    means = np.array([family.expected_reward(row) for row in rows])
    endless = ~np.isfinite(means)
    leader = int(np.argmax(np.where(endless & units.minimise, -np.inf, means)))
    lowest = _quantiles(family, rows[leader : leader + 1], _SCORES[:1])[0, 0]
    contends = _quantiles(family, rows, _SCORES[-1:])[:, 0] > lowest
    contends[leader] = True  # also where all of its quantiles are one
    contenders = np.flatnonzero(contends)
    position = int(np.searchsorted(contenders, leader))
    quantiles = _quantiles(family, rows[contenders], _SCORES)
    loss = np.zeros(1)
    family.enter(
        _integrate_loss,
        beliefs=rows[contenders],
        tops=quantiles[:, -1].copy(),
        leader=position,
        cuts=_cuts(quantiles, position),
        nodes=_NODES,
        weights=_WEIGHTS,
        out=loss,
    )
    missed = endless if units.minimise else endless.sum() - endless > 0
    others = ~missed & (np.arange(len(rows)) != leader)
    losses = np.where(missed, np.inf, loss[0])
    losses[others] += means[leader] - means[others]
    return losses * abs(units.slope)
