"""Templates that tests of the engine compile, in a module that other processes can import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belman.engine import Bundle, call_address, factory, kernel


@kernel
def turns(family, constants, belief, count):
    """So many rewards of 1."""
    for _ in range(count):
        family.update(constants, belief, 1.0)


class Pair(NamedTuple):
    flat: Any
    deep: Any


class Nest(NamedTuple):
    pair: Pair
    factor: float
    inverted: bool


SUM, PUT, SHAPE = 0, 1, 2


@kernel
def act(rows, pair, words, what, number, amount):
    """Reads and writes arrays of one to three dimensions."""
    if what == SUM:
        total = amount
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                total += rows[i, j] * (10 * i + j)
        for value in pair.flat:
            total += value
        return int(total)
    if what == PUT:
        pair.deep[1, 2, number] = amount
        words[number] += np.uint64(1)
        return 0
    return rows.shape[0] * 10_000 + rows.shape[1] * 1_000 + pair.flat.size * 100 + pair.deep.size


@kernel
def add(row, times, amount: float):
    for i in range(row.size):
        row[i] += times * amount
    return row.size


@kernel
def loop(callee, calls):
    total = 0
    for i in range(calls):
        total += call_address(callee, SUM, i, 0.25)
    return total


@kernel
def once(callee, what: int, number: int, amount: float):
    return call_address(callee, what, number, amount)


@kernel
def mixed(nest, mask, count: int, half: float, really: bool):
    """Numbers of every type, held, in a record and free."""
    total = 0.0
    for i in range(mask.size):
        if mask[i] != nest.inverted:
            total += nest.pair.flat[i] * nest.factor
    return total + nest.pair.deep[0, 0] + count + half if really else -total


@dataclass(frozen=True)
class Scaling(Bundle):
    scale: Any
    shift: Any


@factory
def times(factor):
    @kernel
    def multiply(x):
        return factor * x

    return multiply


@factory
def scaling(factor, inner):
    @kernel
    def scale(x):
        return factor * inner(x)

    @kernel
    def shift(x):
        return inner(x) + factor

    return Scaling(scale, shift)


@kernel
def both(tools, x):
    return tools.scale(x) + 100.0 * tools.shift(x)
