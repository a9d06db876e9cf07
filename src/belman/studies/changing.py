"""What the events do that change a study and are no outcomes: arms come and go, traffic stops or
all goes to one arm, and policies and limits are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from belman import codec
from belman.deciders import Choice
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules.guards import check_guard
from belman.studies.rules.written import given_back
from belman.studies.state import State
from belman.studies.traffic.evidence import joined
from belman.studies.traffic.tally import ArmTally

Body = Mapping[str, Any]


def change(state: State, event: Event, body: Body) -> None:
    """Apply an event of one of the kinds of `CHANGES`."""
    effect = CHANGES[event.kind]
    if effect in _OF_TRAFFIC:  # weights that were published for it are out of date, and chances
        state.publishing.overtake()
        state.tally.draws.due = 0
    effect(state, event, body)
    state.tally.course.change(event, body)


def _create(state: State, event: Event, body: Body) -> None:
    """The settings have said all."""


def _pause(state: State, event: Event, body: Body) -> None:
    _stop_guard(state, event, body)
    state.paused = True


def _resume(state: State, event: Event, body: Body) -> None:
    state.paused = False
    state.guards.resume(state.retired)


def _stop_guard(state: State, event: Event, body: Body) -> None:
    if event.arm is not None:
        state.guards.stop(event.arm, body.get("guard"))


def _add_arm(state: State, event: Event, body: Body) -> None:
    """Take in a new arm, or one that comes back, whose body has no name."""
    assert event.arm is not None
    _stop_guard(state, event, body)
    state.forget_chances()
    if "name" not in body:
        state.decider.add(state.register[event.arm])
        return
    arm = codec.decode_arm(body["name"])
    state.decider.add(arm, body["prior"])
    state.positions[arm] = len(state.register)
    state.register.append(arm)
    state.choices.append(Choice(arm))
    state.tally.arms.append(ArmTally())
    if state.tally.bets is not None:
        state.tally.bets = joined(state.tally.bets)


def _retire_arm(state: State, event: Event, body: Body) -> None:
    assert event.arm is not None
    _stop_guard(state, event, body)
    state.forget_chances()
    state.decider.retire(state.register[event.arm])
    if event.arm == state.shipped:
        state.shipped = None


def _set_policy(state: State, event: Event, body: Body) -> None:
    kinds = DependentPolicy if state.settings.has_features else Policy
    policy = given_back(body["policy"], kinds)
    state.note_policy(policy)
    if state.by_clock:
        state.decider.time = event.time
    state.decider.set_policy(policy)
    state.noticed = 0


def _ship(state: State, event: Event, body: Body) -> None:
    state.shipped = event.arm
    _draw_anew(state, event)


def _unship(state: State, event: Event, body: Body) -> None:
    state.shipped, state.ships_itself = None, False
    _draw_anew(state, event)


def _draw_anew(state: State, event: Event) -> None:
    """Let no chances stand: nothing is drawn while an arm is shipped, and by new ones later."""
    if state.by_chances:
        state.tally.draws.stand(event.number, ())
        state.tally.draws.due = 0


def _notice_change(state: State, event: Event, body: Body) -> None:
    state.noticed = body["noticed"]


def _set_guard(state: State, event: Event, body: Body) -> None:
    state.guards.change(check_guard(body["guard"] or None) or {}, event.number)


#: What each kind of event does that somebody caused to change the study.
CHANGES: dict[int, Callable[[State, Event, Body], None]] = {
    Kind.CREATED: _create,
    Kind.PAUSED: _pause,
    Kind.RESUMED: _resume,
    Kind.ARM_ADDED: _add_arm,
    Kind.ARM_RETIRED: _retire_arm,
    Kind.POLICY_CHANGED: _set_policy,
    Kind.SHIPPED: _ship,
    Kind.UNSHIPPED: _unship,
    Kind.CHANGE_NOTICED: _notice_change,
    Kind.GUARD_CHANGED: _set_guard,
}
_OF_TRAFFIC = (_add_arm, _retire_arm, _set_policy, _ship, _unship)
