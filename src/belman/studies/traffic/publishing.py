"""Published weights: which version stands in every segment, when the next is due, and what became
of the units that were assigned by them.

A version is an event in the log, and its number is that event's. So whoever observes an outcome
says by which version the unit was assigned, and the log says what its chance was.
"""

from __future__ import annotations

import copy
import json
import math
import secrets
from collections.abc import Hashable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from belman.agent import Agent, doors
from belman.agent.contextual.mind import Asking
from belman.assignment import SigningKey, Weights
from belman.assignment.signatures import derived
from belman.errors import SettingError, StudyError, listing, nearest
from belman.measures.soundness import SampleRatio
from belman.studies.contexts.context import CONTEXT
from belman.studies.contexts.segments import SegmentContexts, label
from belman.studies.log import change_keys
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules import floors
from belman.studies.rules.window_rule import check_seconds

if TYPE_CHECKING:
    from belman.studies.state import State
    from belman.studies.unit_of_work import UnitOfWork

MOST_SEGMENTS = 100
LONGEST_SEGMENT = 100
#: Seconds for which weights may be used that nobody could renew.
VALID_FOR = 86_400.0


class Plan(NamedTuple):
    """For how many decisions weights are made, how often anew, and how long they may be used."""

    decisions: int
    every: float | None
    valid_for: float | None


def check_plan(
    decisions: Any, every: float | timedelta | None, valid_for: float | timedelta | None
) -> Plan:
    """A plan that can be kept."""
    count = doors.check_count(decisions, f"decisions={decisions!r}")
    plan = Plan(count, check_seconds(every, "every"), check_seconds(valid_for, "valid_for"))
    if plan.every is not None and plan.valid_for is not None and plan.valid_for < plan.every:
        words = f"weights that are renewed every {plan.every:g} s have to be valid for as long"
        raise SettingError(f"valid_for={valid_for!r}: {words}")
    return plan


def check_segment(segment: object) -> str | None:
    """The name of a segment, or None for all units."""
    if segment is None:
        return None
    is_text = isinstance(segment, str) and segment.isprintable()
    if not is_text or not 0 < len(str(segment)) <= LONGEST_SEGMENT:
        allowed = f"a printable text of at most {LONGEST_SEGMENT} characters, or None"
        raise SettingError(f"segment={str(segment)[:80]!r} is not valid: give {allowed}")
    return str(segment)


class Publishing:
    """The version that stands in every segment, with its plan; and how many units of each arm (by
    its place in the register) were observed, by published weights or not, and were meant to be.
    """

    def __init__(self, arms: int) -> None:
        self.current: dict[str | None, tuple[Weights, Plan]] = {}
        self.overtaken: set[str | None] = set()  # since arms or the policy changed
        self.observed = [0] * arms
        self.assigned, self.meant = [0] * arms, [0.0] * arms
        self.log_odds = 0.0  # against the published weights

    def add_arm(self) -> None:
        """One arm more in the register."""
        self.observed.append(0)
        self.assigned.append(0)
        self.meant.append(0.0)

    def publish(self, body: dict[str, Any]) -> None:
        """A new version stands."""
        weights = Weights.from_described(body["weights"])
        self.current[weights.segment] = (weights, Plan(*body["plan"]))
        self.overtaken.discard(weights.segment)

    def overtake(self) -> None:
        """Arms, or the policy among them, changed: every version is due to be made anew."""
        self.overtaken = set(self.current)

    def is_due(self, segment: str | None, now: float, number: int) -> bool:
        """Whether the next version is to be made, in a log of so many events."""
        weights, plan = self.current[segment]
        if segment in self.overtaken:
            return True
        if plan.every is None or now < (weights.published or 0.0) + plan.every:
            return False
        half = 0.5 * (plan.valid_for or 0.0)
        ends = weights.valid_until is not None and now >= weights.valid_until - half
        return number > weights.version or ends

    def fresh_for(self, segment: str | None, now: float) -> float:
        """For how many seconds no new version can be due by time alone."""
        weights, plan = self.current[segment]
        if plan.every is None:
            return math.inf
        return max((weights.published or 0.0) + plan.every - now, 0.0)

    def sample_ratio(self, register: Sequence[Hashable]) -> SampleRatio:
        """The test of whether units were assigned as the weights say, as far as it has come."""
        test = SampleRatio(register)
        test.counts[:], test.expected[:] = self.assigned, self.meant
        test.log_odds = self.log_odds
        return test

    # Copies and snapshots

    def copied(self) -> Publishing:
        """The same, to go its own way."""
        other = Publishing(0)
        other.current, other.overtaken = self.current.copy(), self.overtaken.copy()
        other.observed, other.assigned = self.observed.copy(), self.assigned.copy()
        other.meant, other.log_odds = self.meant.copy(), self.log_odds
        return other

    def to_plain(self) -> dict[str, Any]:
        """For a snapshot."""
        return {
            "current": [[one.described(), list(plan)] for one, plan in self.current.values()],
            "overtaken": [segment for segment in self.current if segment in self.overtaken],
            "observed": self.observed,
            "assigned": self.assigned,
            "meant": self.meant,
            "log_odds": self.log_odds,
        }

    def from_plain(self, content: dict[str, Any]) -> None:
        """Take over what `to_plain` gave."""
        for described, plan in content["current"]:
            self.publish({"weights": described, "plan": plan})
        self.overtaken = set(content["overtaken"])
        for name in ("observed", "assigned", "meant", "log_odds"):
            setattr(self, name, content[name])


# Making a version


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
    before = change_keys.made_before(unit, key, Kind.PUBLISHED, asked)
    if before is not None:
        return version_in(before, before.number)
    if not is_asked_again(unit.state, segment, plan, unit.now):
        unit.check_playing()
        unit.dirty = True
        unit.state.close(unit.now)  # the event that follows has this time
        unit.follow()
        unit.check_still_playing()
        unit.state.count_early(unit.now, looking=True)
        body = {"reason": reason, **next_version(unit, segment, plan, asking)}
        unit.write(Kind.PUBLISHED, **change_keys.marked(key, Kind.PUBLISHED, asked, body))
    return unit.state.publishing.current[segment][0]


def renewed(unit: UnitOfWork, segment: str | None) -> Weights:
    """The version that stands, or the next if that is due and nobody has made it yet."""
    weights, plan = standing(unit.state, unit.name, segment)
    if unit.state.paused or not unit.state.publishing.is_due(segment, unit.now, unit.state.number):
        return weights
    return publish(unit, segment, plan)


def is_asked_again(state: State, segment: str | None, plan: Plan, now: float) -> bool:
    """Whether the version that stands is what a plan with an interval asks for."""
    standing = state.publishing.current.get(segment)
    same = standing is not None and plan.every is not None and standing[1] == plan
    return same and not state.publishing.is_due(segment, now, state.number)


def standing(state: State, study: str, segment: str | None) -> tuple[Weights, Plan]:
    """The version that stands in a segment; StudyError where there is none."""
    known = state.publishing.current
    if segment not in known:
        if not known:
            raise StudyError(f"study {study!r} has published no weights: publish(decisions=…) does")
        there = f"there are {listing(map(str, known))}{nearest(segment, map(str, known))}"
        raise StudyError(f"study {study!r} has published none for segment={segment!r}: {there}")
    return known[segment]


def version_in(event: Event | None, version: object) -> Weights:
    """The weights that an event published; SettingError where it is no such event."""
    if event is None or event.kind != Kind.PUBLISHED:
        raise SettingError(f"version={version!r} was never published")
    return Weights.from_described(json.loads(event.body or "{}")["weights"])


def signing_key(secret: str) -> SigningKey:
    """The key of a study, by the secret that its storage keeps."""
    return derived(secret.encode())
