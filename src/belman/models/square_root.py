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

_FEW = 4  # times the columns, below the rows: they are few


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


@inlined_kernel
def last_of(begin, first):
    """The last of up to four rows, from the first one on, whose blocks begin alike.

    Each step of a sum waits for the step before, so rows are worked out side by side. A row that
    ends before the last one holds zeros from there on, which change no sum.
    """
    last = first
    while last < first + 3 and last + 1 < begin.size and begin[last + 1] == begin[first]:
        last += 1
    return last


@inlined_kernel
def add_products(root, first, last, position, vector, out):
    """Add to `out` the inner products of a vector and the rows from the first to the last of up to
    four, from a place on; the last one stands in for rows that are missing.
    """
    p, q = min(first + 1, last), min(first + 2, last)
    one, two, three, four = (
        root[first, position:],
        root[p, position:],
        root[q, position:],
        root[last, position:],
    )
    a, b, c, d = out[first], out[p], out[q], out[last]
    for j in range(vector.size):
        a += one[j] * vector[j]
        b += two[j] * vector[j]
        c += three[j] * vector[j]
        d += four[j] * vector[j]
    out[first], out[p], out[q], out[last] = a, b, c, d


@kernel
def are_few(vector, low, high, rows):
    """Whether so few numbers of a vector are not 0 that column by column is cheaper for these
    rows.
    """
    count = 0
    for j in range(low, high):
        count += 1 if vector[j] != 0.0 else 0
    return _FEW * count < rows


@kernel
def restore(root, begin, projected, out):
    """Fill out = L f; with f = Lᵀφ it is Sφ."""
    size, common = projected.size, begin[0]
    low, high = filled(projected, 0)
    high = min(high, common)
    for i in range(size):
        out[i] = 0.0
    if are_few(projected, low, high, size):
        for j in range(low, high):
            if projected[j] != 0.0:
                for i in range(j, size):
                    out[i] += root[i, j] * projected[j]
    else:
        i = low
        while i < size:
            last = last_of(begin, i)
            add_products(root, i, last, low, projected[low : min(last + 1, high)], out)
            i = last + 1
    low, high = filled(projected, common)
    if are_few(projected, low, high, high - low):
        for j in range(low, high):
            if projected[j] != 0.0:
                i, position = j, common + j - begin[j]
                while i < size and begin[i] == begin[j]:
                    out[i] += root[i, position] * projected[j]
                    i += 1
    else:
        i = low
        while i < size and begin[i] < high:
            last, start = last_of(begin, i), max(begin[i], low)
            position = common + start - begin[i]
            add_products(root, i, last, position, projected[start : min(last + 1, high)], out)
            i = last + 1


@kernel
def observe(root, begin, projected, noise, keep, lean):
    """S − Sφφᵀ S/(noise + φᵀSφ) in place of S, for f = Lᵀφ; `keep` and `lean` are scratch (d).

    Column j of L becomes keep_j L_j − lean_j Σ_{i>j} f_i L_i, where keep_j² is the share of
    noise + Σ_{i≥j} f_i² that comes before f_j². Where f_j is 0 it stays, and `lean` says which
    column is next.
    """
    low, high = filled(projected, 0)
    before, spread = noise, math.sqrt(noise)
    for position in range(high - low):
        j = high - 1 - position
        if projected[j] != 0.0:
            after = before + projected[j] * projected[j]
            wider = math.sqrt(after)
            keep[j] = math.sqrt(before / after)
            lean[j] = projected[j] / (spread * wider)
            before, spread = after, wider
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
    own_low, _ = filled(projected, common)
    i = low
    while i < projected.size:
        last, carried = last_of(begin, i), (0.0, 0.0, 0.0, 0.0)
        if last >= own_low and begin[i] < high:
            start, end = max(begin[i], low), min(last + 1, high)
            position = common + start - begin[i]
            part, kept, leant = projected[start:end], keep[start:end], lean[start:end]
            carried = combine_rows(root, i, last, position, part, kept, leant, start, carried)
        end = min(last + 1, common, high)
        part, kept, leant = projected[low:end], keep[low:end], lean[low:end]
        combine_rows(root, i, last, low, part, kept, leant, low, carried)
        i = last + 1


@inlined_kernel
def combine_rows(root, first, last, position, vector, keep, lean, low, carried):
    """Combine columns from `position` on in up to four rows, from `first` to `last`; `low` is the
    first column. Returns Σ f_j of the old values, plus `carried`. The last row stands in for
    missing ones, since all values are read before any is written.
    """
    p, q = min(first + 1, last), min(first + 2, last)
    one, two, three, four = (
        root[first, position:],
        root[p, position:],
        root[q, position:],
        root[last, position:],
    )
    a, b, c, d = carried
    j = vector.size - 1
    while j >= 0:
        f, kept, less = vector[j], keep[j], lean[j]
        if f == 0.0:
            j = int(less) - low
            continue
        w, x, y, z = one[j], two[j], three[j], four[j]
        one[j] = kept * w - less * a
        two[j] = kept * x - less * b
        three[j] = kept * y - less * c
        four[j] = kept * z - less * d
        a += f * w
        b += f * x
        c += f * y
        d += f * z
        j -= 1
    return a, b, c, d


@kernel
def widen(root, position, amount, column):
    """S + amount² e eᵀ in place of S, for the coordinate e at a place of a whole root; `column` is
    scratch (d).
    """
    for i in range(column.size):
        column[i] = 0.0
    column[position] = amount
    for j in range(position, column.size):
        if column[j] == 0.0:
            continue
        length = math.hypot(root[j, j], column[j])
        cosine, sine = root[j, j] / length, column[j] / length
        root[j, j] = length
        for i in range(j + 1, column.size):
            old = root[i, j]
            root[i, j] = cosine * old + sine * column[i]
            column[i] = cosine * column[i] - sine * old
