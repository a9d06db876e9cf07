"""Outcomes in bulk as the log keeps them: sums by version and arm, and what is learnt by them.

As with a correction, the writer works out what is believed of an arm after all of its rewards, and
the event keeps what came of it: who folds the log need not hold a million rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from belman.agent.learnt import Learnt
from belman.errors import RewardError
from belman.families import Family
from belman.measures.learnt import learnt as learnt_by
from belman.studies.outcomes.row_attributes import Part


class After(NamedTuple):
    """What is learnt of an arm once its outcomes have counted."""

    belief: tuple[float, ...]
    plays: float
    sum: float
    squares: float
    tells: int

    @classmethod
    def of(cls, learnt: Learnt) -> After:
        """What is learnt, of all that is known of an arm."""
        return cls(*(getattr(learnt, name) for name in cls._fields))

    @classmethod
    def from_row(cls, row: Iterable[Any]) -> After:
        """From the log."""
        belief, *rest = row
        return cls(tuple(belief), *rest)

    def after(self, before: Learnt) -> Learnt:
        """The same; its prior and its open asks stay."""
        return before._replace(**self._asdict())


class Side(NamedTuple):
    """What came of one arm: how many, their sum, and their sums (and values) for the family."""

    n: int
    total: float
    inward: float
    squares: float
    values: list[float] | None  # None where only sums are known

    def joined(self, other: Side) -> Side:
        """The sums of both."""
        total, inward = self.total + other.total, self.inward + other.inward
        return Side(self.n + other.n, total, inward, self.squares + other.squares, None)


def learn(family: Family, before: Learnt, side: Side, arm: Hashable) -> After:
    """What is learnt of an arm by all of its outcomes."""
    try:
        if side.values is None or family.summed:
            belief = family.update_many(before.belief, side.n, side.inward, side.squares)
        else:
            belief = learnt_by(family, before.belief, side.values)
            if (why := family.beyond_reach(belief)) is not None:
                raise RewardError(why)
    except RewardError as error:
        raise RewardError(f"the outcomes of arm {arm!r} cannot be learnt: {error}") from None
    return After(
        tuple(map(float, belief)),
        before.plays + side.n,
        before.sum + side.inward,
        before.squares + side.squares,
        before.tells + side.n,
    )


class Group(NamedTuple):
    """Outcomes of one arm, by its place, under one version (None: without published weights)."""

    version: int | None
    arm: int
    n: int
    sum: float
    squares: float


_SELDOM = {
    "open",
    "contexts",
    "by",
    "values",
    "counted",
}  # left out of the log where there are none


class Bulk(NamedTuple):
    """What the event of a batch keeps: groups, (place, n, sum of rewards, what is learnt) of every
    arm, how many units of each arm were assigned by published weights and were meant to be, and the
    odds against these weights after all; the rows that wait for their window to close; what is
    learnt in every segment; and digests of rows that count at once under a window.
    """

    groups: list[Group]
    arms: list[tuple[int, int, float, After]]
    assigned: list[tuple[int, int]]
    meant: list[tuple[int, float]]
    log_odds: float
    open: Sequence[Sequence[Any]] = ()  # rows whose window is open, see book.py
    contexts: Sequence[Sequence[Any]] = ()  # (context, place, n, sums) by segment, inward
    by: Sequence[Part] = ()  # what is learnt in segments, see row_attributes.py
    values: Sequence[Sequence[tuple[float, int]]] = ()  # of every group: rewards, and how often
    counted: Sequence[int] = ()

    @property
    def rows(self) -> int:
        """How many outcomes there are."""
        return sum(group.n for group in self.groups) + len(self.open)

    def body(self, reason: str) -> dict[str, Any]:
        """For the log."""
        content = {"reason": reason, "rows": self.rows, **self._asdict()}
        return {name: part for name, part in content.items() if part or name not in _SELDOM}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Bulk:
        """Return what the body of an event keeps."""
        arms = [(place, n, total, After.from_row(row)) for place, n, total, row in found["arms"]]
        groups = [Group(*group) for group in found["groups"]]
        rest = (found["assigned"], found["meant"], found["log_odds"], found.get("open", ()))
        by = [Part(*part) for part in found.get("by", ())]
        return cls(groups, arms, *rest, found.get("contexts", ()), by, found.get("values", ()))


class Change(NamedTuple):
    """What corrections make of an arm: so many more rewards, their sum, and what is learnt."""

    arm: int
    tells: int
    total: float
    after: After


def changes_in(body: Mapping[str, Any]) -> list[Change]:
    """Return what an event of corrected rows changes."""
    return [
        Change(place, tells, total, After.from_row(row))
        for place, tells, total, row in body["changes"]
    ]
