"""What a belief says when features are measured on other scales: its prior is stated anew.

A prior of deviation D is one per unit of the scale in use. What rewards told is apart from it: with
S = s·LLᵀ, the precision (LLᵀ)⁻¹ = D⁻² + Λ holds Λ of the rewards, and Λm + D⁻²m is theirs alone, as
the prior is around 0. On new scales Λ and that vector are written for the new coefficients, and D⁻²
is added to Λ again. So the belief is the one that all rewards on the new scales would have given:
exactly if they are linear, and else with the normal factor that stood in for each reward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belman.models.model import Belief, Floats, Model
from belman.models.shared import weigh


class Step(NamedTuple):
    """A step of another way to write θ: shift·θ_place is added to θ_other, then θ_place becomes
    factor·θ_place.
    """

    place: int
    other: int
    factor: float
    shift: float


def rescale(model: Model, belief: Belief, steps: Sequence[Step]) -> None:
    """Let the belief be about θ as it is after these steps, with the prior that it had before."""
    if belief.clock[0] == 0.0:
        return
    for b in range(len(belief.mean)):
        _rescale_member(model, belief, b, steps)
    weigh(belief)


def _rescale_member(model: Model, belief: Belief, b: int, steps: Sequence[Step]) -> None:
    mean, root, noise, prior = belief.mean[b], belief.root[b], belief.noise[b], belief.prior[b]
    precision = _inverse(root)
    told = precision @ mean
    before, known = float(mean @ told), float(np.log(np.diag(root)).sum())
    np.fill_diagonal(precision, np.diag(precision) - prior**-2.0)
    for coordinates in (precision, precision.T, told):
        for place, other, factor, shift in steps:
            coordinates[place] = (coordinates[place] - shift * coordinates[other]) / factor
    # in units of the prior, the precision is 1 or more in every direction
    whitened = prior[:, None] * precision * prior
    np.fill_diagonal(whitened, np.diag(whitened) + 1.0)
    root[:] = prior[:, None] * _inverse_root(whitened)
    mean[:] = root @ (told @ root)
    after = float(mean @ told)
    belief.fit[b] += float(np.log(np.diag(root)).sum()) - known
    if noise[0] > 0.0:
        rate = max(noise[1] + 0.5 * (before - after), model.first_noise[1])
        belief.fit[b] += noise[0] * math.log(noise[1] / rate)
        noise[1] = rate
    else:
        belief.fit[b] += 0.5 * (after - before) / model.kernels.scale(model.constants, noise)


def _inverse(root: Floats) -> Floats:
    """Return (LLᵀ)⁻¹."""
    from scipy.linalg import lapack  # a fifth of a second, for those who have contexts

    inverse, _ = lapack.dtrtri(root, lower=1)  # dpotri starts threads for a dozen coefficients
    inverse = np.tril(inverse)
    found: Floats = inverse.T @ inverse
    return found


def _inverse_root(precision: Floats) -> Floats:
    """Return the lower triangular L with LLᵀ = P⁻¹, for P with no eigenvalue below 1."""
    from scipy.linalg import lapack

    upside = precision[::-1, ::-1]
    factor, failed = lapack.dpotrf(upside, lower=1, clean=1)
    if failed:  # rounding left an eigenvalue below 0
        values, vectors = np.linalg.eigh(upside)
        whole = (vectors * np.maximum(values, 1.0)) @ vectors.T
        factor = np.linalg.cholesky(whole)
    inverse, _ = lapack.dtrtri(factor, lower=1)
    found: Floats = np.ascontiguousarray(inverse[::-1, ::-1].T)
    return found
