"""Long lists and arrays as plain data: neighbours that are alike are written once.

An array is written as nested lists, row by row. Infinities, which JSON lacks, become words.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.errors import StateError

RUNS = "runs"
#: Numbers that an array may have, and a row of any length: memory is held for each.
MOST_NUMBERS, LONGEST_ROW = 2**28, 2**24
FEW = 16  # numbers of a row that a person reads
_WORDS = ("inf", "-inf", "nan")


def shortened(values: list[Any], write: Callable[[Any], Any]) -> list[Any]:
    """Return values as [value, how often it follows itself], with "runs" first, where that is
    shorter.

    >>> shortened(list("aaaaab"), str), shortened(["a", "b"], str)
    (['runs', ['a', 5], ['b', 1]], ['a', 'b'])
    """
    if len(values) > 2 and values.count(values[0]) == len(values):
        return [RUNS, [write(values[0]), len(values)]]
    runs = 1 + sum(map(operator.ne, values, islice(values, 1, None)))
    if 2 * runs >= len(values):
        return list(map(write, values))
    return [RUNS, *([write(value), len(list(run))] for value, run in groupby(values))]


def lengthened(
    content: Any, length: int | None, read: Callable[[Any], Any] = lambda value: value
) -> list[Any]:
    """Return the values that were shortened; there have to be `length` of them, if that is given.

    >>> "".join(lengthened(["runs", ["a", 5], ["b", 1]], 6))
    'aaaaab'
    """
    if type(content) is not list:
        raise StateError(f"{str(content)[:40]!r} stands where a column belongs")
    if content[:1] != [RUNS]:
        result = list(map(read, content))
    else:
        times = [count for _, count in content[1:]]
        for count in times:
            if type(count) is not int or count < 1:
                words = "where a whole number from 1 up belongs"
                raise StateError(f"{str(count)[:40]!r} stands {words}")
        if sum(times) > (LONGEST_ROW if length is None else length):
            raise StateError(f"runs of {sum(times):,} values are too long: {length} are needed")
        result = [one for value, count in content[1:] for one in [read(value)] * count]
    if length is not None and len(result) != length:
        raise StateError(f"a column has {len(result):,} values, and {length:,} are needed")
    return result


def write_array(array: NDArray[Any]) -> list[Any]:
    """Return an array as nested lists, the innermost ones shortened.

    >>> write_array(np.zeros((2, 20))), write_array(np.array([1.0, -np.inf]))
    ([['runs', [0.0, 20]], ['runs', [0.0, 20]]], [1.0, '-inf'])
    """
    if array.ndim > 1:
        return [write_array(row) for row in array]
    values: list[Any] = array.tolist()
    if array.dtype == np.float64 and not np.isfinite(array).all():
        values = [value if math.isfinite(value) else str(value) for value in values]
    if len(values) < FEW:
        return values
    bits = np.ascontiguousarray(array).view(np.int64)  # by which -0.0 is not 0.0
    starts = [0, *(np.flatnonzero(bits[1:] != bits[:-1]) + 1).tolist()]
    if 2 * len(starts) >= len(values):
        return values
    ends = [*starts[1:], len(values)]
    return [RUNS, *([values[at], end - at] for at, end in zip(starts, ends, strict=True))]


def read_array(content: Any, kind: Any, sides: Sequence[int | None] | None) -> NDArray[Any]:
    """Return the array of nested lists, which hold numbers of a kind and nothing else; `sides` says
    how long each side is, None that it may have any length. Without sides the lists tell.

    >>> read_array([["runs", [0.0, 5]]], np.float64, (None, 5)).shape
    (1, 5)
    """
    numbers: list[Any] = []
    lengths = _read_rows(content, _depth(content) if sides is None else (*sides,), numbers)
    exact = int if np.issubdtype(kind, np.integer) else float
    for number in numbers:
        if type(number) is not exact and (exact is int or number not in _WORDS):
            raise StateError(f"{str(number)[:40]!r} stands where a number belongs")
    return np.array(numbers, dtype=kind).reshape(lengths)


def _read_rows(content: Any, sides: tuple[int | None, ...], numbers: list[Any]) -> tuple[int, ...]:
    """Append the numbers of nested lists, and return how long each side is."""
    wanted, *inner = sides
    if not inner:
        row = lengthened(content, wanted)
        length = len(row)
        numbers += row
    else:
        if type(content) is not list:
            raise StateError(f"{str(content)[:40]!r} stands where rows belong")
        length = len(content)
        if wanted is not None and length != wanted:
            raise StateError(f"an array has {length:,} rows, and {wanted:,} are needed")
        for row in content:
            inner = list(_read_rows(row, tuple(inner), numbers))
    if len(numbers) > MOST_NUMBERS:
        raise StateError(f"an array has more than {MOST_NUMBERS:,} numbers")
    return length, *(one or 0 for one in inner)


def _depth(content: Any) -> tuple[None, ...]:
    """Return sides of any length, as many as lists are inside one another."""
    inside = content[0] if type(content) is list and content else None
    return (None, *_depth(inside)) if type(inside) is list else (None,)
