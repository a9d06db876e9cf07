"""The memory of a policy, as its fields declare it: shapes, first values, and what lasts.

A memory is a NamedTuple of arrays whose defaults are parts:

    class Memory(NamedTuple):
        mean: Floats = part("K", first=np.inf)
        rounds: Floats = part(1, whole=(0, 10**15))

A size is a number, "K" for the arms, "D" for the numbers of a belief, "T" for those of the evidence
of an arm (`term_count`), or the name of an attribute of the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.families.family_kernels import term_count

Floats = NDArray[np.float64]
Size = int | str
Limits = tuple[Size, Size]

#: The limits of a place among arms, or −1 for none.
POSITION: Limits = (-1, "K-1")


class Part(NamedTuple):
    """An array of a memory, or a record of arrays.

    `told` is what rewards said and beliefs do not, which goes with its arm; all else is found anew
    by `refresh`. `whole` are the limits of whole numbers that kernels use as places or counts.
    """

    shape: tuple[Size, ...]
    first: float = 0.0
    whole: Limits | None = None
    told: bool = False
    kind: Any = None


def part(*shape: Size, first: float = 0.0, whole: Limits | None = None, told: bool = False) -> Any:
    """Declare an array of a memory, filled with `first`."""
    return Part(shape, first, whole, told)


def record(kind: Any) -> Any:
    """Declare a record of arrays inside a memory: a NamedTuple whose fields are declared."""
    return Part((), kind=kind)


class NoMemory(NamedTuple):
    """The memory of a policy that reads the ledger alone."""

    nothing: Floats = part(1)


class Sizes:
    """How large the parts of a memory are, for a number of arms and of numbers of a belief."""

    def __init__(self, policy: object, arms: int, dimension: int = 0, **more: int) -> None:
        self._policy = policy
        numbers = {"K": arms, "K-1": arms - 1, "K+1": arms + 1, "D": dimension}
        self._known = {**numbers, "T": term_count(dimension), **more}

    def __call__(self, size: Size) -> int:
        if not isinstance(size, str):
            return size
        return self._known[size] if size in self._known else int(getattr(self._policy, size))


def blank(kind: Any, sizes: Sizes, **given: Any) -> Any:
    """A memory of arrays with their first values, and what is given of it."""
    for name, one in kind._field_defaults.items():
        shape = [sizes(size) for size in one.shape]
        given[name] = blank(one.kind, sizes) if one.kind else np.full(shape, one.first)
    return kind(**given)


def whole_parts(kind: Any, sizes: Sizes, prefix: str = "") -> dict[str, tuple[int, int]]:
    """The limits of parts that are whole numbers, by name; those of records by both names."""
    result: dict[str, tuple[int, int]] = {}
    for name, one in kind._field_defaults.items():
        if one.whole:
            result[prefix + name] = sizes(one.whole[0]), sizes(one.whole[1])
        elif one.kind:
            result |= whole_parts(one.kind, sizes, f"{name}_")
    return result


def rearranged(array: Floats, fresh: Floats, axis: int, positions: Sequence[int]) -> Floats:
    """What an array holds of the arms along an axis, at their new places; else what is fresh.

    >>> rearranged(np.array([5.0, 6.0, 7.0]), np.zeros(2), 0, [2, -1]).tolist()
    [7.0, 0.0]
    """
    out = fresh.copy()
    for new, old in enumerate(positions):
        if old >= 0:
            np.moveaxis(out, axis, 0)[new] = np.moveaxis(array, axis, 0)[old]
    return out


def moved(memory: Any, fresh: Any, positions: Sequence[int]) -> Any:
    """A memory in which what was told is at the new places of its arms, and all else is fresh."""
    kept = {}
    for name, one in _told(memory):
        old, new = getattr(memory, name), getattr(fresh, name)
        kept[name] = (
            rearranged(old, new, one.shape.index("K"), positions)
            if "K" in one.shape
            else old.copy()
        )
    return fresh._replace(**kept)


def forgotten(memory: Any, arm: int) -> None:
    """Let a memory hold nothing of what was told of an arm."""
    for name, one in _told(memory):
        if "K" in one.shape:
            np.moveaxis(getattr(memory, name), one.shape.index("K"), 0)[arm] = one.first


def _told(memory: Any) -> list[tuple[str, Part]]:
    parts = memory._field_defaults.items()
    return [(name, one) for name, one in parts if isinstance(one, Part) and one.told]
