"""What events do to the state of a study: the fold of its log.

Every process that folds the same events has the same state to the last bit: an ask holds the arm
that was chosen, so that nothing is decided anew. What changes a study, and is no outcome, is in
`changing.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from belman.deciders import Asking, Draw, Learnt
from belman.errors import RewardError, StateError
from belman.studies.changing import CHANGES, change
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import ASKED, CONTEXT, SHARES, TOLD, Counted, Outcome, Row
from belman.studies.outcomes.bulk import Bulk
from belman.studies.outcomes.candidates import CANDIDATES
from belman.studies.outcomes.early import EARLY_KINDS
from belman.studies.state import State
from belman.studies.traffic.evidence import NO_VERSION, Chances, bet, bet_bulk
from belman.studies.traffic.spending import PRICE, Spending, segment_of
from belman.studies.traffic.tally import Cut

Body = Mapping[str, Any]
#: Kinds of events that the book and the budget take in, and that do nothing more.
_TAKEN = (Kind.TOLD, Kind.ACTIVATED, Kind.RECORDED, Kind.ARCHIVED, Kind.SPENT)


def fold(state: State, event: Event, decided: bool = False) -> None:
    """Apply an event. `decided=True` if the ask is already counted as outstanding."""
    kind, book, tally = event.kind, state.book, state.tally
    body = event.content
    if book.is_due(event.time):
        close(state, event.time)
    outcome = None if event.ticket is None else book.open.get(event.ticket)
    if state.early is not None and kind in EARLY_KINDS:
        state.early.take(event, outcome)
    if state.by_clock:
        state.decider.time = event.time
    if kind == Kind.OBSERVED and state.in_contexts:
        _meet_rows(state, body)
    if state.spending is not None:
        _spend(state, state.spending, event, body, outcome)
    for counted in book.take(event, body):
        _count(state, counted)
    if kind == Kind.ASKED:
        _ask(state, event, body, decided)
    elif kind == Kind.RETURNED:
        assert outcome is not None
        tally.ask(outcome.arm, outcome.time, -1)
        state.decider.settle(state.choice(outcome), None)
    elif kind == Kind.CORRECTED:
        _correct(state, event, body)
    elif kind == Kind.PUBLISHED:
        state.publishing.publish(body)
        if CONTEXT in body:
            state.decider.meet(Asking(body[CONTEXT]))
    elif kind == Kind.OBSERVED:
        _observe(state, event, body)
    elif kind == Kind.ROWS_CORRECTED:
        _correct_rows(state, event, body)
    elif kind in CHANGES:
        change(state, event, body)
    elif kind not in _TAKEN:
        unknown = "which this belman does not know (install a newer one)"
        raise StateError(f"the log holds an event of kind {kind}, {unknown}")
    if body and kind in (Kind.TOLD, Kind.CORRECTED):
        tally.metrics.names.update(body.get("metrics", ()))
    elif body and kind in (Kind.ASKED, Kind.RECORDED):
        tally.attribute_names.update(body.get("attributes", ()))
    state.number = event.number


# Asks


def _ask(state: State, event: Event, body: Body, decided: bool) -> None:
    assert event.arm is not None
    candidates = None
    if CANDIDATES in body:
        candidates = state.catalogue.take(event.number, body[CANDIDATES])
    state.tally.ask(event.arm, event.time)
    chances = _chances_in(state, event, body)
    if chances:
        state.tally.draws.add(event.arm, chances)
    if state.spending is not None:
        of = event.number, event.time, event.arm, segment_of(body.get(CONTEXT))
        state.spending.ask(*of, chances, body.get(PRICE))
    if not decided:
        if CONTEXT in body:
            state.decider.meet(Asking(body[CONTEXT], candidates))
        state.decider.expect(state.choice(state.book.open[event.number]))


def fold_asks(state: State, events: Sequence[Event]) -> None:
    """Apply asks of one moment, with one body but for what was chosen, that are already counted as
    outstanding: as folding one by one does, and faster.
    """
    apart = state.early is not None or state.in_contexts or state.spending is not None
    single = len(events) if apart else 1
    for event in events[:single]:
        fold(state, event, decided=True)
    if not (rest := events[single:]):
        return
    body = rest[0].content
    state.book.ask_all(rest, body)
    alike = {(event.arm, event.draw): event for event in rest}
    for (arm, draw), count in Counter(map(attrgetter("arm", "draw"), rest)).items():
        assert arm is not None
        state.tally.ask(arm, rest[0].time, count)
        if chances := _chances_in(state, alike[arm, draw], body):
            state.tally.draws.add(arm, chances, count)
    state.number = events[-1].number


def _chances_in(state: State, event: Event, body: Body) -> Chances | None:
    """Return the chances of all arms, by place, by which an ask was drawn; None where a policy
    chose one for sure.
    """
    if not state.by_chances:
        return state.chances_of(event.draw) if event.draw in (Draw.UNIFORM, Draw.FLOOR) else None
    if state.shipped is not None:
        return None
    if SHARES not in body:
        return state.tally.draws.chances
    result = tuple(body[SHARES])
    if not state.in_contexts and state.spending is None:
        state.tally.draws.stand(event.number, result)
    return result


def _spend(
    state: State, spending: Spending, event: Event, body: Body, outcome: Outcome | None
) -> None:
    """Let what an event says of a cost count."""
    if event.kind == Kind.RETURNED:
        spending.give_back(event.ticket or 0)
    elif event.kind == Kind.SPENT:
        spending.spend(event.time, event.arm, body["cost"])
    elif event.kind == Kind.TOLD and outcome is not None and "metrics" in body:
        after = state.book.with_told(event.ticket, None, body["metrics"]).metrics
        of = event.ticket or 0, outcome.time, outcome.arm, segment_of(outcome.context)
        spending.tell(*of, outcome.metrics, after)
    elif event.kind == Kind.CORRECTED and ASKED in body:
        asked, context = body[ASKED]
        before, told = body.get("metrics_before", {}), body.get("metrics", {})
        of = event.ticket or 0, asked, event.arm or 0, segment_of(context)
        spending.tell(*of, before, {**before, **told})


# Outcomes that count


def close(state: State, now: float) -> None:
    """Count every outcome whose window has closed by now; an event of this time has to follow,
    unless this is a copy: another process may be about to write one of an earlier time.
    """
    for counted in state.book.close(now):
        if state.early is not None and type(counted.key) is int:
            state.early.close(counted)
        if state.by_clock:
            state.decider.time = counted.time
        _count(state, counted)


def _count(state: State, counted: Counted) -> None:
    """Count an outcome: of a ticket, of a row, or of past data.

    A reward was within the reach of the belief when it was told. If it is not any more (silence
    that counts as much, over and over), it is forgotten: time cannot be refused.
    """
    outcome, is_ticket = counted.outcome, type(counted.key) is int
    choice, reward, decider = state.choice(outcome), outcome.reward, state.decider
    state.tally.expired += counted.silent
    if not is_ticket:  # nobody asked for it
        if state.in_contexts and counted.key is None:
            candidate = None if outcome.candidate is None else [outcome.candidate]
            decider.meet(Asking(outcome.context, candidate))
        decider.expect(choice)
    try:
        decider.settle(choice, reward)
    except RewardError:
        reward = None
        decider.settle(choice, None)
    if reward is None:
        state.tally.arms[outcome.arm].forgotten += is_ticket
        return
    if state.settings.clip:
        kept, clipped = state.kept(reward)
        counted = counted._replace(outcome=outcome._replace(reward=kept))
        state.tally.clipped += clipped
    state.tally.count(counted, lambda: state.learnt(outcome.arm))
    if state.tally.bets is not None and counted.key is not None:
        _bet(state, counted.key, counted.outcome)
    if outcome.metrics:
        state.guards.count(counted.key, outcome.arm, outcome.metrics)


def _bet(state: State, key: Any, outcome: Outcome) -> None:
    """Count an outcome as evidence, if the chances of its decision are known."""
    chances = state.chances(key, outcome)
    if chances:
        number = key if type(key) is int else NO_VERSION if key[0] is None else key[0]
        bet(state.tally.bets, outcome.arm, chances, outcome.reward, 1.0, number)


# Outcomes in bulk


def _meet_rows(state: State, body: Body) -> None:
    """Make room for what is new in the contexts of rows, as an ask does for a ticket's."""
    known = set(state.book.open)
    for row in (Row(*one) for one in body.get("open", ())):
        if (row.version, row.unit) not in known:
            known.add((row.version, row.unit))
            state.decider.meet(Asking(row.context))
    for told in body.get(TOLD, ()):
        state.decider.meet(Asking(Row(*told).context))


def _observe(state: State, event: Event, body: Body) -> None:
    """Learn outcomes in bulk that count at once."""
    result, tally = Bulk.of(body), state.tally
    tally.draws.due = 0
    for patch in result.patches:
        state.decider.take(patch)
    for position, n, total in result.arms:
        tally.observe(position, event.time, n, total, lambda at=position: state.learnt(at))  # type: ignore[misc]
    for position, n in result.assigned:
        tally.arms[position].assigned += n
    for position, share in result.meant:
        tally.arms[position].meant += share
    tally.log_odds = result.log_odds
    if tally.bets is not None:
        tally.bets = bet_bulk(tally.bets, result)
    tally.clipped += result.clipped
    tally.attribute_names.update(part.name for part in result.by)
    for row in (*result.open, *result.told):
        tally.attribute_names.update(row[5] or ())


# Corrections


def _correct(state: State, event: Event, body: Body) -> None:
    """Let a ticket that counted count otherwise."""
    assert event.arm is not None
    position, was, now, tally = event.arm, body["before"], event.reward, state.tally
    old_reward, _ = state.kept(was or 0.0)
    new_reward, _ = state.kept(now or 0.0)
    n, total = (now is not None) - (was is not None), new_reward - old_reward
    tally.correct(position, event.time, n, total, in_bulk=False)
    old = {} if was is None else body.get("metrics_before", {})
    new = {**body.get("metrics_before", {}), **body.get("metrics", {})}
    new = {} if now is None else dict(sorted(new.items()))
    for metrics, more in ((old, -1), (new, 1)):
        tally.metrics.count(position, metrics, more)
        state.guards.count(event.ticket or 0, position, metrics, more)
    if body["patch"] is not None:
        before = state.learnt(position)
        state.decider.take(body["patch"])
        _correct_cuts(state, position, before, (body["counted"], event.ticket or 0))
    if SHARES in body:
        for reward, kept, times in ((was, old_reward, -1.0), (now, new_reward, 1.0)):
            if reward is not None:
                bet(tally.bets, position, body[SHARES], kept, times, event.ticket)


def _correct_rows(state: State, event: Event, body: Body) -> None:
    """Let rows that counted count otherwise."""
    before = {position: state.learnt(position) for position, *_ in body["changes"]}
    for patch in body["patches"]:
        state.decider.take(patch)
    for position, n, total in body["changes"]:
        state.tally.correct(position, event.time, n, total, in_bulk=True)
        _correct_cuts(state, position, before[position], None)
    for position, reward, times, version in body.get("bets", ()):
        number = max(version, NO_VERSION)
        bet(state.tally.bets, position, dict(body[SHARES])[version], reward, times, number)


def _correct_cuts(
    state: State, position: int, before: Learnt, at: tuple[float, int] | None
) -> None:
    """Change what is kept of an arm's past by a correction: of a ticket that counted at a time; or
    of a row, which may have counted whenever, and changes each part by its share.
    """
    after = state.learnt(position)

    def share(cut: Cut) -> float:
        if at is not None:
            return float(cut.has(*at))
        return min(cut.rewards / max(before.tells, 1), 1.0)

    arm = state.tally.arms[position]
    if state.in_contexts or state.settings.discount < 1.0:
        arm.cuts = {}  # nobody asks whether such an arm changed
    else:
        arm.correct_cuts(state.decider.family, before, after, share)
