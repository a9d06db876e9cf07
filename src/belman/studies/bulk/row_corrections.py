"""Corrections of rows that counted: one reward is taken out of what is learnt, another put in.

The log keeps sums of rows, so that whoever corrects one says what it counted as. What they say is
kept, and what is learnt by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from belman.agent import doors
from belman.agent.learnt import Learnt
from belman.errors import ArmError, BelmanError, SettingError, StudyError, TicketError
from belman.studies.bulk.assigned_units import check_unit
from belman.studies.bulk.outcomes import After, Change
from belman.studies.log import change_keys
from belman.studies.log.event_log import Kind
from belman.studies.rules.attributes import Attributes, check_attributes
from belman.studies.tickets import corrections

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork

Given = Iterable[Sequence[Any] | Mapping[str, Any]]


class RowCorrection(NamedTuple):
    """A unit, its version and arm, what it counted as, what it should have counted as (None:
    nothing), and the attributes that it was brought with.
    """

    unit: Any
    version: int | None
    arm: Any
    was: float
    reward: float | None
    attributes: Attributes | None = None


def brought(given: Given) -> list[RowCorrection]:
    """What somebody brought."""
    found, give = [], "(unit, version, arm, was, reward), or with attributes behind"
    for i, row in enumerate(doors.check_list(given, "rows", give), start=1):
        try:
            one = RowCorrection(**row) if isinstance(row, Mapping) else RowCorrection(*row)
        except TypeError:
            raise SettingError(f"row {i} is {repr(row)[:80]}: give {give}") from None
        found.append(one)
    return found


def correct(unit: UnitOfWork, rows: list[RowCorrection], reason: str, key: str | None) -> int:
    """Let rows count otherwise, all or none of them, unless they do under this key already."""
    request = (reason, *rows)
    if unit.state.contexts is not None:
        why = "it learns by segment, of which the log keeps sums"
        raise StudyError(f"study {unit.name!r} corrects no rows: {why}")
    if change_keys.made_before(unit, key, Kind.ROWS_CORRECTED, request) is None and rows:
        unit.dirty = True
        unit.state.close(unit.now)  # the event that follows has this time
        learnt: dict[int, Learnt] = {}
        before = {place: unit.state.learnt(place) for place in range(len(unit.state.register))}
        for i, row in enumerate(rows, start=1):
            try:
                place = _place(unit, row)
                check_attributes(row.attributes, unit.state.attribute_names)
                learnt[place] = _swapped(unit, row, learnt.get(place, before[place]))
            except BelmanError as error:
                raise type(error)(f"row {i}: {error}") from None
        totals = dict.fromkeys(learnt, 0.0)
        for row in rows:
            totals[unit.state.places[row.arm]] += (row.reward or 0.0) - row.was
        changes = [
            Change(place, now.tells - before[place].tells, totals[place], After.of(now))
            for place, now in sorted(learnt.items())
        ]
        body = {"reason": reason, "rows": rows, "changes": changes}
        unit.write(
            Kind.ROWS_CORRECTED, **change_keys.marked(key, Kind.ROWS_CORRECTED, request, body)
        )
    return len(rows)


def _place(unit: UnitOfWork, row: RowCorrection) -> int:
    """The arm of a row that may have counted."""
    check_unit(unit, row.unit, row.version, row.arm)
    place = unit.state.places[row.arm]
    if (row.version, row.unit) in unit.state.rows.rows:
        raise TicketError(f"the window of unit {row.unit!r} is open: observe it once more instead")
    if not unit.state.publishing.observed[place]:
        raise ArmError(f"no outcome of arm {row.arm!r} came in bulk: correct tickets by correct()")
    return place


def _swapped(unit: UnitOfWork, row: RowCorrection, now: Learnt) -> Learnt:
    agent = unit.state.agent
    old = agent.scale.inward(unit.check_reward(row.was))
    new = None if row.reward is None else agent.scale.inward(unit.check_reward(row.reward))
    found = corrections.swapped(agent.family, now, old, new)
    if found is None:
        why = "too much of what is believed of the arm came from it, and the log keeps sums"
        raise TicketError(f"the reward {row.was!r} of {row.arm!r} cannot be taken back: {why}")
    return found
