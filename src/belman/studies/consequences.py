"""What follows from rewards that have counted: arms that crossed a limit go, changes that a policy
noticed are written down, and a winner ships.

Whoever writes an event looks what follows from it, in the same transaction, and writes that down
too. So the log says all that happened, and nobody who folds it decides anything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from belman.studies.log.event_log import Kind
from belman.studies.rules import shipping

if TYPE_CHECKING:
    from belman.studies.unit_of_work import UnitOfWork


def write(unit: UnitOfWork, is_look: bool) -> None:
    """Write down what follows; the stopping rule is asked where this `is_look`."""
    state = unit.state
    touched, state.guards.touched = sorted(state.guards.touched), set()
    for place in touched:
        crossed = None if place in state.retired else state.guards.crossed(place)
        if crossed is not None:
            what = f"{crossed.metric} of {state.register[place]} is not {crossed.limit.text}"
            is_last = len(state.agent.arms) == 1
            body = {"reason": f"guard: {what}", "guard": crossed.metric}
            kind = Kind.PAUSED if is_last else Kind.ARM_RETIRED
            unit.write(kind, arm=place, body=json.dumps(body, ensure_ascii=False))
    write_changes(unit)
    if is_look and (verdict := shipping.decided(state)):
        text = json.dumps({"reason": verdict.sentence, "by": "rule"}, ensure_ascii=False)
        unit.write(Kind.SHIPPED, arm=state.places[verdict.arm], body=text)


def write_changes(unit: UnitOfWork) -> None:
    """Write down changes of the world that the policy noticed, and that are not written yet."""
    state = unit.state
    while news := state.agent.changes_since(state.noticed):
        arm, change = news[0]
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
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        place = None if arm is None else state.places[arm]
        unit.write(Kind.CHANGE_NOTICED, arm=place, body=text)
