"""Outcomes in bulk as the state takes them: batches, rows whose window closes, and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belman.errors import RewardError
from belman.studies.bulk.open_rows import OpenRow, sides
from belman.studies.bulk.outcomes import Outcomes, changes_in, learn
from belman.studies.contexts.segments import SegmentContexts
from belman.studies.log.event_log import Event

if TYPE_CHECKING:
    from belman.studies.state import State


def observe(state: State, event: Event) -> None:
    """Outcomes of units that were assigned by published weights, or without."""
    found = Outcomes.of(event)
    for place, n, total, after in found.arms:
        state.learn_many(place, n, after.after(state.learnt(place)))
        _count(state, place, n, total)
        state.course.ask(place, event.time, n)
        state.course.earn(event.time, total, n)
        state.traffic.observed(place, n, state.learnt)
    found.add_to(state.publishing)
    state.attribute_names.update(part.name for part in found.by)
    for row in (OpenRow(*row) for row in found.open):
        state.rows.take(row)
        state.attribute_names.update(row.attributes or ())
    if isinstance(state.contexts, SegmentContexts):
        state.contexts.observe(found.contexts)


def close(state: State, now: float) -> None:
    """Let the rows count whose window has closed by now; those that cannot be learnt any more are
    forgotten, as tickets are.
    """
    closed = state.rows.close(now)
    if not closed:
        return
    for place, side in sides((row for _, row in closed), state.agent.scale).items():
        before = state.learnt(place)
        try:
            after = learn(state.agent.family, before, side, state.register[place])
        except RewardError:
            continue
        state.learn_many(place, side.n, after.after(before))
        _count(state, place, side.n, side.total)
        state.traffic.observed(place, side.n, state.learnt)
        for end, row in closed:
            if row.arm == place:
                state.course.ask(place, end)
                state.course.earn(end, row.reward)


def correct(state: State, event: Event) -> None:
    """Rows count otherwise."""
    for place, tells, total, after in changes_in(event):
        state.relearn(place, after.after(state.learnt(place)))
        _count(state, place, tells, total)
        state.course.earn(event.time, total, tells)
        state.traffic.rows_corrected(place, tells)


def _count(state: State, place: int, n: int, total: float) -> None:
    state.told += n
    state.reward += total
    state.asks[place] += n
    state.publishing.observed[place] += n
