"""Shipping: all traffic to one arm by one event, and back by another.

A study may ship by itself when its stopping rule has decided (`then="ship"`). It looks when the
rewards told reach a count that is next: every reward at first, and then each time they have grown
by one in fifty. So what it costs to look does not grow with the traffic, and when it looks depends
on the log alone. Whoever undoes it has decided: the study does not ship by itself again.
"""

from __future__ import annotations

import math

from belman.errors import SettingError
from belman.measures.stop_rules import StopRule

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
