"""Assign many units at once: the same arms as `belman.assign` gives them one by one.

BLAKE2s is computed for `LANES` units side by side, so that the compiler makes vector instructions
of it. Names that take more than one block with their salt, some 45 bytes, are assigned one by one.
GrowthBook's hash is compiled too, and Eppo's is that of the standard library, unit by unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.assignment import Weights, assign
from belman.assignment.assign import point_in
from belman.assignment.assigners import OUTSIDE, GrowthBook
from belman.assignment.documents import Arm
from belman.bulk_hashes import DIGITS, array_of, buckets, characters, write_number
from belman.engine import LATER, entry, kernel

LANES = 64
_BLOCK = 64  # bytes
_LONG = -1  # the place of a unit that takes more than one block
_IV = np.array(
    [
        0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
        0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
    ],
    dtype=np.uint32,
)  # fmt: skip
_HEAD = 0x01010020  # 32 bytes of digest, no key
_SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]
)


class Assignments(NamedTuple):
    """The place of each unit's arm among `arms` (−1: it takes no part), and what all share."""

    positions: NDArray[np.int64]
    arms: tuple[Arm, ...]
    chances: tuple[float, ...]
    version: int


@kernel
def _mix(a, b, c, d, x, y):
    """The function G of BLAKE2s, in all lanes."""
    for i in range(a.size):
        a[i] = a[i] + b[i] + x[i]
        d[i] = d[i] ^ a[i]
        d[i] = (d[i] >> 16) | (d[i] << 16)
        c[i] = c[i] + d[i]
        b[i] = b[i] ^ c[i]
        b[i] = (b[i] >> 12) | (b[i] << 20)
        a[i] = a[i] + b[i] + y[i]
        d[i] = d[i] ^ a[i]
        d[i] = (d[i] >> 8) | (d[i] << 24)
        c[i] = c[i] + d[i]
        b[i] = b[i] ^ c[i]
        b[i] = (b[i] >> 7) | (b[i] << 25)


@kernel
def _hash(iv, sigma, words, sizes, v):
    """Hash a block in every lane; v[0] becomes the first word of the digests."""
    for i in range(sizes.size):
        for j in range(8):
            v[j, i] = iv[j]
            v[j + 8, i] = iv[j]
        v[0, i] = v[0, i] ^ _HEAD
        v[12, i] = v[12, i] ^ sizes[i]
        v[14, i] = v[14, i] ^ 0xFFFFFFFF
    for r in range(10):
        s = sigma[r]
        _mix(v[0], v[4], v[8], v[12], words[s[0]], words[s[1]])
        _mix(v[1], v[5], v[9], v[13], words[s[2]], words[s[3]])
        _mix(v[2], v[6], v[10], v[14], words[s[4]], words[s[5]])
        _mix(v[3], v[7], v[11], v[15], words[s[6]], words[s[7]])
        _mix(v[0], v[5], v[10], v[15], words[s[8]], words[s[9]])
        _mix(v[1], v[6], v[11], v[12], words[s[10]], words[s[11]])
        _mix(v[2], v[7], v[8], v[13], words[s[12]], words[s[13]])
        _mix(v[3], v[4], v[9], v[14], words[s[14]], words[s[15]])
    for i in range(sizes.size):
        v[0, i] = iv[0] ^ _HEAD ^ v[0, i] ^ v[8, i]


@kernel
def _write_text(codes, are_bytes, block, at):
    """Characters, or their bytes, into a block as UTF-8, up to trailing zeros; where they end, past
    it if longer.
    """
    length = codes.size
    while length > 0 and codes[length - 1] == 0:
        length -= 1
    for i in range(length):
        code = codes[i]
        if are_bytes:
            if at == block.size:
                return block.size + 1
            block[at] = code
            at += 1
            continue
        if 0xD800 <= code < 0xE000:
            return block.size + 1  # half a character, which is refused one by one
        if at > block.size - 4:
            room = 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
            if at + room > block.size:
                return block.size + 1
        if code < 0x80:
            block[at] = code
            at += 1
        elif code < 0x800:
            block[at] = 0xC0 | (code >> 6)
            block[at + 1] = 0x80 | (code & 0x3F)
            at += 2
        elif code < 0x10000:
            block[at] = 0xE0 | (code >> 12)
            block[at + 1] = 0x80 | ((code >> 6) & 0x3F)
            block[at + 2] = 0x80 | (code & 0x3F)
            at += 3
        else:
            block[at] = 0xF0 | (code >> 18)
            block[at + 1] = 0x80 | ((code >> 12) & 0x3F)
            block[at + 2] = 0x80 | ((code >> 6) & 0x3F)
            block[at + 3] = 0x80 | (code & 0x3F)
            at += 4
    return at


@kernel
def _position_all(
    numeric, are_bytes, numbers, texts, prefix, iv, sigma, ends, owners, words, block, sizes, v, out
):
    """The place of every unit's arm."""
    for start in range(0, out.size, sizes.size):
        lanes = min(sizes.size, out.size - start)
        for i in range(lanes):
            unit = start + i
            for j in range(prefix.size):
                block[j] = prefix[j]
            if numeric:
                end = write_number(numbers[unit], block, prefix.size)
            else:
                end = _write_text(texts[unit], are_bytes, block, prefix.size)
            sizes[i] = end
            for j in range(end, _BLOCK):
                block[j] = 0
            for j in range(16):
                words[j, i] = (
                    block[4 * j]
                    | (block[4 * j + 1] << 8)
                    | (block[4 * j + 2] << 16)
                    | (block[4 * j + 3] << 24)
                )
        _hash(iv, sigma, words, sizes, v)
        for i in range(lanes):
            if sizes[i] > _BLOCK:
                out[start + i] = _LONG
                continue
            word = v[0, i]
            point = (
                ((word & 0xFF) << 24)
                | ((word & 0xFF00) << 8)
                | ((word >> 8) & 0xFF00)
                | (word >> 24)
            )
            low, high = 0, ends.size - 1
            while low < high:
                middle = (low + high) // 2
                if point < ends[middle]:
                    high = middle
                else:
                    low = middle + 1
            out[start + i] = owners[low]


def assign_many(weights: Weights, units: Sequence[str | int] | NDArray[np.generic]) -> Assignments:
    """Assign many units to arms.

    Parameters
    ----------
    weights
        A weights document.
    units
        An array of whole numbers or of texts, or a list.

    Returns
    -------
    Assignments
        For each unit the place of its arm in `arms` (−1: the unit takes no part), and what the
        units share: the arms, their probabilities and the version.

    >>> weights = Weights.of("checkout", {"blue": 0.75, "green": 0.25}, salt="s1")
    >>> result = assign_many(weights, ["user-1", "user-2", "user-3"])
    >>> [result.arms[position] for position in result.positions]
    ['green', 'green', 'blue']
    """
    if weights.assigner is not None:
        result = _positions_of(weights, _points(weights, units))
        return Assignments(result, weights.arms, weights.weights, weights.version)
    given = array_of(units)
    result = np.full(len(given), _LONG, dtype=np.int64)
    numeric = given.dtype.kind in "iu"
    prefix = np.frombuffer(weights.prefix, dtype=np.uint8)
    if len(prefix) + (DIGITS if numeric else 0) <= _BLOCK and given.dtype.kind != "O":
        entry(_position_all)(
            LATER,
            numeric=numeric,
            are_bytes=given.dtype.kind == "S",
            numbers=given.astype(np.int64) if numeric else np.zeros(0, dtype=np.int64),
            texts=characters(given) if not numeric else np.zeros((0, 0), dtype=np.uint32),
            prefix=prefix.astype(np.int64),
            iv=_IV,
            sigma=_SIGMA,
            ends=np.array(weights.ends),
            owners=np.array([arm for _, arm in weights.cuts]),
            words=np.zeros((16, LANES), dtype=np.uint32),
            block=np.zeros(_BLOCK, dtype=np.int64),
            sizes=np.zeros(LANES, dtype=np.uint32),
            v=np.zeros((16, LANES), dtype=np.uint32),
            out=result,
        )
    for position in np.flatnonzero(result == _LONG):
        unit = (
            given[position].item() if isinstance(given[position], np.generic) else given[position]
        )
        name = unit.decode() if isinstance(unit, bytes) else unit
        result[position] = weights.arms.index(assign(weights, name).arm)
    return Assignments(result, weights.arms, weights.weights, weights.version)


def _points(
    weights: Weights, units: Sequence[str | int] | NDArray[np.generic]
) -> NDArray[np.int64]:
    """The point of every unit by the hash of its assigner, OUTSIDE where a unit takes no part."""
    assigner = weights.assigner
    if not isinstance(assigner, GrowthBook):
        given = units.tolist() if isinstance(units, np.ndarray) else units
        names = (unit.decode() if isinstance(unit, bytes) else unit for unit in given)
        return np.array([point_in(weights, name) for name in names], dtype=np.int64)
    result = buckets(weights.salt, assigner.hash_version, units)
    for one in assigner.filters:
        n = buckets(one.seed, one.hash_version, units) / GrowthBook(one.hash_version).points
        result[~np.any([(start <= n) & (n < end) for start, end in one.ranges], axis=0)] = OUTSIDE
    return result


def _positions_of(weights: Weights, points: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of the arm that owns each point."""
    owners = np.array([arm for _, arm in weights.cuts], dtype=np.int64)
    result = owners[np.searchsorted(weights.ends, np.maximum(points, 0), side="right")]
    result[points < 0] = OUTSIDE
    return result
