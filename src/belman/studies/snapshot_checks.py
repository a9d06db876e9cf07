"""Whether a snapshot is one that a study could have written: every place and count is one."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from belman.agent import checks
from belman.agent.learnt import Learnt
from belman.delays.counts import PRIOR
from belman.errors import BelmanError, StateError
from belman.measures.martingales import BETS
from belman.studies.log.clocks import is_time
from belman.studies.tickets.early import EarlyLearning

if TYPE_CHECKING:
    from belman.studies.state import State
    from belman.studies.traffic.course import Course
    from belman.studies.traffic.publishing import Publishing


def check_snapshot(state: State) -> None:
    """Raise StateError where parts of a state contradict one another."""
    arms = len(state.register)
    for name in ("number", "expired", "told"):
        checks.whole(getattr(state, name), name)
    checks.wholes(state.asks, arms, "asks")
    for name in ("told", "forgotten", "past"):
        checks.wholes(getattr(state.traffic, name), arms, name)
    if len(state.traffic.cuts) != arms or not _is_number(state.traffic.past_sum):
        raise StateError("a snapshot does not say what became of its traffic")
    _check_course(state.course, arms)
    _check_publishing(state.publishing, arms)
    dimension = state.agent.family.dimension
    for tells, total, belief in (cut for cuts in state.traffic.cuts for cut in cuts.values()):
        checks.whole(tells, "rewards of an arm", 1)
        if len(belief) != dimension or not all(map(_is_number, (total, *belief))):
            raise StateError("a snapshot keeps of an arm's past what is not a belief")
    if type(state.paused) is not bool or not _is_number(state.reward):
        raise StateError("a snapshot says neither whether it is paused nor what was earned")
    if state.shipped is not None:
        checks.whole(state.shipped, "the arm that was shipped", 0, arms - 1)
        if state.shipped in state.retired:
            raise StateError("a snapshot has shipped an arm that it does not play")
    for key, capitals in state.guards.capitals.items():
        checks.whole(key[0], "the arm of a guard", 0, arms - 1)
        if len(capitals) != len(BETS) or not all(map(_is_number, capitals)):
            raise StateError("a guard of a snapshot holds what is not a capital")
    waiting: Counter[int] = Counter()
    tickets = state.tickets
    for number, (place, time) in tickets.asks.items():
        checks.whole(number, "a ticket", 1, state.number)
        waiting[checks.whole(place, "the arm of a ticket", 0, arms - 1)] += 1
        if not is_time(time):
            raise StateError(f"a ticket was asked for at {time!r}, which is not a time")
    asks = list(tickets.asks)
    times = [time for _, time in tickets.asks.values()]
    if asks != sorted(asks) or times != sorted(times) or not is_time(tickets.time):
        raise StateError("the tickets of a snapshot are not in the order of their asks")
    for row in state.rows.rows.values():
        checks.whole(row.arm, "the arm of a row", 0, arms - 1)
        if not is_time(row.time) or not _is_number(row.reward):
            raise StateError("a row of a snapshot has no time, or no reward")
    if not all(map(_is_number, tickets.answers.values())):
        raise StateError("a ticket of a snapshot was told what is not a number")
    if state.early is not None:
        _check_early(state.early, state)
    if not state.metric_names >= {name for _, name in state.metrics.sums}:
        raise StateError("a snapshot sums up metrics that it does not name")
    for (place, _), sums in state.metrics.sums.items():
        checks.whole(place, "the arm of a metric", 0, arms - 1)
        checks.whole(sums.n, "how often a metric counted", 1)
        if sums.squares * sums.n < sums.sum * sums.sum:
            raise StateError("the sums of a metric are not those of so many numbers")
    silent = sum(map(len, tickets.silent.values()))
    if tickets.window is not None and silent + len(tickets.answers) != len(asks):
        raise StateError("a ticket of a snapshot is there twice")
    playing = [arm for place, arm in enumerate(state.register) if place not in state.retired]
    if len(state.places) != arms or set(playing) != set(state.agent.arms):
        raise StateError("a snapshot plays other arms than its register says")
    for place, learnt in state.retired.items():
        _check_learnt(checks.whole(place, "a retired arm", 0, arms - 1), learnt, state)
    pending = {state.places[arm]: count for arm, count in state.agent.outstanding.items()}
    pending |= {place: one.pending for place, one in state.retired.items() if one.pending}
    if pending != waiting:
        raise StateError("a snapshot waits for other rewards than those of its tickets")


def _check_publishing(publishing: Publishing, arms: int) -> None:
    """Weights were checked as documents already."""
    checks.wholes(publishing.observed, arms, "observed")
    checks.wholes(publishing.assigned, arms, "assigned")
    numbers = [*publishing.meant, publishing.log_odds]
    if len(numbers) != arms + 1 or not all(map(_is_number, numbers)):
        raise StateError("a snapshot does not say what became of its published weights")


def _check_course(course: Course, arms: int) -> None:
    checks.whole(course.width, "the width of a step", 1)
    for number, step in course.steps.items():
        checks.whole(number, "a step of time", -(2**53))
        checks.whole(step.rewards, "rewards of a step", -(2**53))
        for arm, count in step.asks.items():
            checks.whole(arm, "the arm of a step", 0, arms - 1)
            checks.whole(count, "asks of a step")
        if not _is_number(step.total):
            raise StateError("a snapshot does not say what its steps of time earned")
    for change in course.changes:
        checks.whole(change.number, "a change", 1)
        if not _is_number(change.time) or not isinstance(change.reason, str):
            raise StateError("a snapshot does not say when it was changed, and why")


def _check_early(early: EarlyLearning, state: State) -> None:
    """The law of the delays counts the open tickets, and no others."""
    law, asks, told = early.law, state.tickets.asks, early.told
    is_own = law.window == state.settings.window and law.prior == PRIOR
    if not is_own or law.arms != len(state.register) or not isinstance(law.alarm, str | None):
        raise StateError("the distribution of delays of a snapshot is that of another study")
    if not told.keys() <= asks.keys() or not all(map(is_time, told.values())):
        raise StateError("a success of a snapshot was told of no ticket, or at no time")
    if not law.is_of([(*ask, told.get(number)) for number, ask in asks.items()]):
        raise StateError("the distribution of delays of a snapshot does not count its tickets")


def _check_learnt(place: int, learnt: Learnt, state: State) -> None:
    try:
        state.agent.family.check_prior(learnt.prior)
        state.agent.family.check_belief(learnt.belief)
    except BelmanError as error:
        raise StateError(f"retired arm {state.register[place]!r}: {error}") from None
    checks.whole(learnt.tells, "tells of a retired arm")
    checks.whole(learnt.pending, "pending of a retired arm")
    for number in (learnt.plays, learnt.sum, learnt.squares):
        if not _is_number(number):
            raise StateError(f"sums of retired arm {state.register[place]!r} are not numbers")


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
