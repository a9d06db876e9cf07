"""Roots with the shape of an arrow: what is common comes first, then a block for each arm.

Given the coefficients that all arms share, those of one arm say nothing of another's. So in the
root L of S = LLᵀ, ordered like that, a row has numbers in the columns that are common and in those
of its own block, and nowhere else; rewards of one arm keep it so. A root holds these alone: row i
has the common columns of L first, and then its own from column begin[i] on, which is the number of
common ones for all rows that are common. Without blocks all columns are common, and the root is
whole. What fades is whole too: a common coefficient that moves by itself leaves arms dependent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def begins(groups: Sequence[int]) -> Places:
    """Return where the block of each row begins: of groups in order, −1 for what is common.

    >>> begins([-1, 0, 0, 1]).tolist()
    [1, 1, 1, 3]
    """
    common = sum(group < 0 for group in groups)
    result = np.full(len(groups), common, dtype=np.int64)
    for i in range(common + 1, len(groups)):
        result[i] = result[i - 1] if groups[i] == groups[i - 1] else i
    return result


def whole(size: int) -> Places:
    """Return where blocks begin if all columns are common."""
    return np.full(size, size, dtype=np.int64)


def blocks(begin: Places) -> list[tuple[int, int]]:
    """Return where each block begins and ends."""
    common = int(begin[0]) if begin.size else 0
    starts = np.unique(begin[common:]).tolist()
    return list(zip(starts, [*starts[1:], begin.size], strict=False))


def width(begin: Places) -> int:
    """Return how many numbers a row holds at most."""
    common = int(begin[0]) if begin.size else 0
    return common + max((end - start for start, end in blocks(begin)), default=0)


def diagonal_positions(begin: Places) -> Places:
    """Return where in its row the diagonal of L is."""
    positions, common = np.arange(begin.size), int(begin[0]) if begin.size else 0
    return np.where(positions < common, positions, common + positions - begin)


def diagonal(root: Floats, begin: Places) -> Floats:
    """Return the diagonal of L, of a root or of each of a bank."""
    result: Floats = root[..., np.arange(begin.size), diagonal_positions(begin)]
    return result


def of_diagonal(deviations: Floats, begin: Places) -> Floats:
    """Return roots of coefficients that are independent (B, d, width)."""
    root = np.zeros((*deviations.shape, width(begin)))
    root[:, np.arange(begin.size), diagonal_positions(begin)] = deviations
    return root


def is_lower(root: Floats, begin: Places) -> bool:
    """Whether there is nothing above the diagonal, nor beyond what rows hold."""
    beyond = np.arange(root.shape[-1])[None, :] > diagonal_positions(begin)[:, None]
    return not root[..., beyond].any()


def along(features: Floats, root: Floats, begin: Places) -> Floats:
    """Return features @ L."""
    common = int(begin[0]) if begin.size else 0
    result = np.zeros(features.shape)
    result[..., :common] = features @ root[:, :common]
    for start, end in blocks(begin):
        result[..., start:end] = (
            features[..., start:end] @ root[start:end, common:][:, : end - start]
        )
    return result


def across(scores: Floats, root: Floats, begin: Places) -> Floats:
    """Return scores @ Lᵀ."""
    common = int(begin[0]) if begin.size else 0
    result: Floats = scores[..., :common] @ root[:, :common].T
    for start, end in blocks(begin):
        own = root[start:end, common:][:, : end - start]
        result[..., start:end] += scores[..., start:end] @ own.T
    return result


def spread_out(root: Floats, begin: Places) -> Floats:
    """Return L with all of its zeros."""
    return along(np.eye(begin.size), root, begin)


def placed(root: Floats, begin: Places, source: Places, target: Places, after: Places) -> Floats:
    """Return roots in which row and column source[i] are row and column target[i], of blocks that
    begin as `after` says; all else is 0. Both are in order, and blocks stay apart.
    """
    result = np.zeros((len(root), after.size, width(after)))
    common, new_common = int(begin[0]) if begin.size else 0, int(after[0]) if after.size else 0
    shared = source < common
    result[:, target[:, None], target[shared]] = root[:, source[:, None], source[shared]]
    for start, end in blocks(begin):
        inside = (source >= start) & (source < end)
        rows, positions = source[inside], target[inside]
        if rows.size:
            own = new_common + positions - after[positions[0]]
            result[:, positions[:, None], own] = root[:, rows[:, None], common + rows - start]
    return result
