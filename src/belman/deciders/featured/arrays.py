"""Arrays as values: an embedding, or what a model of one's own says, under one name.

The name "text[1536]" declares an array of 1,536 numbers. An array of up to 32 is numbers like any
other. A longer one is projected on 32 numbers (on 12 by "text[1536:12]"; Achlioptas, 2003). Each of
them adds a sixth of the array, subtracts another sixth and leaves out the rest. The bytes of
SHAKE-256 say which, so that every process and machine projects alike. A belief learns from these
numbers, and they are kept in place of the array.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError

Floats = NDArray[np.float64]

#: Numbers of an array, and the numbers that a longer one is projected on unless it says.
LONGEST, COLUMNS = 4_096, 32
_LARGEST = 1e9  # of a number, so that sums of them are numbers that are let in
#: The end of a name that declares a bag of words (`words.py`).
BAG = "[]"
_DECLARED = re.compile(r"(.+)\[(\d{1,6})(?::(\d{1,6}))?\]")


@lru_cache(maxsize=64)
def signs(length: int, columns: int) -> Floats:
    """Return what is added, subtracted (below 0) or left out (0), columns × length, scaled so that
    projections are as long as arrays on average.
    """
    wanted = length * columns
    seed = f"belman: projection of {length} on {columns}".encode()
    bytes_ = np.frombuffer(hashlib.shake_256(seed).digest(wanted + wanted // 8 + 64), np.uint8)
    sixths = bytes_[bytes_ < 252][:wanted] % 6  # 252 is the last multiple of six
    drawn = np.where(sixths == 0, 1.0, np.where(sixths == 1, -1.0, 0.0))
    result: Floats = drawn.reshape(columns, length) * np.sqrt(3.0 / columns)
    result.flags.writeable = False
    return result


class Array(NamedTuple):
    """A name whose values are arrays."""

    name: str
    length: int
    columns: int

    @property
    def names(self) -> list[str]:
        """The names of the numbers that are learnt from."""
        return [
            f"{self.name} {position} of {self.columns}" for position in range(1, self.columns + 1)
        ]

    @property
    def declared(self) -> str:
        """The name as it is declared."""
        usual = self.columns == min(self.length, COLUMNS)
        return f"{self.name}[{self.length}{'' if usual else f':{self.columns}'}]"

    def numbers(self, value: Any) -> dict[str, float | None]:
        """Return the numbers that are learnt from; all are missing where the array is."""
        if value is None:
            return dict.fromkeys(self.names)
        given = as_array(self.name, value)
        if given.size != self.length:
            allowed = f"an array of {self.length:,} numbers ({self.declared!r})"
            raise SettingError(f"{self.name} has {given.size:,} numbers: it is {allowed} here")
        if self.columns < self.length:
            # summed row by row: a product of matrices rounds by how many threads it has
            given = (signs(self.length, self.columns) * given).sum(axis=1)
        return dict(zip(self.names, given.tolist(), strict=True))


class Arrays:
    """The arrays among some names.

    >>> arrays = Arrays(["hour", "text[3]", "image[512:2]"])
    >>> arrays.names
    ['hour', 'text 1 of 3', 'text 2 of 3', 'text 3 of 3', 'image 1 of 2', 'image 2 of 2']
    >>> arrays.flat({"hour": 9, "text": [0.5, 0.25, 1]})
    {'hour': 9, 'text 1 of 3': 0.5, 'text 2 of 3': 0.25, 'text 3 of 3': 1.0}
    """

    def __init__(self, declared: Iterable[str]) -> None:
        self.declared = list(declared)
        #: Names of bags of words, which stand beside all other names.
        self.bags = [one.removesuffix(BAG) for one in self.declared if one.endswith(BAG)]
        self.parts = [_parsed(name) for name in self.declared if not name.endswith(BAG)]
        self.by_name = {part.name: part for part in self.parts if isinstance(part, Array)}

    @cached_property
    def names(self) -> list[str]:
        """The names of all numbers and categories that are learnt from."""
        return [name for part in self.parts for name in self._names(part)]

    @property
    def pairable(self) -> list[str]:
        """What may be one of a pair: all names, and bags as they are declared."""
        return [*self.names, *(f"{name}{BAG}" for name in self.bags)]

    @staticmethod
    def _names(part: str | Array) -> list[str]:
        return part.names if isinstance(part, Array) else [part]

    def knows(self, name: Any) -> bool:
        """Return whether it is one of the names, or that of an array or a bag."""
        return isinstance(name, str) and name in (*self.names, *self.by_name, *self.pairable)

    def within(self, name: str) -> list[str]:
        """Return the names that a name stands for: those of an array's numbers, or itself."""
        return self._names(self.by_name.get(name, name))

    def flat(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return named values with numbers in place of arrays."""
        flat: dict[str, Any] = {}
        for name, value in given.items():
            array = self.by_name.get(name)
            flat |= {name: value} if array is None else array.numbers(value)
        return flat


def as_array(name: str, value: Any) -> Floats:
    """Return numbers of one dimension."""
    allowed = f"a list or an array of numbers up to {_LARGEST:g}, in one dimension"
    try:
        result = np.asarray(value)
        result = result.astype(np.float64) if result.dtype.kind in "fiub" else np.full(1, np.nan)
    except (TypeError, ValueError):
        result = np.full(1, np.nan)
    if result.ndim != 1 or not (np.abs(result) <= _LARGEST).all():
        raise SettingError(f"{name}={str(value)[:80]} is not allowed: it must be {allowed}")
    return result


def is_array(value: Any) -> bool:
    """Return whether a value is a list or an array, and no word or number."""
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def is_bag(value: Any) -> bool:
    """Return whether a value is a list of words, or a mapping of words to numbers."""
    if isinstance(value, (list, tuple)):
        return bool(value) and isinstance(value[0], str)
    return isinstance(value, (Mapping, set, frozenset))


def declared_by(rows: Mapping[Hashable, Mapping[str, Any]]) -> list[str]:
    """Return the names in the features of arms: with lengths where values are arrays, and with
    brackets where they are bags of words.
    """
    result: dict[str, str] = {}
    for row in rows.values():
        for name, value in row.items():
            if is_bag(value):
                result[name] = f"{name}{BAG}"
            elif is_array(value):
                result[name] = f"{name}[{len(value)}]"
            else:
                result.setdefault(name, name)
    return list(result.values())


def _parsed(name: str) -> str | Array:
    match = _DECLARED.fullmatch(name)
    if match is None:
        return name
    length = int(match[2])
    columns = min(length, COLUMNS) if match[3] is None else int(match[3])
    if not 1 <= columns <= length <= LONGEST:
        allowed = f"name[length] or name[length:columns], 1 ≤ columns ≤ length ≤ {LONGEST:,}"
        raise SettingError(f"{name!r} declares no array: give {allowed}")
    return Array(match[1], length, columns)
