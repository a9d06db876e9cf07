"""What a loop of the lab leaves behind: named arrays, each with the dims that follow the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Field(NamedTuple):
    """One array of results: its dims after the run, the kind of its numbers, and what they mean."""

    dims: tuple[str, ...]
    dtype: DTypeLike
    words: str


def blank(
    fields: Mapping[str, Field], lead: tuple[int, ...], sizes: Mapping[str, int]
) -> list[NDArray[Any]]:
    """Zeros for every field, with these dims in front of its own.

    >>> blank({"plays": Field(("arm",), np.int32, "plays at the end")}, (4, 2), {"arm": 3})[0].shape
    (4, 2, 3)
    """
    return [
        np.zeros((*lead, *(sizes[dim] for dim in field.dims)), field.dtype)
        for field in fields.values()
    ]
