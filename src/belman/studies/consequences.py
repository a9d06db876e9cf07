"""What follows from rewards that have counted: arms that crossed a limit go, changes that a policy
noticed are written down, and a winner ships.

Whoever writes an event looks what follows from it, in the same transaction, and writes that down
too. So the log says all that happened, and nobody who folds it decides anything.

A study may ship by itself when its stopping rule has decided (`then="ship"`). It looks when the
rewards told reach a count that is next: every reward at first, and then each time they have grown
by one in fifty. So what it costs to look does not grow with the traffic, and when it looks depends
on the log alone. Whoever undoes it has decided: the study does not ship by itself again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from belman.errors import PolicyError
from belman.measures.report import Report, report
from belman.measures.stop_rules import Verdict
from belman.policies import Policy
from belman.studies.log.event_log import Kind
from belman.studies.state import State

_GROWTH = math.log(1.02)
_EVERY = 50


class Consequence(NamedTuple):
    """An event that is to be written down: its kind, its arm by place, and its body."""

    kind: Kind
    arm: int | None
    body: dict[str, Any]


def consequences(state: State, is_look: bool) -> Iterator[Consequence]:
    """Yield what follows, each from the state after the one before it was written down; the
    stopping rule is asked where this `is_look`.
    """
    touched, state.guards.touched = sorted(state.guards.touched), set()
    for position in touched:
        crossed = None if position in state.retired else state.guards.crossed(position)
        if crossed is not None:
            what = f"{crossed.metric} of {state.register[position]} is not {crossed.limit.text}"
            kind = Kind.ARM_RETIRED if _may_retire(state) else Kind.PAUSED
            body = {"reason": f"guard: {what}", "guard": crossed.metric}
            yield Consequence(kind, position, body)
    while news := _changes_since(state):
        yield _noticed(state, *news[0])
    if is_look and (verdict := decided(state)):
        body = {"reason": verdict.sentence, "by": "rule"}
        yield Consequence(Kind.SHIPPED, state.positions[verdict.arm], body)


def _may_retire(state: State) -> bool:
    """Whether one arm less is enough, for the policy too, which may be asked for the best two."""
    policy, arms = state.decider.policy, len(state.arms) - 1
    try:
        if isinstance(policy, Policy):
            policy.check(state.decider.family, max(arms, 1))
    except PolicyError:
        return False
    return arms > 0


def _changes_since(state: State) -> list[Any]:
    """Return the changes of the world that are not written down yet."""
    if not state.follows_changes:
        return []
    return [one for one in state.decider.changes() if one[1].number > state.noticed]


def _noticed(state: State, arm: Any, change: Any) -> Consequence:
    """Return the event of a change of the world that the policy noticed."""
    name = "an arm that is not played any more" if arm is None else arm
    went = f"from {change.before:.4g} to {change.now:.4g}"
    body = {
        "reason": f"change: the average reward of {name} went {went}",
        "noticed": change.number,
        "turn": change.turn,
        "after": change.after,
        "from": change.before,
        "to": change.now,
        "sure": round(change.sure, 4),
    }
    return Consequence(Kind.CHANGE_NOTICED, None if arm is None else state.positions[arm], body)


def standing(state: State) -> Report:
    """What is known now, without intervals."""
    known, settings = state.decider.known(), state.settings
    positions = [state.positions[arm] for arm in known.arms]
    control = settings.control if settings.control in known.arms else None
    bets = state.tally.bets if control is not None else None
    return report(known, control, 0.95, settings.stop_when, most=0, bets=bets, positions=positions)


def decided(state: State) -> Verdict | None:
    """What the rule says, where it lets the study ship now."""
    if not state.ships_itself or state.shipped is not None or len(state.arms) < 2:
        return None
    verdict = standing(state).verdict
    return verdict if verdict.decided else None


def looks(told: int) -> int:
    """Return how often a study with this number of rewards has looked.

    >>> looks(1), looks(50), looks(51), looks(100), looks(101)
    (1, 50, 51, 86, 86)
    """
    return told if told <= _EVERY else _EVERY + math.ceil(math.log(told / _EVERY) / _GROWTH)
