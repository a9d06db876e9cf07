"""Shipping: all traffic to one arm by one event, and back by another.

A study may ship by itself when its stopping rule has decided (`then="ship"`). It looks when the
rewards told reach a count that is next: every reward at first, and then each time they have grown
by one in fifty. So what it costs to look does not grow with the traffic, and when it looks depends
on the log alone. Whoever undoes it has decided: the study does not ship by itself again.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from belman.agent import reporting
from belman.errors import ArmError, SettingError, StudyError, listing, nearest
from belman.measures.report import Report, report
from belman.measures.stop_rules import StopRule, Verdict

if TYPE_CHECKING:
    from belman.studies.state import State

THEN = ("say", "ship")
_GROWTH = math.log(1.02)
_EVERY = 50


def check_then(then: object, rule: StopRule | None) -> str:
    """What happens when the stopping rule has decided."""
    if then is None:
        return "say"
    if then not in THEN:
        raise SettingError(f"then={str(then)[:80]!r} is neither 'say' nor 'ship'")
    if then == "ship" and rule is None:
        remedy = "give stop_when=belman.Sure(0.95), or another rule, too"
        raise SettingError(f"then='ship' follows a stopping rule: {remedy}")
    return str(then)


def looks(told: int) -> int:
    """How often a study has looked that was told so many rewards.

    >>> looks(1), looks(50), looks(51), looks(100), looks(101)
    (1, 50, 51, 86, 86)
    """
    return told if told <= _EVERY else _EVERY + math.ceil(math.log(told / _EVERY) / _GROWTH)


def standing(state: State) -> Report:
    """What is known now, without intervals."""
    return report(reporting.known(state.agent), None, 0.95, state.settings.stop_when, most=0)


def decided(state: State) -> Verdict | None:
    """What the rule says, where it lets the study ship now."""
    if not state.ships_itself or state.shipped is not None or len(state.agent.arms) < 2:
        return None
    verdict = standing(state).verdict
    return verdict if verdict.decided else None


def shipped(state: State, arm: Hashable | None, study: str) -> dict[str, Any]:
    """What the event of shipping an arm keeps; None is the most likely best."""
    if state.settings.has_candidates:
        raise StudyError(f"study {study!r} plays candidates: none of them stays to be shipped")
    if state.shipped is not None:
        now = state.register[state.shipped]
        raise StudyError(f"study {study!r} has shipped {now!r} already: unship it first")
    chosen = standing(state).leader.arm if arm is None else arm
    if not isinstance(chosen, Hashable) or chosen not in state.agent.arms:
        arms = state.agent.arms
        plays = f"this study plays {listing(arms)}{nearest(chosen, arms)}"
        raise ArmError(f"unknown arm {chosen!r}: {plays}")
    return {"arm": state.places[chosen]}


def unshipped(state: State, study: str) -> dict[str, Any]:
    """What the event of undoing it keeps."""
    if state.shipped is None:
        raise StudyError(f"study {study!r} has shipped no arm")
    return {"arm": state.shipped}
