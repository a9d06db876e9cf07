"""The two barycentres of beliefs: the least sum of KL from the arms, and the least sum to them.

Every kernel receives a family and moves a pseudobelief in place. `total` is a running sum over the
arms, kept by `replace_point`: one arm changes per turn, so a turn costs one inversion of the mean
parameters and no pass over the arms.
"""

from __future__ import annotations

from belman.engine import kernel


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
def least_kl_from_arms(family, law, total, arms, pull, pseudobelief, eta):
    """argmin_b Σ_a KL(b_a ‖ b): the average of the arms' mean parameters (Theorem 1)."""
    for i in range(total.size):
        eta[i] = total[i] / arms
    family.belief.solve(law, eta, pseudobelief)
    family.belief.natural(law, pseudobelief, eta)


@kernel
def least_kl_to_arms(family, law, total, arms, pull, pseudobelief, eta):
    """argmin_b Σ_a KL(b ‖ b_a): the law whose natural parameters are the average of the arms'."""
    for i in range(total.size):
        eta[i] = total[i] / arms
    family.belief.from_natural(law, eta, pseudobelief)
