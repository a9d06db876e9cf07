"""Outcomes in bulk as the log keeps them: sums by version and arm, and what is learnt by them.

As with a correction, the writer works out what is believed of an arm after all of its rewards, and
the event keeps what came of it: who folds the log need not hold a million rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from belman.studies.outcomes.row_attributes import Part


class Group(NamedTuple):
    """Outcomes of one arm, by its place, under one version (None: without published weights)."""

    version: int | None
    arm: int
    n: int
    sum: float
    squares: float


#: Left out of the log where there are none.
_SELDOM = {"open", "contexts", "by", "values", "counted", "clipped"}


class Bulk(NamedTuple):
    """What the event of a batch keeps: groups, (place, n, sum of rewards) of every arm, the patches
    by which they are learnt, how many units of each arm were assigned by published weights and were
    meant to be, and the odds against these weights after all; the rows that wait for their window
    to close; what is learnt in every segment; and digests of rows that count under a window.
    """

    groups: list[Group]
    arms: list[tuple[int, int, float]]
    patches: Sequence[Mapping[str, Any]]
    assigned: list[tuple[int, int]]
    meant: list[tuple[int, float]]
    log_odds: float
    open: Sequence[Sequence[Any]] = ()  # rows whose window is open, see book.py
    contexts: Sequence[Sequence[Any]] = ()  # (context, place, n, sums) by segment, inward
    by: Sequence[Part] = ()  # what is learnt in segments, see row_attributes.py
    values: Sequence[Sequence[tuple[float, int]]] = ()  # of every group: rewards, and how often
    counted: Sequence[int] = ()
    clipped: int = 0  # rewards that lay beyond the range

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
        arms = [(place, n, total) for place, n, total in found["arms"]]
        groups = [Group(*group) for group in found["groups"]]
        by = [Part(*part) for part in found.get("by", ())]
        rest = ("patches", "assigned", "meant", "log_odds")
        kept = cls(groups, arms, *(found[name] for name in rest))
        more = {name: found[name] for name in ("open", "contexts", "values") if name in found}
        return kept._replace(by=by, clipped=found.get("clipped", 0), **more)
