"""Publishing weights, by which units are assigned elsewhere: making the version that is due."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from belman.assignment import GrowthBook, Weights
from belman.assignment.assigners import points_of
from belman.assignment.contexts import Contexts
from belman.assignment.documents import is_arm
from belman.assignment.leaves import Leaves
from belman.deciders import Asking, FeaturedDecider, SegmentedDecider
from belman.deciders.segmented.segmented import label
from belman.deciders.validate import unknown_arm
from belman.errors import SettingError, StudyError, listing, shown
from belman.studies.log.event_log import Kind
from belman.studies.outcomes.book import CONTEXT
from belman.studies.state import State
from belman.studies.traffic.publishing import (
    DECLARED,
    MOST_SEGMENTS,
    Plan,
    check_segment,
    version_in,
)
from belman.studies.unit_of_work import UnitOfWork


def segment_in(state: State, segment: object) -> tuple[str | None, Asking]:
    """The name of a segment, and the context that it is in a study which learns by segment."""
    decider = state.decider
    if isinstance(decider, SegmentedDecider):
        if not isinstance(segment, Mapping):
            known = decider.labelled(segment)
            if known is None:
                names, give = listing(decider.names), "give its context, such as {'country': 'fr'}"
                raise SettingError(f"segment={shown(segment)} is not a segment by {names}: {give}")
            return check_segment(segment), known
        asking = decider.check(segment)
        return check_segment(label(asking.context or {})), asking
    return check_segment(segment), Asking()


class Made(NamedTuple):
    """The weight of every arm in play, the floors that it keeps, and how contexts are decided in,
    where these are what decides.
    """

    weights: dict[Any, float]
    floors: dict[Any, float]
    contexts: Contexts | Leaves | None = None


def weights_now(state: State, plan: Plan, asking: Asking) -> Made:
    """The weights of now; in a segment, where these are learnt apart."""
    arms, shares = state.arms, state.settings.shares
    if state.spending is not None:
        remedy = "a budget needs to know what every decision costs: ask for tickets"
        raise StudyError(f"a study with a budget publishes no weights: {remedy}")
    if state.shipped is not None:
        return Made({arm: float(state.positions[arm] == state.shipped) for arm in arms}, {})
    own = shares.of(arms)
    if not own and shares.uniform > 0.0:
        own = dict.fromkeys(arms, shares.uniform / len(arms))
    decider = state.ready()
    if not isinstance(decider, FeaturedDecider):
        return Made(decider.weights(asking, plan.decisions, shares), own)
    floors, points = [own.get(arm, 0.0) for arm in arms], points_of(plan.assigner)
    contexts: Contexts | Leaves
    if plan.assigner is None:
        contexts = decider.at_edge(shares)
    elif isinstance(plan.assigner, GrowthBook):
        contexts = decider.in_leaves(shares, floors, points)
    else:
        words = "it decides along features, and only belman's own clients and GrowthBook's can"
        raise StudyError(f"this study cannot be published for {plan.by}: {words}")
    counts = contexts.counts({}, floors)
    weights = {arm: count / points for arm, count in zip(arms, counts, strict=True)}
    return Made(weights, own, contexts)


def caution(state: State, weights: Weights, asking: Asking) -> str:
    """A sentence where weights are far surer than what is known by now; elsewhere nothing."""
    if state.shipped is not None or isinstance(state.decider, FeaturedDecider):
        return ""
    given = dict(zip(weights.arms, weights.weights, strict=True))
    if weights.decisions is None or not given.keys() <= set(state.arms):
        return ""
    return state.ready().caution(asking, given, weights.decisions)


def next_version(
    unit: UnitOfWork, segment: str | None, plan: Plan, asking: Asking
) -> dict[str, Any]:
    """What the event of the next version keeps; the time of the study has come to now."""
    state, number = unit.state, unit.state.number + 1
    if bad := [arm for arm in state.arms if arm is None or not is_arm(arm)]:
        words = "weights are published for arms that are text or numbers, whole ones below 2**53"
        raise StudyError(f"arm {bad[0]!r} cannot be published: {words}")
    before = state.publishing.current.get(segment)
    if before is None and len(state.publishing.current) >= MOST_SEGMENTS:
        raise SettingError(f"segment={segment!r}: a study has at most {MOST_SEGMENTS} segments")
    made = weights_now(state, plan, asking)
    until = None if plan.valid_for is None else unit.now + plan.valid_for
    rest: Any = {"decisions": plan.decisions, "published": unit.now, "valid_until": until}
    rest |= {"floors": made.floors}
    is_same = before is not None and before[0].by == plan.by
    if before is None or not is_same or made.contexts is not None:  # there arms lie in their order
        salt = secrets.token_hex(8) if before is None else before[0].salt
        rest |= {"segment": segment, "contexts": made.contexts, "assigner": plan.assigner}
        new = Weights.of(unit.name, made.weights, salt=salt, **rest)
    else:
        new = before[0].following(made.weights, **rest)
    result = {"weights": {**new.described(), "version": number}, "plan": list(plan)}
    return result if asking.context is None else {**result, CONTEXT: asking.context}


def publish(
    unit: UnitOfWork, of: object, plan: Plan, reason: str = "", key: str | None = None
) -> Weights:
    """The version that this request made before, or that its interval has already, or a new one;
    of a segment by its name, or by its context.
    """
    segment, asking = segment_in(unit.state, of)
    asked = (reason, segment, *plan)
    before = unit.made_before(key, Kind.PUBLISHED, asked)
    if before is not None:
        return version_in(before, before.number)
    if not is_asked_again(unit.state, segment, plan, unit.now):
        unit.check_playing()
        unit.close_and_play()  # the event that follows has this time
        unit.state.count_early(unit.now, peek=True)
        body = {"reason": reason, **next_version(unit, segment, plan, asking)}
        unit.change(Kind.PUBLISHED, key, asked, body)
    return unit.state.publishing.current[segment][0]


def declare(unit: UnitOfWork, weights: Weights, reason: str, key: str | None) -> Weights:
    """Write weights down by which others assign: the same with the number of the event as their
    version, by which outcomes name them. They stand for nobody, and are never renewed.
    """
    asked = (reason, weights.to_json())
    before = unit.made_before(key, Kind.PUBLISHED, asked)
    if before is not None:
        return version_in(before, before.number)
    known = unit.state.positions
    if strange := [arm for arm in weights.arms if arm not in known]:
        raise unknown_arm(strange[0], known, "this study knows")
    if weights.contexts is not None:
        raise SettingError("weights that decide by contexts cannot be declared")
    segment, asking = segment_in(unit.state, weights.segment)
    unit.close()  # the event that follows has this time
    own = {"study": unit.name, "version": unit.state.number + 1, "segment": segment}
    document = {**weights.described(), **own}
    context = {} if asking.context is None else {CONTEXT: asking.context}
    body = {"reason": reason, "weights": document, DECLARED: True, **context}
    unit.change(Kind.PUBLISHED, key, asked, body)
    return Weights.from_described(document)


def renewed(unit: UnitOfWork, segment: str | None) -> Weights:
    """The version that stands, or the next if that is due and nobody has made it yet."""
    weights, plan = unit.state.publishing.standing(unit.name, segment)
    if unit.state.paused or not unit.state.publishing.is_due(segment, unit.now, unit.state.number):
        return weights
    return publish(unit, segment, plan)


def is_asked_again(state: State, segment: str | None, plan: Plan, now: float) -> bool:
    """Whether the version that stands is what a plan with an interval asks for."""
    standing = state.publishing.current.get(segment)
    same = standing is not None and plan.every is not None and standing[1] == plan
    return same and not state.publishing.is_due(segment, now, state.number)
