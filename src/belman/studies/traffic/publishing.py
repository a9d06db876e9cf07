"""Published weights: which version stands in every segment, and when the next is due.

A version is an event in the log, and its number is that event's. So whoever observes an outcome
says by which version the unit was assigned, and the log says what its chance was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, NamedTuple

from belman.assignment import Weights
from belman.assignment.assigners import BELMAN, BY, NAMED, Assigner, Elsewhere
from belman.codec import Form, Whole
from belman.deciders import validate
from belman.errors import SettingError, StudyError, listing, nearest, shown, unknown
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules.window_rule import check_seconds

MOST_SEGMENTS = 100
#: Characters: room for the levels of a context.
LONGEST_SEGMENT = 2_000
#: Seconds for which weights may be used that nobody could renew.
VALID_FOR = 86_400.0
#: Marks a version by which others assign, and which belman neither made nor renews.
DECLARED = "declared"


class Plan(NamedTuple):
    """For how many decisions weights are made, how often anew, how long they may be used, and the
    name of whose hash assigns units by them.
    """

    decisions: Annotated[int, Whole(1)]
    every: float | None
    valid_for: float | None
    by: str = BELMAN

    @property
    def assigner(self) -> Assigner | None:
        """Who assigns units, None for belman."""
        return None if self.by == BELMAN else NAMED[self.by]()


def check_plan(
    decisions: Any,
    every: float | timedelta | None,
    valid_for: float | timedelta | None,
    by: str = BELMAN,
) -> Plan:
    """A plan that can be kept."""
    count = validate.check_count(decisions, f"decisions={shown(decisions)}")
    hashes = [name for name in BY if name != Elsewhere.by]
    if by not in hashes:
        raise SettingError(unknown("assigner", by, hashes))
    plan = Plan(count, check_seconds(every, "every"), check_seconds(valid_for, "valid_for"), by)
    if plan.every is not None and plan.valid_for is not None and plan.valid_for < plan.every:
        words = f"weights that are renewed every {plan.every:g} s have to be valid for as long"
        raise SettingError(f"valid_for={shown(valid_for)}: {words}")
    return plan


def check_segment(segment: object) -> str | None:
    """The name of a segment, or None for all units."""
    if segment is None:
        return None
    is_text = isinstance(segment, str) and segment.isprintable()
    if not is_text or not 0 < len(str(segment)) <= LONGEST_SEGMENT:
        allowed = f"a printable text of at most {LONGEST_SEGMENT} characters, or None"
        raise SettingError(f"segment={shown(segment)} is not valid: give {allowed}")
    return str(segment)


_WEIGHTS = Form(Weights.described, lambda content, _: Weights.from_described(content))


class Version(NamedTuple):
    """The weights that stand, and the plan by which they are made."""

    weights: Annotated[Weights, _WEIGHTS]
    plan: Plan


@dataclass
class Publishing:
    """The version that stands in every segment, and those that changes have overtaken."""

    current: dict[str | None, Version] = field(default_factory=dict)
    overtaken: list[str | None] = field(default_factory=list)  # since arms or the policy changed

    def publish(self, body: Mapping[str, Any]) -> None:
        """A new version stands, unless it was only declared."""
        if DECLARED in body:
            return
        weights = Weights.from_described(body["weights"])
        self.current[weights.segment] = Version(weights, Plan(*body["plan"]))
        if weights.segment in self.overtaken:
            self.overtaken.remove(weights.segment)

    def overtake(self) -> None:
        """Arms, or the policy among them, changed: every version is due to be made anew."""
        self.overtaken = list(self.current)

    def is_due(self, segment: str | None, now: float, number: int) -> bool:
        """Whether the next version is due, in a log with this number of events."""
        weights, plan = self.current[segment]
        if segment in self.overtaken:
            return True
        if plan.every is None or now < (weights.published or 0.0) + plan.every:
            return False
        half = 0.5 * (plan.valid_for or 0.0)
        ends = weights.valid_until is not None and now >= weights.valid_until - half
        return number > weights.version or ends

    def standing(self, study: str, segment: str | None) -> Version:
        """Return the version that stands in a segment; StudyError where there is none."""
        known = self.current
        if segment in known:
            return known[segment]
        if not known:
            raise StudyError(f"study {study!r} has published no weights: publish(decisions=…) does")
        there = f"there are {listing(map(str, known))}{nearest(segment, map(str, known))}"
        raise StudyError(
            f"study {study!r} has published none for segment={shown(segment)}: {there}"
        )


def fresh_for(version: Version, now: float) -> float:
    """Return for how many seconds no version that follows this one can be due by time alone."""
    if version.plan.every is None:
        return math.inf
    return max((version.weights.published or 0.0) + version.plan.every - now, 0.0)


def version_in(event: Event | None, version: object) -> Weights:
    """The weights that an event published; SettingError where it is no such event."""
    if event is None or event.kind != Kind.PUBLISHED:
        raise SettingError(f"version={shown(version)} was never published")
    return Weights.from_described(event.content["weights"])
