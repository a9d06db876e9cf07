"""Covariances as S = L Lᵀ, L lower triangular: what is learnt and forgotten keeps them positive.

No step subtracts one variance from another. A reward multiplies L by a triangular matrix whose
diagonal is made of square roots of shares (Carlson's form of the Kalman update), what is forgotten
comes back by rotations. Features that are 0 cost nothing.
"""

from __future__ import annotations

import math

from belman.engine import inlined_kernel, kernel

_FEW = 4  # times the numbers of a vector that are not 0, below its width: few of them are


@inlined_kernel
def project(root, features, out):
    """Fill out = Lᵀφ, and return φᵀSφ, its square."""
    size = features.size
    for j in range(size):
        out[j] = 0.0
    for i in range(size):
        weight = features[i]
        if weight != 0.0:
            for j in range(i + 1):
                out[j] += root[i, j] * weight
    total = 0.0
    for j in range(size):
        total += out[j] * out[j]
    return total


@kernel
def filled(vector):
    """From where to where, the end excluded, a vector is not 0."""
    low, high = 0, vector.size
    while low < high and vector[low] == 0.0:
        low += 1
    while high > low and vector[high - 1] == 0.0:
        high -= 1
    return low, high


@kernel
def restore(root, projected, out):
    """Fill out = L f; with f = Lᵀφ it is Sφ."""
    low, high = filled(projected)
    count = 0
    for j in range(low, high):
        count += 1 if projected[j] != 0.0 else 0
    if _FEW * count < high - low:
        for i in range(projected.size):
            out[i] = 0.0
        for j in range(low, high):
            if projected[j] != 0.0:
                for i in range(j, projected.size):
                    out[i] += root[i, j] * projected[j]
        return
    for i in range(projected.size):
        total = 0.0
        for j in range(low, min(i + 1, high)):
            total += root[i, j] * projected[j]
        out[i] = total


@kernel
def observe(root, projected, noise, keep, lean):
    """S − Sφφᵀ S/(noise + φᵀSφ) in place of S, for f = Lᵀφ; `keep` and `lean` are scratch (d).

    Column j of L becomes keep_j L_j − lean_j Σ_{i>j} f_i L_i, where keep_j² is the share of
    noise + Σ_{i≥j} f_i² that comes before f_j². Where f_j is 0 it stays, and `lean` says which
    column is next.
    """
    low, high = filled(projected)
    before, following = noise, low - 1
    for j in range(low, high):
        if projected[j] == 0.0:
            lean[j] = following
        else:
            following = j
    for place in range(high - low):
        j = high - 1 - place
        if projected[j] != 0.0:
            after = before + projected[j] * projected[j]
            keep[j] = math.sqrt(before / after)
            lean[j] = projected[j] / (math.sqrt(before) * math.sqrt(after))
            before = after
    for i in range(low, projected.size):
        carried = 0.0
        j = min(i, high - 1)
        while j >= low:
            if projected[j] == 0.0:
                j = int(lean[j])
                continue
            old = root[i, j]
            root[i, j] = keep[j] * old - lean[j] * carried
            carried += projected[j] * old
            j -= 1


@kernel
def widen(root, place, amount, column):
    """S + amount² e eᵀ in place of S, for the coordinate e at a place; `column` is scratch (d)."""
    for i in range(column.size):
        column[i] = 0.0
    column[place] = amount
    widen_along(root, place, column)


@kernel
def widen_along(root, first, column):
    """S + ccᵀ in place of S, for a column c (d) that is 0 before the `first`; c is used up."""
    for j in range(first, column.size):
        if column[j] == 0.0:
            continue
        length = math.hypot(root[j, j], column[j])
        cosine, sine = root[j, j] / length, column[j] / length
        root[j, j] = length
        for i in range(j + 1, column.size):
            old = root[i, j]
            root[i, j] = cosine * old + sine * column[i]
            column[i] = cosine * column[i] - sine * old
