"""GrowthBook's hash of many units at once, and what every hash of arrays of units begins with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from belman.assignment.assign import as_text
from belman.assignment.assigners import bucket
from belman.engine import LATER, entry, kernel

DIGITS = 20  # of a number of 64 bits, its sign included


@kernel
def write_number(number, block, at):
    """The decimals of a whole number into a block; where they end."""
    if number < 0:
        block[at] = 45
        at += 1
        number = -number
    end, rest = at + 1, number // 10
    while rest > 0:
        end += 1
        rest //= 10
    for i in range(end - 1, at - 1, -1):
        block[i] = 48 + number % 10
        number //= 10
    return end


@kernel
def _fnv(result, code):
    """One code unit more of an FNV-1a hash."""
    return ((result ^ code) * 0x01000193) & 0xFFFFFFFF


@kernel
def _fnv_text(result, codes):
    """The characters of a text more, up to trailing zeros, as UTF-16 code units."""
    length = codes.size
    while length > 0 and codes[length - 1] == 0:
        length -= 1
    for i in range(length):
        code = codes[i]
        if code >= 0x10000:
            result = _fnv(result, 0xD800 + ((code - 0x10000) >> 10))
            result = _fnv(result, 0xDC00 + ((code - 0x10000) & 0x3FF))
        else:
            result = _fnv(result, code)
    return result


@kernel
def _bucket_all(texts, seed, first, digits, out):
    """The bucket of every unit by GrowthBook's hash: of version 1 where the unit is `first`."""
    for unit in range(out.size):
        result = 0x811C9DC5
        if first:
            result = _fnv_text(result, texts[unit])
        result = _fnv_text(result, seed)
        if first:
            out[unit] = result % 1_000
            continue
        result = _fnv_text(result, texts[unit])
        end = write_number(result, digits, 0)
        again = 0x811C9DC5
        for i in range(end):
            again = _fnv(again, digits[i])
        out[unit] = again % 10_000


def buckets(
    seed: str, version: int, units: Sequence[str | int] | NDArray[np.generic]
) -> NDArray[np.int64]:
    """The buckets of many units by GrowthBook's hash.

    >>> buckets("checkout", 2, ["user-1", "user-2"]).tolist()
    [7893, 5609]
    """
    names = array_of(units)
    names = names.astype(str) if names.dtype.kind in "iu" else names
    if names.dtype.kind == "S":
        names = np.array([name.decode() for name in names.tolist()])
    out = np.zeros(len(names), dtype=np.int64)
    if names.dtype.kind != "U":  # texts that end in NUL, which arrays of texts cannot hold
        out[:] = [bucket(seed, as_text(name), version) for name in names.tolist()]
        return out
    entry(_bucket_all)(
        LATER,
        texts=characters(names).astype(np.int64),
        seed=np.array([ord(letter) for letter in seed], dtype=np.int64),
        first=version == 1,
        digits=np.zeros(DIGITS, dtype=np.int64),
        out=out,
    )
    return out


def array_of(units: Sequence[str | int] | NDArray[np.generic]) -> NDArray[np.generic]:
    """Units as an array of 64-bit numbers, of texts, or of objects where neither holds them."""
    if isinstance(units, np.ndarray) and units.ndim == 1 and units.dtype.kind in "USiu":
        fits = units.dtype.kind != "u" or units.dtype.itemsize < 8
        least = units.dtype.kind != "i" or not len(units) or units.min() > np.iinfo(np.int64).min
        return units if fits and least else units.astype(object)
    names = [as_text(unit) for unit in units]
    ends_in_nul = any(name.endswith("\0") for name in names)  # which arrays of texts cannot hold
    return np.array(names, dtype=object if ends_in_nul or not names else None)


def characters(texts: NDArray[np.generic]) -> NDArray[np.uint32]:
    """The characters of texts, one text a row, zeros behind; those of UTF-8 are bytes."""
    kind = np.uint32 if texts.dtype.kind == "U" else np.uint8
    width = texts.dtype.itemsize // np.dtype(kind).itemsize
    return np.ascontiguousarray(texts).view(kind).reshape(len(texts), width).astype(np.uint32)
