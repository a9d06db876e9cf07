"""The geometry of beliefs: divergences, barycentres, projections. It is given a family.

The functions here are for a person with a handful of beliefs; the kernels of `projection` do
the same turn by turn.

>>> from belman.families import Bernoulli
>>> arms = [(3.0, 1.0), (1.0, 3.0)]
>>> [round(float(x), 4) for x in least_kl_from_arms(Bernoulli(), arms)]
[0.8135, 0.8135]
>>> [float(x) for x in least_kl_to_arms(Bernoulli(), arms)]
[2.0, 2.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.errors import PolicyError
from belman.manifold import projection

if TYPE_CHECKING:
    from belman.families.family import Family

Floats = NDArray[np.float64]


def _centre(
    kernel: Any, family: Family, points: list[Floats], guess: ArrayLike, pull: float
) -> Floats:
    pseudobelief, eta = np.array(guess, dtype=np.float64), np.empty(family.dimension)
    family.enter(
        kernel,
        total=np.sum(points, axis=0),
        arms=len(points),
        pull=float(pull),
        pseudobelief=pseudobelief,
        eta=eta,
    )
    return pseudobelief


def divergence(family: Family, belief: ArrayLike, other: ArrayLike) -> float:
    """KL(belief ‖ other), which is also the KL between the two belief–reward distributions."""
    return family.divergence(belief, other)


def least_kl_from_arms(family: Family, beliefs: ArrayLike) -> Floats:
    """The barycentre argmin_b Σ_a KL(b_a ‖ b): the average of mean parameters (Theorem 1)."""
    rows = np.asarray(beliefs, dtype=np.float64)
    points = [family.mean_parameters(row) for row in rows]
    return _centre(projection.least_kl_from_arms, family, points, rows.mean(axis=0), 0.0)


def least_kl_to_arms(family: Family, beliefs: ArrayLike) -> Floats:
    """The other barycentre argmin_b Σ_a KL(b ‖ b_a): the average of natural parameters."""
    points = [family.natural(row) for row in np.asarray(beliefs, dtype=np.float64)]
    return _centre(projection.least_kl_to_arms, family, points, family.prior, 0.0)


def least_kl_from_arms_tilted(family: Family, beliefs: ArrayLike, pull: float) -> Floats:
    """Algorithm 1 to the letter: argmin_b̄ Σ_a KL(P_a ‖ Q̄), Q̄ ∝ b̄(θ) f_θ(x) exp(pull·x)."""
    check_joint(family)
    rows = np.asarray(beliefs, dtype=np.float64)
    points = [family.mean_parameters(row) for row in rows]
    return _centre(projection.least_kl_from_arms_tilted, family, points, rows.mean(axis=0), pull)


def nearness(family: Family, beliefs: ArrayLike, pseudobelief: ArrayLike, pull: float) -> Floats:
    """−KL(P_a ‖ Q̄) of each arm up to a shared constant; the I-projection plays the largest.

    >>> from belman.families import Bernoulli
    >>> near = nearness(Bernoulli(), [(2.0, 1.0), (1.0, 2.0)], (1.0, 1.0), pull=3.0)
    >>> round(float(near[0] - near[1]), 6)
    1.0
    """
    rows = np.asarray(beliefs, dtype=np.float64)
    points = np.array([family.mean_parameters(row) for row in rows]).T.copy()
    naturals = np.array([family.natural(row) for row in rows])
    partitions = np.array([family.log_partition(row) for row in rows])
    negentropy = np.einsum("ad,da->a", naturals, points) - partitions
    expected = np.array([family.expected_reward(row) for row in rows])
    index = np.empty(len(rows))
    eta = family.natural(pseudobelief)
    projection.nearness(points, negentropy, expected, eta, float(pull), index)
    return index


def check_joint(family: Family) -> None:
    """Refuse the joint projection where it is not defined, and say why."""
    if family.kernels.tilted is None:
        reason = family.no_joint or "no tilted log-partition is known for this family"
        what = f"reading 'joint' does not exist for {family.name} rewards"
        raise PolicyError(f"{what}: {reason} (use 'barycentre' or 'natural')")
