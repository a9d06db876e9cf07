"""Attributes of rows in bulk: what was learnt of every arm in each segment.

The log keeps no rows. Of every value of an attribute and arm it keeps what the rewards of a batch
add to a belief (`Family.additive`), and a segment's belief is the sum of these.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError
from belman.families import Family
from belman.measures.learnt import learnt
from belman.studies.rules.attributes import NONE, OTHERS, Attributes, check_attributes

#: Values of an attribute that a batch tells apart: the most frequent ones.
MOST_VALUES = 1_000

Floats = NDArray[np.float64]
Prior = Callable[[int], Sequence[float]]  # of an arm, by its place


class Part(NamedTuple):
    """What the rewards of an arm, by its place, in one segment add to a belief, and how many."""

    name: str
    value: str
    arm: int
    n: int
    learned: tuple[float, ...]


def checked(given: Sequence[Any], known: Set[str]) -> list[Attributes]:
    """The attributes of every row, of a study that knows some names already."""
    names, seen = set(known), dict[tuple[Any, ...], Attributes]()
    found = []
    for i, one in enumerate(given, start=1):
        try:
            found.append(_checked_once(one, names, seen))
        except SettingError as error:
            raise SettingError(f"row {i}: {error}") from None
    return found


def _checked_once(one: Any, names: set[str], seen: dict[tuple[Any, ...], Attributes]) -> Attributes:
    """Attributes that were checked before, or are now."""
    items = tuple(one.items()) if isinstance(one, Mapping) else (one,)
    with contextlib.suppress(TypeError):  # of a value that cannot be kept: it is refused below
        if items in seen:
            return seen[items]
    found = seen[items] = check_attributes(one, names)
    names.update(found)
    return found


def parts(
    rows: Sequence[Attributes],
    arms: NDArray[np.int64],
    rewards: Floats,
    family: Family,
    prior: Prior,
) -> list[Part]:
    """What rewards, on the scale of the family, teach of every arm in every segment."""
    found = []
    for name in sorted({name for row in rows for name in row}):
        values = [row.get(name, NONE) for row in rows]
        kept = [value for value, _ in Counter(values).most_common(MOST_VALUES)]
        places = {value: i for i, value in enumerate(kept)}
        segments = np.array([places.get(value, len(kept)) for value in values])
        for segment, arm, own in _split(segments, arms, rewards):
            value = kept[segment] if segment < len(kept) else OTHERS
            learned = taught(family, prior(arm), own)
            found.append(Part(name, value, arm, len(own), tuple(learned.tolist())))
    return found


def _split(
    segments: NDArray[np.int64], arms: NDArray[np.int64], rewards: Floats
) -> Iterator[tuple[int, int, Floats]]:
    """The rewards of every segment and arm, in their order."""
    pairs, codes = np.unique(np.stack([segments, arms]), axis=1, return_inverse=True)
    order = np.argsort(codes.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(codes.ravel()))
    for (segment, arm), own in zip(pairs.T, np.split(rewards[order], ends[:-1]), strict=True):
        yield int(segment), int(arm), own


def taught(family: Family, prior: Sequence[float], rewards: Floats) -> Floats:
    """What rewards add to a belief."""
    return family.additive(learnt(family, prior, rewards)) - family.additive(prior)
