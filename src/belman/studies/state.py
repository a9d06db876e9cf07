"""The state of a study: what is left of its log when it is folded, event by event."""

from __future__ import annotations

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from belman import chance
from belman.agent import Agent, checks, state_file
from belman.agent.contextual.mind import Asking
from belman.agent.learnt import Learnt
from belman.engine import LATER, entry
from belman.errors import RewardError, SettingError, StateError
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.bulk import batches as bulk
from belman.studies.bulk.open_rows import OpenRows
from belman.studies.contexts.context import CONTEXT, Contexts, Open
from belman.studies.contexts.segments import SegmentContexts
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules.attributes import given_in
from belman.studies.rules.guards import Guards
from belman.studies.rules.metrics import SumsByArm, check_name, told_in
from belman.studies.rules.written import given_back
from belman.studies.settings import StudySettings
from belman.studies.snapshot_checks import check_snapshot
from belman.studies.tickets.corrections import change, corrected, learnt_by_context, recount_metrics
from belman.studies.tickets.early import EarlyLearning
from belman.studies.tickets.open_tickets import Counted, OpenTickets
from belman.studies.traffic.counts import Traffic
from belman.studies.traffic.course import Course
from belman.studies.traffic.deciding import Deciding, Decision
from belman.studies.traffic.publishing import Publishing

FORMAT = 3
_TELLING = (Kind.TOLD, Kind.CORRECTED)
_WITH_ATTRIBUTES = (Kind.ASKED, Kind.RECORDED)
_SETTLING = (Kind.TOLD, Kind.RECORDED, Kind.RETURNED)
_OVERTAKING = (
    Kind.ARM_ADDED, Kind.ARM_RETIRED, Kind.POLICY_CHANGED, Kind.SHIPPED, Kind.UNSHIPPED,
)  # fmt: skip


class State:
    """The agent, the register of all arms there ever were, and the tickets that are out.

    The same events give the same state to the last bit, whoever folds them: an ask holds the arm
    that was chosen, so that nothing is decided anew, and every decision draws from a generator of
    its own, forked from the seed by its number.
    """

    def __init__(self, settings: StudySettings) -> None:
        self.settings = settings
        self.agent: Agent = settings.agent()
        self.contexts: Contexts | None = settings.begin_contexts()
        self.register: list[Hashable] = list(settings.arms)
        self.places = {arm: place for place, arm in enumerate(self.register)}
        self.retired: dict[int, Learnt] = {}
        self.tickets = OpenTickets(settings)
        self.early: EarlyLearning | None = None
        if settings.early and settings.window is not None:
            self.early = EarlyLearning(settings.window, len(self.register))
        self.asks = [0] * len(self.register)
        self.traffic = Traffic(len(self.register))
        self.course = Course()
        self.publishing = Publishing(len(self.register))
        self.rows = OpenRows(settings)
        self.metrics = SumsByArm()
        self.metric_names: set[str] = set()  # that were ever told
        self.attribute_names: set[str] = set()  # that tickets ever had
        self.guards = Guards(settings.guard)
        self.noticed = 0  # changes of the world that are written down
        self.shipped: int | None = None  # the arm that gets all traffic
        self.ships_itself = settings.then == "ship"
        self.paused = False
        self.number = 0
        self.expired = 0
        self.told = 0
        self.reward = 0.0
        self.deciding = Deciding(settings)

    # Deciding

    def choose(self, words: chance.Words, number: int, asking: Asking | None = None) -> int:
        """The place of the arm (or candidate) that the policy chooses, with its `number`-th fork of
        `words`.
        """
        entry(chance.fork)(LATER, words=words, run=number, role=0, out=self.agent.mind)
        if self.contexts is None or asking is None:
            return self.places[self.agent.ask()]
        among = [self.places[arm] for arm in self.agent.arms]
        return self.contexts.choose(asking, 1, among, self.agent.mind)[0][0]

    def rank(self, asking: Asking) -> list[int]:
        """The places of the arms that are played, or of candidates, the largest index first."""
        assert self.contexts is not None
        return self.contexts.rank(asking, [self.places[arm] for arm in self.agent.arms])

    def check_asking(self, context: Any, candidates: Any) -> Asking | None:
        """A context and candidates as the log keeps them, in a study that has contexts."""
        if self.contexts is not None:
            return self.contexts.check(context, candidates)
        if context is not None or candidates is not None:
            what = "context" if candidates is None else "candidates"
            how = "open_study(…, context=[…]), features=… or segments=… make one"
            raise SettingError(f"{what} were given to a study that decides without: {how}")
        return None

    def decide(self, count: int, asking: Asking | None = None) -> Iterable[Decision]:
        """How the next `count` asks are decided, outstanding from now on."""
        return self.deciding.decide(self, count, asking)

    # Folding

    def fold(self, event: Event, decided: bool = False) -> None:
        """Let an event happen; `decided` where the agent has counted the ask already."""
        if self.early is not None:
            self.early.take(event, self.tickets)
        kind = event.kind
        bulk.close(self, event.time)
        if kind == Kind.RETURNED:
            self._give_back(event)
        for counted in self.tickets.take(event):
            self._count(counted, event)
        self.agent.time = event.time
        if kind == Kind.ASKED:
            assert event.arm is not None
            self.asks[event.arm] += 1
            self.course.ask(event.arm, event.time)
            if self.contexts is not None:
                self.contexts.ask(event)
            if chances := self.deciding.chances(self, event.draw or 0):
                self.traffic.drawn(event.arm, chances)
            if not decided:
                self.agent.expect(self.register[event.arm])
        elif kind == Kind.CORRECTED:
            self._correct(event)
        elif kind == Kind.PUBLISHED:
            body = json.loads(event.body or "{}")
            self.publishing.publish(body)
            if self.contexts is not None:
                self.contexts.meet(self.contexts.check(body[CONTEXT]))
        elif kind == Kind.OBSERVED:
            bulk.observe(self, event)
        elif kind == Kind.ROWS_CORRECTED:
            bulk.correct(self, event)
        elif kind not in _SETTLING:
            self._change(event)
            self.course.change(event)
        if event.body is not None and kind in _TELLING:
            self.metric_names.update(told_in(event))
        elif event.body is not None and kind in _WITH_ATTRIBUTES:
            self.attribute_names.update(given_in(event))
        self.number = event.number

    def fold_asks(self, events: Sequence[Event]) -> None:
        """Let asks of one moment, with one body but for what was chosen, happen that the agent has
        counted already: as folding one by one does, and faster.
        """
        single = 1 if self.early is None and self.contexts is None else len(events)
        for event in events[:single]:
            self.fold(event, decided=True)
        if not (alike := events[single:]):
            return
        self.tickets.open_all(alike)
        for (arm, draw), count in Counter(map(attrgetter("arm", "draw"), alike)).items():
            assert arm is not None
            self.asks[arm] += count
            self.course.ask(arm, alike[0].time, count)
            if chances := self.deciding.chances(self, draw or 0):
                self.traffic.drawn(arm, chances, count)
        self.number = events[-1].number

    def is_due(self, now: float) -> bool:
        """Whether windows have closed by now that did not count yet."""
        return bool(self.tickets.due(now)) or self.rows.is_due(now)

    def close(self, now: float) -> None:
        """Count every ticket whose window has closed by now; an event of this time has to follow,
        unless this is a copy: another process may be about to write one of an earlier time.
        """
        if self.early is not None:
            self.early.close(now, self.tickets)
        bulk.close(self, now)
        for counted in self.tickets.close(now):
            self._count(counted)

    def count_early(self, now: float, looking: bool = False) -> None:
        """Let open tickets count what is known of them now, where the study learns early; an ask of
        this time has to follow, unless this is `looking`.
        """
        if self.early is None:
            return
        played = [self.places[arm] for arm in self.agent.arms]
        beliefs = np.ones((len(self.register), 2))
        beliefs[played] = self.agent.settled
        count = self.early.look if looking else self.early.counts
        self.agent.count_provisionally(count(max(now, self.tickets.time), beliefs)[played])

    def copied(self) -> State:
        """The same, to go its own way."""
        other = copy.copy(self)
        other.agent = copy.deepcopy(self.agent)
        other.tickets, other.metrics = self.tickets.copied(), self.metrics.copied()
        other.early = None if self.early is None else self.early.copied()
        other.register, other.places = self.register.copy(), self.places.copy()
        other.retired, other.asks = self.retired.copy(), self.asks.copy()
        other.metric_names, other.traffic = self.metric_names.copy(), self.traffic.copied()
        other.course, other.publishing = self.course.copied(), self.publishing.copied()
        other.rows = self.rows.copied()
        other.attribute_names, other.guards = self.attribute_names.copy(), self.guards.copied()
        other.contexts = None if self.contexts is None else self.contexts.copied()
        other.deciding = Deciding(self.settings)
        return other

    def _count(self, counted: Counted, event: Event | None = None) -> None:
        """One ticket, or row of past data (an event), counts now.

        A reward was within the reach of the belief when it was told. If it is not any more (silence
        that counts as much, over and over), it is forgotten: time cannot be refused.
        """
        self.expired += counted.silent
        self.agent.time = counted.time
        if counted.ticket is None:
            self._await(counted.arm, 1)
        try:
            if counted.reward is not None:
                if self.contexts is not None:
                    asked = self.contexts.asked(counted.ticket, event)
                    self.contexts.check_reward(*asked, counted.reward)
                self._learn(counted.arm, counted.reward)
        except RewardError:
            counted = counted._replace(reward=None)
        if self.contexts is not None and counted.ticket is not None:
            self.contexts.settle(counted.ticket, counted.reward)
        elif self.contexts is not None and counted.reward is not None and event is not None:
            self.contexts.record(event)
        if counted.reward is None:
            self._await(counted.arm, -1)
            self.traffic.forgotten[counted.arm] += counted.ticket is not None
            return
        if counted.ticket is None:
            self.traffic.recorded(counted.arm, counted.reward, self.learnt)
        else:
            self.traffic.counted(counted.arm, self.learnt)
            self.course.earn(counted.time, counted.reward)
        self.metrics.count(counted.arm, counted.metrics)
        self.guards.count(counted.arm, counted.metrics)

    def _give_back(self, event: Event) -> None:
        """A ticket that is out was used for nobody, and was not asked for after all."""
        assert event.ticket is not None
        place, asked = self.tickets.asks[event.ticket]
        self.asks[place] -= 1
        self.course.ask(place, asked, -1)
        self._await(place, -1)
        if self.contexts is not None:
            self.contexts.settle(event.ticket, None)

    def _await(self, place: int, change: int) -> None:
        """One reward more (1) or less (-1) that is still to come."""
        if place in self.retired:
            learnt = self.retired[place]
            self.retired[place] = learnt._replace(pending=learnt.pending + change)
        else:
            (self.agent.expect if change > 0 else self.agent.cancel)(self.register[place])

    def _learn(self, place: int, reward: float) -> None:
        if place in self.retired:
            value = self.agent.scale.inward(reward)
            self.retired[place] = self.retired[place].told(self.agent.family, value)
        else:
            self.agent.tell(self.register[place], reward)
        self.told += 1
        self.reward += reward

    def check_reward(self, place: int, reward: float, asked: Open | None = None) -> None:
        """Raise RewardError where the belief about an arm would leave its reach, or what is known
        by context, in a study that has contexts, cannot learn it.
        """
        self.agent.family.update(self.learnt(place).belief, self.agent.scale.inward(reward))
        if self.contexts is not None and asked is not None:
            self.contexts.check_reward(*asked, reward)

    def learnt(self, place: int) -> Learnt:
        """All that was learnt of an arm, played or retired."""
        if place in self.retired:
            return self.retired[place]
        return self.agent.learnt(self.register[place])

    def _correct(self, event: Event) -> None:
        assert event.arm is not None
        before = self.learnt(event.arm)
        after = corrected(event, before)
        self.told += after.tells - before.tells
        self.reward += change(event)
        self.course.earn(event.time, change(event), after.tells - before.tells)
        self.traffic.corrected(event.arm, after.tells - before.tells)
        recount_metrics(event, self.metrics)
        recount_metrics(event, self.guards)
        self.relearn(event.arm, after)
        if self.contexts is not None and (learnt := learnt_by_context(event)) is not None:
            self.contexts.take(learnt)

    def relearn(self, place: int, learnt: Learnt) -> None:
        """All that is known of an arm is this from now on."""
        if place in self.retired:
            self.retired[place] = learnt
        else:
            self.agent.relearn(self.register[place], learnt, heard=self.agent.policy.learns)

    def learn_many(self, place: int, n: int, learnt: Learnt) -> None:
        """Believe this of an arm after so many rewards at once."""
        if place in self.retired:
            self.retired[place] = learnt
        else:
            self.agent.learn_many(self.register[place], n, learnt)

    def _change(self, event: Event) -> None:
        kind, body = event.kind, json.loads(event.body or "{}")
        if event.arm is not None and kind in (Kind.PAUSED, Kind.ARM_RETIRED, Kind.ARM_ADDED):
            self.guards.stop(event.arm, body.get("guard"))
        if kind in (Kind.ARM_ADDED, Kind.ARM_RETIRED):
            self.deciding.forget()
        if kind in _OVERTAKING:
            self.publishing.overtake()
        if kind in (Kind.PAUSED, Kind.RESUMED):
            self.paused = kind == Kind.PAUSED
            if not self.paused:
                self.guards.resume(self.retired)
        elif kind in (Kind.SHIPPED, Kind.UNSHIPPED):
            self.shipped = event.arm if kind == Kind.SHIPPED else None
            self.ships_itself = self.ships_itself and kind == Kind.SHIPPED
        elif kind == Kind.ARM_ADDED and event.arm in self.retired:
            self.agent.add_arm(self.register[event.arm], learnt=self.retired.pop(event.arm))
        elif kind == Kind.ARM_ADDED:
            arm = state_file.decode_arm(body["name"], "the log")
            self.agent.add_arm(arm, body["prior"])
            self.places[arm] = len(self.register)
            self.register.append(arm)
            self.asks.append(0)
            self.traffic.add_arm()
            self.publishing.add_arm()
        elif kind == Kind.ARM_RETIRED:
            assert event.arm is not None
            self.retired[event.arm] = self.agent.remove_arm(self.register[event.arm])
            if event.arm == self.shipped:
                self.shipped = None
        elif kind == Kind.POLICY_CHANGED:
            self.agent.policy = given_back(body["policy"], Policy)
            if isinstance(self.contexts, SegmentContexts):
                self.contexts.set_policy(self.agent.policy)
            self.noticed = 0
        elif kind == Kind.CHANGE_NOTICED:
            self.noticed = body["noticed"]
        elif kind != Kind.CREATED:
            unknown = "which this belman does not know (install a newer one)"
            raise StateError(f"the log holds an event of kind {kind}, {unknown}")

    # Looking

    @property
    def policy(self) -> Policy | DependentPolicy:
        """Who chooses."""
        return self.agent.policy if self.contexts is None else self.contexts.policy

    def status(self) -> dict[str, Any]:
        """Counts of all kinds, and the rule of a window where there is one."""
        rule, tickets = self.settings, self.tickets
        counts: dict[str, Any] = {
            "family": rule.family.name,
            "policy": repr(self.policy),
            "arms": len(self.agent.arms),
            "retired": len(self.retired),
            "paused": self.paused,
            "events": self.number,
            "asked": sum(self.asks),
            "told": self.told,
            "outstanding": len(tickets.asks),
            "expired": self.expired,
            "reward": self.reward,
        }
        if self.contexts is not None:
            counts |= self.contexts.status()
        if self.shipped is not None:
            counts["shipped"] = self.register[self.shipped]
        if self.noticed:
            counts["changes_noticed"] = self.noticed
        if rule.clip:
            counts["clipped"] = self.agent.clipped
        if any(self.publishing.observed):
            counts["observed"] = sum(self.publishing.observed)
        if self.rows:
            counts["waiting"] = len(self.rows)
        if rule.window is None:
            return counts
        counts |= {"window": rule.window, "silence": rule.silence, "accumulate": rule.accumulate}
        counts |= {"silent": len(tickets.asks) - len(tickets.answers), "early": rule.early}
        return counts if self.waits is None else {**counts, "early": False, "waits": self.waits}

    @property
    def waits(self) -> str | None:
        """Why open tickets wait for their window in a study that learns early, if they do."""
        return None if self.early is None else self.early.alarm

    # Snapshots

    def to_text(self) -> str:
        """The whole state as text: equal texts are equal states, to the last bit."""
        # leaves what was learnt, and nothing of how it was worked with
        self.agent.lay_out()
        self.agent.mind[:] = 0
        content = {
            "format": FORMAT,
            "number": self.number,
            "settings": json.loads(self.settings.to_json()),
            "agent": json.loads(self.agent.to_json()),
            **self._plain(),
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return f"{_digest(text)}\n{text}"

    def _plain(self) -> dict[str, Any]:
        """What a snapshot holds beside settings and agent."""
        content = {
            "register": [state_file.encode_arm(arm) for arm in self.register],
            "retired": [[place, *learnt] for place, learnt in sorted(self.retired.items())],
            **self.tickets.to_plain(),
            **({} if self.early is None else {"early": self.early.to_plain()}),
            "asks": self.asks,
            "traffic": self.traffic.to_plain(),
            "course": self.course.to_plain(),
            "paused": self.paused,
            "expired": self.expired,
            "told": self.told,
            "reward": self.reward,
        }
        if self.metric_names:
            content["metric_names"] = sorted(self.metric_names)
            content["metrics"] = self.metrics.to_plain()
        if self.attribute_names:
            content["attribute_names"] = sorted(self.attribute_names)
        if self.guards.limits:
            content["guards"] = self.guards.to_plain()
        if self.noticed:
            content["noticed"] = self.noticed
        if self.shipped is not None or self.settings.then == "ship":
            content["shipped"], content["ships_itself"] = self.shipped, self.ships_itself
        if self.publishing.current or any(self.publishing.observed):
            content["publishing"] = self.publishing.to_plain()
        if self.rows:
            content["rows"] = self.rows.to_plain()
        if self.contexts is not None:
            content["contexts"] = self.contexts.to_plain()
        return content

    @classmethod
    def from_text(cls, text: str) -> State:
        """The state of a text that `to_text` gave; raises StateError where it cannot be trusted."""
        digest, _, body = text.partition("\n")
        if digest != _digest(body):
            raise StateError("a snapshot is damaged: its checksum does not match its content")
        return state_file.trusted(lambda: cls._rebuilt(json.loads(body)), "a snapshot", "a study")

    @classmethod
    def _rebuilt(cls, content: dict[str, Any]) -> State:
        if (found := content["format"]) != FORMAT:
            raise StateError(f"a snapshot has format {found}: this belman reads {FORMAT}")
        state = cls(StudySettings.from_json(json.dumps(content["settings"])))
        state.agent = Agent.from_json(json.dumps(content["agent"]), source="a snapshot")
        state.register = [state_file.decode_arm(arm, "a snapshot") for arm in content["register"]]
        state.places = {arm: place for place, arm in enumerate(state.register)}
        for place, prior, belief, *rest in content["retired"]:
            state.retired[place] = Learnt(tuple(prior), tuple(belief), *rest)
        state.tickets.from_plain(content)
        if state.early is not None:
            state.early.from_plain(content["early"])
        state.metric_names = set(map(check_name, content.get("metric_names", ())))
        state.metrics.from_plain(content.get("metrics", []))
        state.attribute_names = set(content.get("attribute_names", ()))
        if state.guards.limits:
            state.guards.from_plain(content["guards"])
        state.noticed = checks.whole(content.get("noticed", 0), "changes noticed")
        state.shipped = content.get("shipped")
        state.ships_itself = content.get("ships_itself", False)
        state.publishing = Publishing(len(state.register))
        if "publishing" in content:
            state.publishing.from_plain(content["publishing"])
        state.rows.from_plain(content.get("rows", ()))
        if state.contexts is not None:
            state.contexts.from_plain(content["contexts"])
        state.asks = content["asks"]
        state.traffic.from_plain(content["traffic"])
        state.course.from_plain(content["course"])
        for name in ("paused", "number", "expired", "told", "reward"):
            setattr(state, name, content[name])
        check_snapshot(state)
        apart = ("format", "number", "settings", "agent")
        said = {name: value for name, value in content.items() if name not in apart}
        state_file.check_kept(said, json.dumps(state_file.plain(state._plain())))
        return state


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
