"""Segments of a study: how the leader does among phones, from the whole log."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable

from belman.agent import reporting
from belman.errors import SettingError
from belman.measures.learnt import learnt
from belman.measures.report import Report
from belman.measures.segments import Segments, compared, segments
from belman.studies.attributes import check_known, given_in
from belman.studies.event_log import Event, Kind
from belman.studies.open_tickets import what_counted
from belman.studies.state import State

#: Segments that are shown; the smaller ones are taken together.
MOST = 30
OTHERS = "(others)"
NONE = "(none)"


def segments_of(state: State, log: Iterable[Event], now: float, by: str, found: Report) -> Segments:
    """The leader beside control, or beside the runner-up, in every segment that has both.

    What every ticket counts as by now is taken from the log, corrections included; a discount does
    not fade it.
    """
    check_known(by, state.attribute_names)
    if found.others == 0:
        raise SettingError(f"by={by!r}: there is one arm, and nothing to hold it against")
    mine, other = compared(found)
    pair = (state.places[mine], state.places[other])
    first, second = itertools.tee(event for event in log if event.number <= state.number)
    rewards, _ = what_counted(state.settings, first, now)
    sides: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    inward = state.agent.scale.inward
    for event in second:
        if event.arm in pair and event.kind in (Kind.ASKED, Kind.RECORDED):
            asked = event.kind == Kind.ASKED
            reward = rewards.get(event.number) if asked else event.reward
            if reward is not None:
                value = given_in(event).get(by, NONE)
                sides[value][pair.index(event.arm)].append(inward(reward))
    sizes = Counter({value: len(a) + len(b) for value, (a, b) in sides.items()})
    kept = {value for value, _ in sizes.most_common(MOST)}
    for value in sorted(set(sides) - kept):
        for side, more in zip(sides[OTHERS], sides.pop(value), strict=True):
            side += more
    family, priors = state.agent.family, [state.learnt(place).prior for place in pair]
    both = {value: side for value, side in sorted(sides.items()) if all(side)}
    if not both:
        raise SettingError(f"no {by} has rewards of both {mine!r} and {other!r} yet")
    beliefs = {
        value: (learnt(family, priors[0], a), learnt(family, priors[1], b))
        for value, (a, b) in both.items()
    }
    plays = {value: float(len(a) + len(b)) for value, (a, b) in both.items()}
    return segments(by, family, beliefs, plays, mine, other, reporting.units(state.agent.scale))
