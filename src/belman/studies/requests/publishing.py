"""Publishing weights, by which units are assigned elsewhere: making the version that is due."""

from __future__ import annotations

import copy
import math
import secrets
from collections.abc import Hashable, Mapping
from typing import Any

from belman.agent import Agent
from belman.agent.contextual.mind import Asking
from belman.assignment import SigningKey, Weights
from belman.assignment.signatures import derived
from belman.errors import SettingError, StudyError, listing
from belman.studies.contexts.segments import SegmentContexts, label
from belman.studies.log.event_log import Kind
from belman.studies.outcomes.book import CONTEXT
from belman.studies.rules import floors
from belman.studies.state import State
from belman.studies.traffic.publishing import MOST_SEGMENTS, Plan, check_segment, version_in
from belman.studies.unit_of_work import UnitOfWork


def segment_in(state: State, segment: object) -> tuple[str | None, Asking | None]:
    """The name of a segment, and the context that it is in a study which learns by segment."""
    contexts = state.contexts
    if isinstance(contexts, SegmentContexts):
        if not isinstance(segment, Mapping):
            names = listing(contexts.beliefs.names)
            known = contexts.named(segment)
            if known is None:
                give = "give its context, such as segment={'country': 'fr'}"
                raise SettingError(
                    f"segment={str(segment)[:80]!r} is not a segment by {names}: {give}"
                )
            return check_segment(segment), known
        asking = contexts.check(segment)
        return check_segment(label(asking.context)), asking
    if contexts is not None:
        words = "a study along features decides with every ask, and has no weights to publish"
        raise StudyError(f"{words}; one with segments=… has")
    return check_segment(segment), None


def _agent_in(state: State, asking: Asking | None) -> Agent:
    """The agent that decides for all, or for one segment."""
    if asking is None:
        return state.agent
    assert isinstance(state.contexts, SegmentContexts)
    found = copy.deepcopy(state.contexts.agent_in(asking))
    for place in state.retired:
        found.remove_arm(state.register[place])
    return found


def weights_now(
    state: State, decisions: int, asking: Asking | None = None
) -> tuple[dict[Any, float], dict[Any, float]]:
    """The weight of every arm that is played, and the floors that it keeps; in a segment, where
    these are learnt apart.
    """
    agent = _agent_in(state, asking)
    if state.shipped is not None:
        return {arm: float(state.places[arm] == state.shipped) for arm in agent.arms}, {}
    rule, arms = state.settings, agent.arms
    own = floors.shares(arms, rule.floor, rule.control, rule.control_share)
    if rule.uniform_share > 0.0:
        own = dict.fromkeys(arms, rule.uniform_share / len(arms))
    if rule.control_share is None or rule.control not in own or len(arms) < 2:
        return agent.weights(decisions, floor=own), own
    others = copy.deepcopy(agent)
    others.control = None
    others.remove_arm(rule.control)
    rest = max(1.0 - sum(own.values()), 0.0)
    shares = others.weights(decisions)
    return {arm: own.get(arm, 0.0) + rest * shares.get(arm, 0.0) for arm in arms}, own


def _has_json(arm: Hashable) -> bool:
    return isinstance(arm, (str, int)) or (isinstance(arm, float) and math.isfinite(arm))


def next_version(
    unit: UnitOfWork, segment: str | None, plan: Plan, asking: Asking | None
) -> dict[str, Any]:
    """What the event of the next version keeps; the time of the study has come to now."""
    state, number = unit.state, unit.state.number + 1
    if bad := [arm for arm in state.agent.arms if not _has_json(arm)]:
        words = "weights are published for arms that are named by text or numbers"
        raise StudyError(f"arm {bad[0]!r} cannot be published: {words}")
    before = state.publishing.current.get(segment)
    if before is None and len(state.publishing.current) >= MOST_SEGMENTS:
        raise SettingError(f"segment={segment!r}: a study has at most {MOST_SEGMENTS} segments")
    weights, own = weights_now(state, plan.decisions, asking)
    until = None if plan.valid_for is None else unit.now + plan.valid_for
    made: Any = {"decisions": plan.decisions, "published": unit.now, "valid_until": until}
    if before is None:
        salt = secrets.token_hex(8)
        new = Weights.of(unit.name, weights, salt=salt, floors=own, segment=segment, **made)
    else:
        new = before[0].following(weights, floors=own, **made)
    found = {"weights": {**new.described(), "version": number}, "plan": list(plan)}
    return found if asking is None else {**found, CONTEXT: asking.context}


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
        unit.state.count_early(unit.now, looking=True)
        body = {"reason": reason, **next_version(unit, segment, plan, asking)}
        unit.change(Kind.PUBLISHED, key, asked, body)
    return unit.state.publishing.current[segment][0]


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


def signing_key(secret: str) -> SigningKey:
    """The key of a study, by the secret that its storage keeps."""
    return derived(secret.encode())
