"""The two barycentres of beliefs, the least sum of KL from the arms and to them, and the two
projections of Algorithm 1, to the nearest arm and pseudobelief, normaliser included.

Every kernel receives a family and moves a pseudobelief in place. `total` is a running sum over the
arms, kept by `replace_point`: one arm changes per turn, so a turn costs one inversion of the mean
parameters and no pass over the arms.
"""

from __future__ import annotations

import math

from belman.engine import kernel

_STEPS = 300
_HALVINGS = 40
_TINY = 1e-300
_FAR = 3.0  # the longest step, in logarithms
_LEAST = 1e-100  # of a coordinate: a strong pull sends one to 0, where indices have limits


@kernel
def replace_point(points, total, refreshes, arm, point):
    """Put `point` in column `arm` of points (D × K); keep total (D), the sum of columns, exact."""
    dimension, arms = points.shape
    for i in range(dimension):
        total[i] += point[i] - points[i, arm]
        points[i, arm] = point[i]
    refreshes[0] += 1
    if refreshes[0] >= arms:  # afresh once per K refreshes: no drift, for D additions a turn
        refreshes[0] = 0
        for i in range(dimension):
            fresh = 0.0
            for a in range(arms):
                fresh += points[i, a]
            total[i] = fresh


@kernel
def least_kl_from_arms(family, constants, total, arms, pull, pseudobelief, eta):
    """argmin_b Σ_a KL(b_a ‖ b): the average of the arms' mean parameters (Theorem 1)."""
    for i in range(total.size):
        eta[i] = total[i] / arms
    family.belief.solve(constants, eta, pseudobelief)
    family.belief.natural(constants, pseudobelief, eta)


@kernel
def least_kl_to_arms(family, constants, total, arms, pull, pseudobelief, eta):
    """argmin_b Σ_a KL(b ‖ b_a): the distribution whose natural parameters are the average of the
    arms'.
    """
    for i in range(total.size):
        eta[i] = total[i] / arms
    family.belief.from_natural(constants, eta, pseudobelief)


@kernel
def _newton_in_logarithms(x, y, slope_x, slope_y, bend_xx, bend_xy, bend_yy):
    """The Newton step in (ln x, ln y), downhill: logarithms' curvature only where it is convex."""
    g0, g1 = x * slope_x, y * slope_y
    h00, h01, h11 = x * x * bend_xx + max(g0, 0.0), x * y * bend_xy, y * y * bend_yy + max(g1, 0.0)
    if h00 + min(g0, 0.0) > 0.0 and (h00 + min(g0, 0.0)) * h11 > 1.01 * h01 * h01:
        h00 += min(g0, 0.0)
    determinant = h00 * h11 - h01 * h01
    if determinant > 1e-14 * h00 * h11:
        return (h01 * g1 - h11 * g0) / determinant, (h01 * g0 - h00 * g1) / determinant
    own_x, own_y = -g0 / max(h00, _TINY), -g1 / max(h11, _TINY)  # each by itself: one may be flat
    return min(max(own_x, -_FAR), _FAR), min(max(own_y, -_FAR), _FAR)


@kernel
def least_kl_from_arms_tilted(family, constants, total, arms, pull, pseudobelief, eta):
    """argmin_η Σ_a KL(P_a ‖ Q̄), Q̄ ∝ f_θ(x) b_η(θ) e^(pull·x): ∇A_s(η) = average mean parameters.

    Newton with halving, in the logarithms of two positive coordinates, which are natural in the
    families that have a tilt, until a step is small or would lead no lower.
    """
    x, y = pseudobelief[0], pseudobelief[1]
    target_x, target_y = total[0] / arms, total[1] / arms
    value, slope_x, slope_y, bend_xx, bend_xy, bend_yy = family.tilted(constants, x, y, pull)
    for _ in range(_STEPS):
        slope_x -= target_x
        slope_y -= target_y
        step_x, step_y = _newton_in_logarithms(x, y, slope_x, slope_y, bend_xx, bend_xy, bend_yy)
        size = max(abs(step_x), abs(step_y))
        descent = x * slope_x * step_x + y * slope_y * step_y
        here = value - x * target_x - y * target_y
        scale = min(1.0, _FAR / size) if size > 0.0 else 1.0
        for _ in range(_HALVINGS):
            trial_x = max(x * math.exp(scale * step_x), _LEAST)
            trial_y = max(y * math.exp(scale * step_y), _LEAST)
            value, slope_x, slope_y, bend_xx, bend_xy, bend_yy = family.tilted(
                constants, trial_x, trial_y, pull
            )
            there = value - trial_x * target_x - trial_y * target_y
            if there <= here + 1e-4 * scale * descent + 1e-14 * abs(here):
                break
            scale *= 0.5
        x, y = trial_x, trial_y
        if size * scale < 1e-7 or x <= _LEAST or descent > -1e-15 * (1.0 + abs(here)):
            break
    pseudobelief[0], pseudobelief[1] = x, y
    family.belief.natural(constants, pseudobelief, eta)


@kernel
def nearness(points, negentropy, expected, eta, pull, index):
    """Minus KL(P_a ‖ Q̄) of every arm, up to what all arms share: pull·E_a[X] − Φ_a + ⟨η̄, m_a⟩.

    An arm whose expected reward is infinite comes first, unless nothing pulls.
    """
    dimension, arms = points.shape
    if dimension == 2:  # the common case in one pass
        first, second = eta[0], eta[1]
        for a in range(arms):
            index[a] = first * points[0, a] + second * points[1, a] - negentropy[a]
    else:
        for a in range(arms):
            index[a] = -negentropy[a]
        for i in range(dimension):
            for a in range(arms):
                index[a] += eta[i] * points[i, a]
    if pull > 0.0:
        for a in range(arms):
            index[a] += pull * expected[a]
