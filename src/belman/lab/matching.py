"""Maximum-weight matching of queues with servers: shortest augmenting paths (Hungarian), O(n³).

As many pairs as possible are matched, whatever the sign of the weights. Infinite weights come
first, as many of them as can be, and negative infinite ones last; then the sum of the others
counts. Ties are broken at random; with one row they are broken as `pick` breaks them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import inlined_kernel, kernel

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

NOBODY = -1
_LARGEST = 1e150  # of a finite weight, so that sums stay finite
_EQUAL = 1e-6  # weights no further apart count as equal where a queue has lost its favourite


class Workspace(NamedTuple):
    """Room to work: the lesser of rows and columns as rows (n), the greater as columns (m)."""

    cost: Floats  # (m, m)
    row_price: Floats  # (m)
    column_price: Floats  # (m + 1); the last column is where a new row waits
    nearest: Floats  # (m + 1)
    before: Whole  # (m + 1)
    owner: Whole  # (m + 1)
    done: Whole  # (m + 1)
    rows: Whole  # (m)
    columns: Whole  # (m)

    @classmethod
    def blank(cls, rows: int, columns: int) -> Workspace:
        """Room for that many rows and columns."""
        size = max(rows, columns)
        floats = (np.zeros((size, size)), np.zeros(size), np.zeros(size + 1), np.zeros(size + 1))
        whole = [np.zeros(size + extra, dtype=np.int64) for extra in (1, 1, 1, 0, 0)]
        return cls(*floats, *whole)


@inlined_kernel
def _weight(weights, workspace, upright, i, j):
    """The weight of the i-th of the fewer and the j-th of the more, be those rows or columns."""
    if upright:
        return weights[workspace.rows[i], workspace.columns[j]]
    return weights[workspace.rows[j], workspace.columns[i]]


@kernel
def _tame(weights, workspace, few):
    """Costs of the open pairs, at most as many rows as columns; ±∞ beats any sum of the others."""
    rows, columns, count, wide = few
    low, high = np.inf, -np.inf
    for i in range(count):
        for j in range(wide):
            weight = _weight(weights, workspace, rows <= columns, i, j)
            if weight > -np.inf and weight < np.inf:
                low, high = min(low, max(weight, -_LARGEST)), max(high, min(weight, _LARGEST))
    if low > high:
        low, high = 0.0, 0.0
    margin = count * (high - low + 1.0)
    for i in range(count):
        for j in range(wide):
            weight = _weight(weights, workspace, rows <= columns, i, j)
            if weight == np.inf:
                workspace.cost[i, j] = -(high + margin)
            elif weight > -np.inf:
                workspace.cost[i, j] = -min(max(weight, -_LARGEST), _LARGEST)
            else:
                workspace.cost[i, j] = margin - low


@kernel
def _nearest_column(workspace, wide, rng):
    """The nearest column that is not done; among equals a free one, drawn uniformly."""
    least, free, any_column = np.inf, 0, 0
    for j in range(wide):
        if workspace.done[j] == 0:
            if workspace.nearest[j] < least:
                least, free, any_column = workspace.nearest[j], 0, j
            if workspace.nearest[j] == least and workspace.owner[j] == NOBODY:
                free += 1
    if free == 0:
        return any_column
    rank = chance.below(rng, free) if free > 1 else 0
    for j in range(wide):
        is_least = workspace.done[j] == 0 and workspace.nearest[j] == least
        if is_least and workspace.owner[j] == NOBODY:
            if rank == 0:
                return j
            rank -= 1
    return any_column


@kernel
def _enter(row, workspace, wide, rng):
    """Match one more row at the least cost, along the shortest path of exchanges."""
    waiting = wide  # the column where the new row stands
    for j in range(wide + 1):
        workspace.nearest[j] = np.inf
        workspace.done[j] = 0
    workspace.owner[waiting] = row
    column = waiting
    while True:
        workspace.done[column] = 1
        i = workspace.owner[column]
        for j in range(wide):
            if workspace.done[j] == 0:
                reduced = workspace.cost[i, j] - workspace.row_price[i] - workspace.column_price[j]
                if reduced < workspace.nearest[j]:
                    workspace.nearest[j] = reduced
                    workspace.before[j] = column
        column = _nearest_column(workspace, wide, rng)
        step = workspace.nearest[column]
        for j in range(wide + 1):
            if workspace.done[j] == 1:
                workspace.row_price[workspace.owner[j]] += step
                workspace.column_price[j] -= step
            else:
                workspace.nearest[j] -= step
        if workspace.owner[column] == NOBODY:
            break
    while column != waiting:
        workspace.owner[column] = workspace.owner[workspace.before[column]]
        column = workspace.before[column]


@kernel
def match(weights, open_rows, open_columns, rng, workspace, matched):
    """Fill `matched` with the column of each row, −1 for none; returns how many got one."""
    rows, columns = 0, 0
    for u in range(open_rows.size):
        matched[u] = NOBODY
        if open_rows[u]:
            workspace.rows[rows] = u
            rows += 1
    for k in range(open_columns.size):
        if open_columns[k]:
            workspace.columns[columns] = k
            columns += 1
    count, wide = min(rows, columns), max(rows, columns)
    if count == 0:
        return 0
    _tame(weights, workspace, (rows, columns, count, wide))
    for j in range(wide):
        workspace.column_price[j] = 0.0
        workspace.owner[j] = NOBODY
    workspace.column_price[wide] = 0.0
    for i in range(count):
        workspace.row_price[i] = 0.0
    for i in range(count):
        _enter(i, workspace, wide, rng)
    for j in range(wide):
        i = workspace.owner[j]
        if i != NOBODY and rows <= columns:
            matched[workspace.rows[i]] = workspace.columns[j]
        elif i != NOBODY:
            matched[workspace.rows[j]] = workspace.columns[i]
    return count


@kernel
def match_favourites(weights, open_rows, open_columns, rng, matched):
    """Fill `matched` as the authors' queueing code does, which seeks no best sum of weights.

    Every queue asks for its favourite, and the first one to ask gets it; then those that went away
    empty take, one by one, the best that is left: the last of those that are next to equal.
    """
    for u in range(open_rows.size):
        matched[u] = NOBODY
        if open_rows[u]:
            wish = _favourite(weights[u], open_columns, rng)
            for other in range(u):
                if matched[other] == wish:
                    wish = NOBODY
            matched[u] = wish
    for u in range(open_rows.size):
        if open_rows[u] and matched[u] == NOBODY:
            matched[u] = _what_is_left(weights[u], open_columns, rng, matched)


@kernel
def _what_is_left(weights, open_columns, rng, matched):
    """The free column of the largest weight, the last of those next to equal; −1 if none is."""
    best, result, equal = -np.inf, NOBODY, 0
    for k in range(weights.size):
        free = open_columns[k]
        for other in range(matched.size):
            free = free and matched[other] != k
        if free and result != NOBODY and weights[k] == weights[result]:
            equal += 1
            if chance.below(rng, equal) == 0:
                result = k
        elif free and (result == NOBODY or weights[k] >= best - _EQUAL):
            best, result, equal = max(best, weights[k]), k, 1
    return result


@kernel
def _favourite(weights, open_columns, rng):
    """The open column of the largest weight, equals drawn uniformly; −1 if none is open."""
    best, result, equal = -np.inf, NOBODY, 0
    for k in range(weights.size):
        if open_columns[k]:
            if result == NOBODY or weights[k] > best:
                best, result, equal = weights[k], k, 1
            elif weights[k] == best:
                equal += 1
                if chance.below(rng, equal) == 0:
                    result = k
    return result
