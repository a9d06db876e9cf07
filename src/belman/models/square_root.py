"""Covariances as S = L Lᵀ, L lower triangular: what is learnt and forgotten keeps them positive.

No step subtracts one variance from another. A reward multiplies L by a triangular matrix whose
diagonal is made of square roots of shares (Carlson's form of the Kalman update), and what is taken
back by the inverse of one; what is forgotten comes back by rotations. Roots are arrows (`arrow.py`)
and features that are 0 cost nothing: an arm's reward touches its own block, and the columns that
all arms share.
"""

from __future__ import annotations

import math

from belman.engine import inlined_kernel, kernel

_FEW = 4  # times the numbers of a vector that are not 0, below its width: few of them are


@inlined_kernel
def dot_within(first, second, common, low, high):
    """The inner product of two vectors, one of which is 0 but for what is common, and from `low` to
    `high`.
    """
    total = 0.0
    for i in range(common):
        total += first[i] * second[i]
    for i in range(low, high):
        total += first[i] * second[i]
    return total


@inlined_kernel
def project(root, begin, features, low, high, out):
    """Fill out = Lᵀφ, and return φᵀSφ, its square; `low` and `high` are where what is not common of
    φ is not 0.
    """
    size, common = features.size, begin[0]
    for j in range(size):
        out[j] = 0.0
    for i in range(common):
        weight = features[i]
        if weight != 0.0:
            for j in range(i + 1):
                out[j] += root[i, j] * weight
    for i in range(low, high):
        weight = features[i]
        if weight != 0.0:
            for j in range(common):
                out[j] += root[i, j] * weight
            own, row = out[begin[i] : i + 1], root[i, common:]
            for j in range(own.size):  # from 0: places that may be below it are not vectorised
                own[j] += row[j] * weight
    return dot_within(out, out, common, begin[low] if low < high else low, high)


@kernel
def filled(vector, first):
    """From where to where, the end excluded, a vector is not 0 from the `first` place on."""
    low, high = first, vector.size
    while low < high and vector[low] == 0.0:
        low += 1
    while high > low and vector[high - 1] == 0.0:
        high -= 1
    return low, high


@kernel
def restore(root, begin, projected, out):
    """Fill out = L f; with f = Lᵀφ it is Sφ."""
    size, common = projected.size, begin[0]
    low, high = filled(projected, 0)
    own_low, own_high = filled(projected, common)
    count = 0
    for j in range(low, high):
        count += 1 if projected[j] != 0.0 else 0
    if _FEW * count < high - low:
        for i in range(size):
            out[i] = 0.0
        for j in range(low, min(high, common)):
            if projected[j] != 0.0:
                for i in range(j, size):
                    out[i] += root[i, j] * projected[j]
        for j in range(own_low, own_high):
            if projected[j] != 0.0:
                i, place = j, common + j - begin[j]
                while i < size and begin[i] == begin[j]:
                    out[i] += root[i, place] * projected[j]
                    i += 1
        return
    for i in range(size):
        total = 0.0
        for j in range(low, min(i + 1, high, common)):
            total += root[i, j] * projected[j]
        first = max(begin[i], own_low)
        row, own = root[i, common + first - begin[i] :], projected[first : min(i + 1, own_high)]
        for j in range(own.size):
            total += row[j] * own[j]
        out[i] = total


@kernel
def observe(root, begin, projected, noise, keep, lean):
    """S − Sφφᵀ S/(noise + φᵀSφ) in place of S, for f = Lᵀφ; `keep` and `lean` are scratch (d).

    Column j of L becomes keep_j L_j − lean_j Σ_{i>j} f_i L_i, where keep_j² is the share of
    noise + Σ_{i≥j} f_i² that comes before f_j². Where f_j is 0 it stays, and `lean` says which
    column is next.
    """
    low, high = filled(projected, 0)
    before = noise
    for place in range(high - low):
        j = high - 1 - place
        if projected[j] != 0.0:
            after = before + projected[j] * projected[j]
            keep[j] = math.sqrt(before / after)
            lean[j] = projected[j] / (math.sqrt(before) * math.sqrt(after))
            before = after
    combine(root, begin, projected, low, high, keep, lean)


@kernel
def take_back(root, begin, projected, amount, keep, lean):
    """S + amount·Sφφᵀ S in place of S, for f = Lᵀφ: what `observe` does, undone.

    With 1/amount + Σ_{i<j} f_i² in place of what comes before, and lean_j of the other sign.
    """
    low, high = filled(projected, 0)
    before = 1.0 / amount
    for j in range(low, high):
        if projected[j] != 0.0:
            after = before + projected[j] * projected[j]
            keep[j] = math.sqrt(after / before)
            lean[j] = -projected[j] / (math.sqrt(before) * math.sqrt(after))
            before = after
    combine(root, begin, projected, low, high, keep, lean)


@kernel
def combine(root, begin, projected, low, high, keep, lean):
    """Let column j of L be keep_j L_j − lean_j Σ_{i>j} f_i L_i, where f is not 0."""
    following, common = low - 1, begin[0]
    for j in range(low, high):
        if projected[j] == 0.0:
            lean[j] = following
        else:
            following = j
    for i in range(low, projected.size):
        top = min(i, high - 1)
        carried = combine_row(root[i, common:], projected, keep, lean, begin[i], low, top, 0.0)
        combine_row(root[i], projected, keep, lean, 0, low, min(top, common - 1), carried)


@inlined_kernel
def combine_row(row, projected, keep, lean, first, low, last, carried):
    """Combine the columns from `low` to `last` of a row that begins with column `first`; returns
    Σ f_j of what they were, added to what is `carried`.
    """
    start = max(first, low)
    here, part, own, less = row[start - first :], projected[start:], keep[start:], lean[start:]
    j = last - start
    while j >= 0:
        if part[j] == 0.0:
            j = int(less[j]) - start
            continue
        old = here[j]
        here[j] = own[j] * old - less[j] * carried
        carried += part[j] * old
        j -= 1
    return carried


@kernel
def widen(root, place, amount, column):
    """S + amount² e eᵀ in place of S, for the coordinate e at a place of a whole root; `column` is
    scratch (d).
    """
    for i in range(column.size):
        column[i] = 0.0
    column[place] = amount
    for j in range(place, column.size):
        if column[j] == 0.0:
            continue
        length = math.hypot(root[j, j], column[j])
        cosine, sine = root[j, j] / length, column[j] / length
        root[j, j] = length
        for i in range(j + 1, column.size):
            old = root[i, j]
            root[i, j] = cosine * old + sine * column[i]
            column[i] = cosine * column[i] - sine * old
