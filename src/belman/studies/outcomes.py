"""Outcomes in bulk as the log keeps them: sums by version and arm, and what is learnt by them.

As with a correction, the writer works out what is believed of an arm after all of its rewards, and
the event keeps what came of it: who folds the log need not hold a million rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from belman.agent.learnt import Learnt
from belman.studies.event_log import Event

if TYPE_CHECKING:
    from belman.studies.publishing import Publishing


class After(NamedTuple):
    """What is learnt of an arm once its outcomes have counted."""

    belief: tuple[float, ...]
    plays: float
    sum: float
    squares: float
    tells: int

    def after(self, before: Learnt) -> Learnt:
        """The same; its prior and its open asks stay."""
        return before._replace(**self._asdict())


class Group(NamedTuple):
    """Outcomes of one arm, by its place, under one version (None: without published weights)."""

    version: int | None
    arm: int
    n: int
    sum: float
    squares: float


class Outcomes(NamedTuple):
    """What the event of a batch keeps: groups, (place, n, sum of rewards, what is learnt) of every
    arm, how many units of each arm were assigned by published weights and were meant to be, and the
    odds against these weights after all.
    """

    groups: list[Group]
    arms: list[tuple[int, int, float, After]]
    assigned: list[tuple[int, int]]
    meant: list[tuple[int, float]]
    log_odds: float

    @property
    def rows(self) -> int:
        """How many outcomes there are."""
        return sum(group.n for group in self.groups)

    def body(self, reason: str) -> dict[str, Any]:
        """For the log."""
        return {"reason": reason, "rows": self.rows, **self._asdict()}

    @classmethod
    def of(cls, event: Event) -> Outcomes:
        """Of an event in the log."""
        found = json.loads(event.body or "{}")
        arms = [(place, n, total, _after(row)) for place, n, total, row in found["arms"]]
        groups = [Group(*group) for group in found["groups"]]
        return cls(groups, arms, found["assigned"], found["meant"], found["log_odds"])

    def add_to(self, publishing: Publishing) -> None:
        """Add to what became of the units."""
        for place, n, _, _ in self.arms:
            publishing.observed[place] += n
        for place, n in self.assigned:
            publishing.assigned[place] += n
        for place, share in self.meant:
            publishing.meant[place] += share
        publishing.log_odds = self.log_odds


def _after(row: Iterable[Any]) -> After:
    belief, *rest = row
    return After(tuple(belief), *rest)
