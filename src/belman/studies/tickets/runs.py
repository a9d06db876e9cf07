"""Runs of equal values, which keep a column of a snapshot short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from belman.agent import checks
from belman.errors import StateError


def runs(values: Iterable[Any]) -> list[list[Any]]:
    """Values as [value, how often it follows itself].

    >>> runs("aaabba")
    [['a', 3], ['b', 2], ['a', 1]]
    """
    return [[value, len(list(run))] for value, run in groupby(values)]


def run_out(pairs: Sequence[Sequence[Any]], length: int) -> list[Any]:
    """The values of so many runs, of which there have to be `length` in all.

    >>> "".join(run_out([["a", 3], ["b", 2], ["a", 1]], 6))
    'aaabba'
    """
    if sum(checks.whole(count, "a run", 1) for _, count in pairs) != length:
        raise StateError("the runs of a snapshot are not as long as its other columns")
    return [value for value, count in pairs for _ in range(count)]
