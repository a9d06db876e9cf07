"""What a belief says when features are measured on other scales: its prior is stated anew.

A prior of deviation D is one per unit of the scale in use. What rewards told is apart from it: with
S = s·LLᵀ, the precision (LLᵀ)⁻¹ = D⁻² + Λ holds Λ of the rewards, and Λm + D⁻²m is theirs alone, as
the prior is around 0. On new scales Λ and that vector are written for the new coefficients, and D⁻²
is added to Λ again. So the belief is the one that all rewards on the new scales would have given:
exactly if they are linear, and else with the normal factor that stood in for each reward.

Precisions are arrows as roots are (`arrow.py`): all arms are worked out side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from belman.models.arrow import Places, blocks
from belman.models.model import Belief, Floats, Model
from belman.models.shared import weigh


class Step(NamedTuple):
    """A step of another way to write θ, for coefficients of several arms at once: shift·θ_place is
    added to θ_other, of the same block, then θ_place becomes factor·θ_place.
    """

    position: Places
    other: Places
    factor: float
    shift: float


class _Arrow(NamedTuple):
    """A matrix or a root in parts, and a vector."""

    common: Floats  # (c, c)
    across: Floats  # (K, p, c) rows of arms, columns that are common
    own: Floats  # (K, p, p)
    head: Floats  # (c)
    tail: Floats  # (K, p)


class _Parts:
    """Where the parts of an arrow are; blocks that are shorter than others end in a unit matrix."""

    def __init__(self, begin: Places) -> None:
        result = blocks(begin)
        self.size, self.count, self.common = begin.size, len(result), int(begin[0])
        self.longest = max((end - start for start, end in result), default=0)
        self.block = np.full(begin.size, -1)
        for k, (start, end) in enumerate(result):
            self.block[start:end] = k
        positions = np.arange(begin.size)
        self.inside = np.where(self.block < 0, positions, positions - begin)
        self.own = positions[self.common :]
        self.at = self.block[self.own], self.inside[self.own]

    def cut(self, root: Floats, vector: Floats) -> _Arrow:
        """Return the parts of a root, and of a vector."""
        shape, c = (self.count, self.longest), self.common
        across, own = np.zeros((*shape, c)), np.zeros((*shape, self.longest))
        own[:] = np.eye(self.longest)
        across[self.at], own[self.at] = root[c:, :c], root[c:, c:]
        return _Arrow(root[:c, :c].copy(), across, own, *self.halves(vector, 0.0))

    def halves(self, vector: Floats, rest: float) -> tuple[Floats, Floats]:
        """Return a vector in two parts, filled up with the rest."""
        tail = np.full((self.count, self.longest), rest)
        tail[self.at] = vector[self.common :]
        return vector[: self.common].copy(), tail

    def join(self, result: _Arrow, root: Floats, vector: Floats) -> None:
        """Fill a root and a vector with their parts."""
        c = self.common
        root[:c, :c], vector[:c] = result.common, result.head
        root[c:, :c], root[c:, c:] = result.across[self.at], result.own[self.at]
        vector[c:] = result.tail[self.at]


def rescale(model: Model, belief: Belief, steps: Sequence[Step]) -> None:
    """Let the belief be about θ as it is after these steps, with the prior that it had before."""
    if belief.clock[0] == 0.0:
        return
    parts = _Parts(belief.begin)
    for b in range(len(belief.mean)):
        _rescale_member(model, belief, b, parts, steps)
    weigh(belief)


def _rescale_member(
    model: Model, belief: Belief, b: int, parts: _Parts, steps: Sequence[Step]
) -> None:
    root, noise = parts.cut(belief.root[b], belief.mean[b]), belief.noise[b]
    precision = _precision(root)
    before, known = _inner(root, precision), _height(root)
    head, tail = parts.halves(belief.prior[b], 1.0)
    _add_to_diagonals(precision, -(head**-2.0), -(tail**-2.0))
    precision = _written_anew(precision, parts, steps)
    # in units of the prior, the precision is 1 or more in every direction
    whitened = precision._replace(
        common=head[:, None] * precision.common * head,
        across=tail[:, :, None] * precision.across * head,
        own=tail[:, :, None] * precision.own * tail[:, None, :],
    )
    _add_to_diagonals(whitened, np.ones_like(head), np.ones_like(tail))
    result = _inverse_root(whitened)
    result = result._replace(
        common=head[:, None] * result.common,
        across=tail[:, :, None] * result.across,
        own=tail[:, :, None] * result.own,
    )
    result = _times(result, precision.head, precision.tail)
    parts.join(result, belief.root[b], belief.mean[b])
    after = _inner(result, precision)
    belief.fit[b] += _height(result) - known
    if noise[0] > 0.0:
        rate = max(noise[1] + 0.5 * (before - after), model.first_noise[1])
        belief.fit[b] += noise[0] * math.log(noise[1] / rate)
        noise[1] = rate
    else:
        belief.fit[b] += 0.5 * (after - before) / model.kernels.scale(model.constants, noise)


def _precision(root: _Arrow) -> _Arrow:
    """Return (LLᵀ)⁻¹, and that times the vector."""
    inverse, own = _inverse(root.common), _inverse(root.own)
    turned = own.swapaxes(1, 2)
    leant = own @ root.across  # (K, p, c)
    across = -(turned @ leant) @ inverse
    inner = np.eye(len(inverse)) + (leant.swapaxes(1, 2) @ leant).sum(axis=0)
    result = _Arrow(inverse.T @ inner @ inverse, across, turned @ own, root.head, root.tail)
    head = result.common @ root.head + np.einsum("kpc,kp->c", across, root.tail)
    tail = (result.own @ root.tail[:, :, None])[:, :, 0] + across @ root.head
    return result._replace(head=head, tail=tail)


def _inverse(root: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix, or of several."""
    from scipy.linalg import lapack  # a fifth of a second, for those who have contexts

    result = np.zeros_like(root)
    every = root[None] if root.ndim == 2 else root
    for one, out in zip(every, result[None] if root.ndim == 2 else result, strict=True):
        out[:] = lapack.dtrtri(one.T, lower=0)[0].T  # of its transpose: no copy is made
    return np.tril(result)


def _add_to_diagonals(precision: _Arrow, head: Floats, tail: Floats) -> None:
    positions = np.arange(tail.shape[1])
    precision.common[np.arange(len(head)), np.arange(len(head))] += head
    precision.own[:, positions, positions] += tail


def _written_anew(precision: _Arrow, parts: _Parts, steps: Sequence[Step]) -> _Arrow:
    """Return a precision, and what rewards told, for θ after these steps."""
    common, own = np.eye(parts.common), np.zeros_like(precision.own)
    own[:] = np.eye(parts.longest)
    for step in steps:
        block, factor, shift = parts.block[step.position], step.factor, step.shift
        position, other = parts.inside[step.position], parts.inside[step.other]
        if block[0] < 0:
            common[position] = (common[position] - shift * common[other]) / factor
        else:
            own[block, position] = (own[block, position] - shift * own[block, other]) / factor
    return _Arrow(
        common @ precision.common @ common.T,
        own @ precision.across @ common.T,
        own @ precision.own @ own.swapaxes(1, 2),
        common @ precision.head,
        (own @ precision.tail[:, :, None])[:, :, 0],
    )


def _inverse_root(precision: _Arrow) -> _Arrow:
    """Return the lower triangular L with LLᵀ = P⁻¹, for P with no eigenvalue below 1."""
    upper = _reversed_root(precision.own)  # U lower triangular, P = UᵀU
    own = _inverse(upper)
    leant = own.swapaxes(1, 2) @ precision.across
    rest = precision.common - (leant.swapaxes(1, 2) @ leant).sum(axis=0)
    common = _inverse(_reversed_root(rest))
    return precision._replace(common=common, across=-(own @ leant) @ common, own=own)


def _reversed_root(precision: Floats) -> Floats:
    """Return the lower triangular U with UᵀU = P, for P with no eigenvalue below 1."""
    upside = precision[..., ::-1, ::-1]
    factor: Any
    try:
        factor = np.linalg.cholesky(upside)
    except np.linalg.LinAlgError:  # rounding left an eigenvalue below 0
        values, vectors = np.linalg.eigh(upside)
        whole = (vectors * np.maximum(values, 1.0)[..., None, :]) @ vectors.swapaxes(-1, -2)
        factor = np.linalg.cholesky(whole)
    result: Floats = factor[..., ::-1, ::-1].swapaxes(-1, -2)
    return result


def _times(root: _Arrow, head: Floats, tail: Floats) -> _Arrow:
    """Return a root with LLᵀ times a vector in place of its own."""
    first = root.common.T @ head + np.einsum("kpc,kp->c", root.across, tail)
    second = (root.own.swapaxes(1, 2) @ tail[:, :, None])[:, :, 0]
    rest = (root.own @ second[:, :, None])[:, :, 0] + root.across @ first
    return root._replace(head=root.common @ first, tail=rest)


def _inner(root: _Arrow, precision: _Arrow) -> float:
    """Return the inner product of two vectors."""
    return float(root.head @ precision.head + (root.tail * precision.tail).sum())


def _height(root: _Arrow) -> float:
    """Return ln |L|."""
    own = np.diagonal(root.own, axis1=1, axis2=2)
    return float(np.log(np.diag(root.common)).sum() + np.log(own).sum())
