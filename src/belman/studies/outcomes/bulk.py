"""Outcomes in bulk as the log keeps them: sums by version and arm, and what is learnt by them.

As with a correction, the writer works out what is believed of an arm after all of its rewards, and
the event keeps what came of it: who folds the log need not hold a million rows. Of every value of
an attribute and arm it keeps what the rewards of a batch add to a belief (`Family.additive`), and a
segment's belief is the sum of these.
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
from belman.families.tally import learnt
from belman.studies.outcomes.book import SHARES, TOLD
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


class Group(NamedTuple):
    """Outcomes of one arm, by its place, under one version (None: without published weights)."""

    version: int | None
    arm: int
    n: int
    sum: float
    squares: float


#: Left out of the log where there are none.
_SELDOM = {"open", TOLD, "contexts", "by", "values", "counted", "clipped", SHARES, "bets"}


class Bulk(NamedTuple):
    """What the event of a batch keeps: groups, (place, n, sum of rewards) of every arm, the patches
    by which they are learnt, how many units of each arm were assigned by published weights and were
    meant to be, and the odds against these weights after all; the rows that wait for their window
    to close; what is learnt in every segment; digests of rows that count under a window; and, in a
    study that compares arms with control, the chances of every version that it names, with the bets
    after all where the rewards are too many to be kept.
    """

    groups: list[Group]
    arms: list[tuple[int, int, float]]
    patches: Sequence[Mapping[str, Any]]
    assigned: list[tuple[int, int]]
    meant: list[tuple[int, float]]
    log_odds: float
    open: Sequence[Sequence[Any]] = ()  # rows whose window is open, see book.py
    told: Sequence[Sequence[Any]] = ()  # rows that count at once, each in its context
    contexts: Sequence[Sequence[Any]] = ()  # (context, place, n, sums) by segment, inward
    by: Sequence[Part] = ()  # what is learnt in segments, see row_attributes.py
    values: Sequence[Sequence[tuple[float, int]]] = ()  # of every group: rewards, and how often
    counted: Sequence[int] = ()
    clipped: int = 0  # rewards that lay beyond the range
    shares: Sequence[tuple[int, Sequence[float]]] = ()  # by version
    bets: Mapping[str, Any] | None = None

    @property
    def rows(self) -> int:
        """How many outcomes there are."""
        return sum(group.n for group in self.groups) + len(self.open) + len(self.told)

    def body(self, reason: str) -> dict[str, Any]:
        """For the log."""
        content = {"reason": reason, "rows": self.rows, **self._asdict()}
        return {name: part for name, part in content.items() if part or name not in _SELDOM}

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Bulk:
        """Return what the body of an event keeps."""
        arms = [(position, n, total) for position, n, total in result["arms"]]
        groups = [Group(*group) for group in result["groups"]]
        by = [Part(*part) for part in result.get("by", ())]
        rest = ("patches", "assigned", "meant", "log_odds")
        kept = cls(groups, arms, *(result[name] for name in rest))
        names = ("open", TOLD, "contexts", "values", SHARES, "bets")
        more = {name: result[name] for name in names if name in result}
        return kept._replace(by=by, clipped=result.get("clipped", 0), **more)


# Attributes: what was learnt of every arm in each segment


def checked(given: Sequence[Any], known: Set[str]) -> list[Attributes]:
    """The attributes of every row, of a study that knows some names already."""
    names, seen = set(known), dict[tuple[Any, ...], Attributes]()
    result = []
    for i, one in enumerate(given, start=1):
        try:
            result.append(_checked_once(one, names, seen))
        except SettingError as error:
            raise SettingError(f"row {i}: {error}") from None
    return result


def _checked_once(one: Any, names: set[str], seen: dict[tuple[Any, ...], Attributes]) -> Attributes:
    """Attributes that were checked before, or are now."""
    items = tuple(one.items()) if isinstance(one, Mapping) else (one,)
    with contextlib.suppress(TypeError):  # of a value that cannot be kept: it is refused below
        if items in seen:
            return seen[items]
    result = seen[items] = check_attributes(one, names)
    names.update(result)
    return result


def parts(
    rows: Sequence[Attributes],
    arms: NDArray[np.int64],
    rewards: Floats,
    family: Family,
    prior: Prior,
) -> list[Part]:
    """What rewards, on the scale of the family, teach of every arm in every segment."""
    result = []
    for name in sorted({name for row in rows for name in row}):
        values = [row.get(name, NONE) for row in rows]
        kept = [value for value, _ in Counter(values).most_common(MOST_VALUES)]
        positions = {value: i for i, value in enumerate(kept)}
        segments = np.array([positions.get(value, len(kept)) for value in values])
        for segment, arm, own in _split(segments, arms, rewards):
            value = kept[segment] if segment < len(kept) else OTHERS
            learned = taught(family, prior(arm), own)
            result.append(Part(name, value, arm, len(own), tuple(learned.tolist())))
    return result


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
