"""The state of a study: what is left of its log when it is folded, event by event.

It is a decider (who chooses, and what is believed), a book (outcomes that are open) and a tally
(what became of the traffic), with the rules that changed since the study was created.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, methodcaller
from typing import Annotated, Any

import numpy as np

from belman import chance
from belman.agent import Agent, state_file
from belman.agent.contextual.mind import Asking
from belman.agent.learnt import Learnt
from belman.delays import DelayLaw
from belman.delays.estimate import PRIOR
from belman.engine import LATER, entry
from belman.errors import BelmanError, RewardError, SettingError, StateError
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies import codec
from belman.studies.codec import DERIVED, Arm, Count, Form, Place
from belman.studies.contexts.context import Open
from belman.studies.contexts.segments import SegmentContexts
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import CANDIDATES, CHOSEN, CONTEXT, Book, Counted, Outcome
from belman.studies.outcomes.bulk import Bulk, changes_in
from belman.studies.outcomes.early import EarlyLearning
from belman.studies.rules.guards import Guards
from belman.studies.rules.settings import Settings, given_back
from belman.studies.traffic.deciding import Deciding, Decision
from belman.studies.traffic.publishing import Publishing
from belman.studies.traffic.tally import ArmTally, Tally

FORMAT = 4
_NOTHING: Mapping[str, Any] = {}
#: Kinds of events that somebody caused to change the study, and no outcome.
_CHANGING = (
    Kind.CREATED, Kind.PAUSED, Kind.RESUMED, Kind.ARM_ADDED, Kind.ARM_RETIRED, Kind.POLICY_CHANGED,
    Kind.SHIPPED, Kind.UNSHIPPED, Kind.CHANGE_NOTICED,
)  # fmt: skip
_OVERTAKING = (
    Kind.ARM_ADDED, Kind.ARM_RETIRED, Kind.POLICY_CHANGED, Kind.SHIPPED, Kind.UNSHIPPED,
)  # fmt: skip

_SETTINGS = Form(
    lambda settings: json.loads(settings.to_json()),
    lambda content, _: Settings.from_json(json.dumps(content)),
)
_AGENT = Form(
    lambda agent: json.loads(agent.to_json()),
    lambda content, _: Agent.from_json(json.dumps(content), source="a snapshot"),
    copy.deepcopy,
)
_CONTEXTS = Form(methodcaller("learnt"), lambda content, _: content, methodcaller("copied"))


@dataclass
class State:
    """The agent, the register of all arms there ever were, and the tickets that are out.

    The same events give the same state to the last bit, whoever folds them: an ask holds the arm
    that was chosen, so that nothing is decided anew, and every decision draws from a generator of
    its own, forked from the seed by its number.
    """

    settings: Annotated[Settings, _SETTINGS]
    agent: Annotated[Agent, _AGENT]
    contexts: Annotated[Any, _CONTEXTS] | None
    register: list[Arm]
    retired: dict[Place, Learnt]
    book: Book
    early: EarlyLearning | None
    tally: Tally
    guards: Guards = field(default_factory=Guards)
    publishing: Publishing = field(default_factory=Publishing)
    noticed: Count = 0  # changes of the world that are written down
    shipped: Place | None = None  # the arm that gets all traffic
    ships_itself: bool = False
    paused: bool = False
    number: Count = 0
    places: dict[Arm, int] = field(default_factory=dict, metadata=DERIVED)
    deciding: Any = field(default=None, metadata=DERIVED)

    @classmethod
    def begin(cls, settings: Settings) -> State:
        """Return the state of a study of which nothing is known but its settings."""
        arms = len(settings.arms)
        return cls(
            settings,
            settings.agent(),
            None if settings.contexts is None else settings.contexts.begin(settings),
            list(settings.arms),
            {},
            Book(),
            EarlyLearning(DelayLaw(settings.window or 0.0, arms)) if settings.early else None,
            Tally([ArmTally() for _ in range(arms)]),
            ships_itself=settings.then == "ship",
        )

    def __post_init__(self) -> None:
        self.places = {arm: place for place, arm in enumerate(self.register)}
        self.book.under(self.settings)
        self.guards.limits = dict(self.settings.guard or ())
        self.deciding = Deciding(self.settings)
        if isinstance(self.contexts, dict):  # of a snapshot
            assert self.settings.contexts is not None
            learnt, self.contexts = self.contexts, self.settings.contexts.begin(self.settings)
            self.contexts.take(learnt)
            for outcome in self.book.open.values():
                asked = self.asked(outcome)
                self.contexts.check(*asked.asking)
                if isinstance(self.contexts, SegmentContexts):
                    self.contexts.wait(*asked, 1)

    # Deciding

    def choose(self, words: chance.Words, number: int, asking: Asking | None = None) -> int:
        """The place of the arm (or candidate) that the policy chooses, with its `number`-th fork of
        `words`.
        """
        entry(chance.fork)(LATER, words=words, run=number, role=0, out=self.agent.mind)
        if self.contexts is None or asking is None:
            return self.places[self.agent.ask()]
        among = [self.places[arm] for arm in self.agent.arms]
        chosen: int = self.contexts.choose(asking, 1, among, self.agent.mind)[0][0]
        return chosen

    def rank(self, asking: Asking) -> list[int]:
        """The places of the arms that are played, or of candidates, the largest index first."""
        assert self.contexts is not None
        found: list[int] = self.contexts.rank(asking, [self.places[arm] for arm in self.agent.arms])
        return found

    def check_asking(self, context: Any, candidates: Any) -> Asking | None:
        """A context and candidates as the log keeps them, in a study that has contexts."""
        if self.contexts is not None:
            found: Asking = self.contexts.check(context, candidates)
            return found
        if context is not None or candidates is not None:
            what = "context" if candidates is None else "candidates"
            how = "open_study(…, context=[…]), features=… or segments=… make one"
            raise SettingError(f"{what} were given to a study that decides without: {how}")
        return None

    def decide(self, count: int, asking: Asking | None = None) -> Iterable[Decision]:
        """How the next `count` asks are decided, outstanding from now on."""
        return self.deciding.decide(self, count, asking)  # type: ignore[no-any-return]

    @staticmethod
    def asked(outcome: Outcome) -> Open:
        """What an outcome was decided with, and the place of its arm or candidate in that."""
        candidate = outcome.candidate
        asking = Asking(outcome.context or {}, None if candidate is None else [candidate])
        return Open(asking, outcome.arm)

    # Folding

    def fold(self, event: Event, decided: bool = False) -> None:
        """Apply an event. `decided=True` if the ask is already counted as outstanding."""
        kind, book, tally = event.kind, self.book, self.tally
        body = json.loads(event.body) if event.body is not None else _NOTHING
        if book.is_due(event.time):
            self.close(event.time)
        outcome = None if event.ticket is None else book.open.get(event.ticket)
        if self.early is not None:
            self.early.take(event, outcome)
        for counted in book.take(event, body):
            self._count(counted)
        self.agent.time = event.time
        if kind == Kind.ASKED:
            assert event.arm is not None
            tally.ask(event.arm, event.time)
            if self.contexts is not None:
                self._meet(event, body)
            if chances := self.deciding.chances(self, event.draw or 0):
                tally.drawn(event.arm, chances)
            if not decided:
                self.agent.expect(self.register[event.arm])
        elif kind == Kind.RETURNED:
            assert outcome is not None
            tally.ask(outcome.arm, outcome.time, -1)
            self._forget(outcome)
        elif kind == Kind.CORRECTED:
            self._correct(event, body)
        elif kind == Kind.PUBLISHED:
            self.publishing.publish(body)
            if self.contexts is not None:
                self.contexts.meet(self.contexts.check(body[CONTEXT]))
        elif kind == Kind.OBSERVED:
            self._observe(event, body)
        elif kind == Kind.ROWS_CORRECTED:
            for place, n, total, after in changes_in(body):
                self._relearn(place, after.after(self.learnt(place)))
                tally.correct(place, event.time, n, total, in_bulk=True)
        elif kind in _CHANGING:
            self._change(event, body)
            tally.course.change(event, body)
        elif kind not in (Kind.TOLD, Kind.RECORDED):
            unknown = "which this belman does not know (install a newer one)"
            raise StateError(f"the log holds an event of kind {kind}, {unknown}")
        if body and kind in (Kind.TOLD, Kind.CORRECTED):
            tally.metrics.names.update(body.get("metrics", ()))
        elif body and kind in (Kind.ASKED, Kind.RECORDED):
            tally.attribute_names.update(body.get("attributes", ()))
        self.number = event.number

    def fold_asks(self, events: Sequence[Event]) -> None:
        """Apply asks of one moment, with one body but for what was chosen, that are already counted
        as outstanding: as folding one by one does, and faster.
        """
        single = 1 if self.early is None and self.contexts is None else len(events)
        for event in events[:single]:
            self.fold(event, decided=True)
        if not (rest := events[single:]):
            return
        self.book.ask_all(rest, json.loads(rest[0].body) if rest[0].body else _NOTHING)
        for (arm, draw), count in Counter(map(attrgetter("arm", "draw"), rest)).items():
            assert arm is not None
            self.tally.ask(arm, rest[0].time, count)
            if chances := self.deciding.chances(self, draw or 0):
                self.tally.drawn(arm, chances, count)
        self.number = events[-1].number

    def close(self, now: float) -> None:
        """Count every outcome whose window has closed by now; an event of this time has to follow,
        unless this is a copy: another process may be about to write one of an earlier time.
        """
        for counted in self.book.close(now):
            if self.early is not None:
                self.early.close(counted)
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
        self.agent.count_provisionally(count(max(now, self.book.time), beliefs)[played])

    def copied(self) -> State:
        """Return an equal state that goes its own way."""
        other = codec.copied(self)
        other.deciding = Deciding(self.settings)
        return other

    def _meet(self, event: Event, body: Mapping[str, Any]) -> None:
        """An ask with its context and candidates is outstanding."""
        assert self.contexts is not None
        asking = self.contexts.check(body[CONTEXT], body.get(CANDIDATES))
        self.contexts.expect(asking, event.arm if asking.candidates is None else body[CHOSEN])

    def _count(self, counted: Counted) -> None:
        """An outcome counts now: of a ticket, of a row, or of past data.

        A reward was within the reach of the belief when it was told. If it is not any more (silence
        that counts as much, over and over), it is forgotten: time cannot be refused.
        """
        outcome, is_ticket = counted.outcome, type(counted.key) is int
        self.tally.expired += counted.silent
        self.agent.time = counted.time
        if not is_ticket:
            self._await(outcome.arm, 1)
        try:
            if outcome.reward is None:
                raise RewardError("nothing was told")
            if self.contexts is not None and outcome.context is not None:
                self.contexts.check_reward(*self.asked(outcome), outcome.reward)
            self._learn(outcome.arm, outcome.reward)
        except RewardError:
            self._forget(outcome, is_ticket)
            self.tally.arms[outcome.arm].forgotten += is_ticket
            return
        if self.contexts is not None and is_ticket:
            self.contexts.settle(*self.asked(outcome), outcome.reward)
        elif self.contexts is not None and outcome.context is not None:
            asked = self.asked(outcome)
            self.contexts.meet(asked.asking)
            self.contexts.learn(*asked, outcome.reward)
        self.tally.count(counted, lambda: self.learnt(outcome.arm))
        self.guards.count(outcome.arm, outcome.metrics or {})

    def _forget(self, outcome: Outcome, is_ticket: bool = True) -> None:
        """An outcome that was awaited does not count."""
        self._await(outcome.arm, -1)
        if self.contexts is not None and is_ticket:
            self.contexts.settle(*self.asked(outcome), None)

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

    def check_reward(self, outcome: Outcome, reward: float) -> None:
        """Raise RewardError where the belief about an arm would leave its reach, or what is known
        by context, in a study that has contexts, cannot learn it.
        """
        learnt = self.learnt(outcome.arm)
        self.agent.family.update(learnt.belief, self.agent.scale.inward(reward))
        if self.contexts is not None:
            self.contexts.check_reward(*self.asked(outcome), reward)

    def learnt(self, place: int) -> Learnt:
        """All that was learnt of an arm, played or retired."""
        if place in self.retired:
            return self.retired[place]
        return self.agent.learnt(self.register[place])

    def _relearn(self, place: int, learnt: Learnt) -> None:
        """All that is known of an arm is this from now on."""
        if place in self.retired:
            self.retired[place] = learnt
        else:
            self.agent.relearn(self.register[place], learnt, heard=self.agent.policy.learns)

    def _correct(self, event: Event, body: Mapping[str, Any]) -> None:
        """A ticket that counted counts otherwise."""
        assert event.arm is not None
        place, before, row = event.arm, self.learnt(event.arm), body["learnt"]
        after = before._replace(**{**row, "belief": tuple(row["belief"])})
        was, now = body["before"], event.reward
        n = after.tells - before.tells
        self.tally.correct(place, event.time, n, (now or 0.0) - (was or 0.0), in_bulk=False)
        old = {} if was is None else body.get("metrics_before", {})
        new = {**body.get("metrics_before", {}), **body.get("metrics", {})}
        for sums in (self.tally.metrics, self.guards):
            sums.count(place, old, -1)
            sums.count(place, {} if now is None else dict(sorted(new.items())))
        self._relearn(place, after)
        if self.contexts is not None and body.get("contexts") is not None:
            self.contexts.take(body["contexts"])

    def _observe(self, event: Event, body: Mapping[str, Any]) -> None:
        """Outcomes in bulk were observed, those that count at once."""
        found = Bulk.of(body)
        for place, n, total, after in found.arms:
            learnt = after.after(self.learnt(place))
            if place in self.retired:
                self.retired[place] = learnt
            else:
                self.agent.learn_many(self.register[place], n, learnt)
            self.tally.observe(place, event.time, n, total, lambda: learnt)  # noqa: B023
        for place, n in found.assigned:
            self.tally.arms[place].assigned += n
        for place, share in found.meant:
            self.tally.arms[place].meant += share
        self.tally.log_odds = found.log_odds
        self.tally.attribute_names.update(part.name for part in found.by)
        for row in found.open:
            self.tally.attribute_names.update(row[5] or ())
        if isinstance(self.contexts, SegmentContexts):
            self.contexts.observe(found.contexts)

    def _change(self, event: Event, body: Mapping[str, Any]) -> None:
        kind = event.kind
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
            self.tally.arms.append(ArmTally())
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

    # Looking

    @property
    def policy(self) -> Policy | DependentPolicy:
        """Who chooses."""
        if self.contexts is None:
            return self.agent.policy
        found: Policy | DependentPolicy = self.contexts.policy
        return found

    def status(self) -> dict[str, Any]:
        """Counts of all kinds, and the rule of a window where there is one."""
        rule, book, tally = self.settings, self.book, self.tally
        counts: dict[str, Any] = {
            "family": rule.family.name,
            "policy": repr(self.policy),
            "arms": len(self.agent.arms),
            "retired": len(self.retired),
            "paused": self.paused,
            "events": self.number,
            "asked": sum(arm.asks for arm in tally.arms),
            "told": tally.told,
            "outstanding": book.tickets,
            "expired": tally.expired,
            "reward": tally.reward,
        }
        if self.contexts is not None:
            counts |= self.contexts.status()
        if self.shipped is not None:
            counts["shipped"] = self.register[self.shipped]
        if self.noticed:
            counts["changes_noticed"] = self.noticed
        if rule.clip:
            counts["clipped"] = self.agent.clipped
        if observed := sum(arm.observed for arm in tally.arms):
            counts["observed"] = observed
        if book.rows:
            counts["waiting"] = book.rows
        if rule.window is None:
            return counts
        counts |= {"window": rule.window, "silence": rule.silence, "accumulate": rule.accumulate}
        counts |= {"silent": book.tickets - book.told, "early": rule.early}
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
        text = json.dumps(self._plain(), ensure_ascii=False, separators=(",", ":"))
        return f"{_digest(text)}\n{text}"

    def _plain(self) -> dict[str, Any]:
        return {"format": FORMAT, "number": self.number, **codec.write(self)}

    @classmethod
    def from_text(cls, text: str) -> State:
        """The state of a text that `to_text` gave; raises StateError where it cannot be trusted."""
        digest, _, body = text.partition("\n")
        if digest != _digest(body):
            raise StateError("a snapshot is damaged: its checksum does not match its content")
        return state_file.trusted(lambda: cls._rebuilt(json.loads(body)), "a snapshot", "a study")

    @classmethod
    def _rebuilt(cls, content: dict[str, Any]) -> State:
        if (found := content.pop("format")) != FORMAT:
            raise StateError(f"a snapshot has format {found}: this belman reads {FORMAT}")
        last = len(content["register"]) - 1
        state = codec.read(cls, content, {"last arm": last, "number": content["number"]})
        state.check()
        again = {name: part for name, part in state._plain().items() if name != "format"}
        apart = ("settings", "agent")
        said = {name: part for name, part in content.items() if name not in apart}
        for name in apart:
            again.pop(name)
        state_file.check_kept(said, json.dumps(state_file.plain(again)))
        return state

    def check(self) -> None:
        """Raise StateError where parts of a state contradict one another."""
        playing = [arm for place, arm in enumerate(self.register) if place not in self.retired]
        if len(self.places) != len(self.register) or set(playing) != set(self.agent.arms):
            raise StateError("a snapshot plays other arms than its register says")
        if len(self.tally.arms) != len(self.register):
            raise StateError("a snapshot does not say what became of its traffic")
        family = self.agent.family
        for place, learnt in self.retired.items():
            try:
                family.check_prior(learnt.prior)
                family.check_belief(learnt.belief)
            except BelmanError as error:
                raise StateError(f"retired arm {self.register[place]!r}: {error}") from None
        for cut in (cut for arm in self.tally.arms for cut in arm.cuts.values()):
            if len(cut.belief) != family.dimension:
                raise StateError("a snapshot keeps of an arm's past what is not a belief")
        if self.shipped in self.retired:
            raise StateError("a snapshot has shipped an arm that it does not play")
        tickets = {key: one for key, one in self.book.open.items() if type(key) is int}
        times = [one.time for one in tickets.values()]
        if list(tickets) != sorted(tickets) or times != sorted(times):
            raise StateError("the tickets of a snapshot are not in the order of their asks")
        pending = {self.places[arm]: count for arm, count in self.agent.outstanding.items()}
        pending |= {place: one.pending for place, one in self.retired.items() if one.pending}
        if pending != Counter(one.arm for one in tickets.values()):
            raise StateError("a snapshot waits for other rewards than those of its tickets")
        if not self.tally.metrics.names >= {name for _, name in self.tally.metrics.sums}:
            raise StateError("a snapshot sums up metrics that it does not name")
        if (self.early is not None) != self.settings.early:
            raise StateError("a snapshot learns early, or does not, unlike its study")
        if self.early is not None:
            self._check_early(self.early, tickets)

    def _check_early(self, early: EarlyLearning, tickets: Mapping[int, Outcome]) -> None:
        """Refuse a distribution of delays that does not count the open tickets."""
        law, told = early.law, early.told
        is_own = law.window == self.settings.window and law.prior == PRIOR
        if not is_own or law.arms != len(self.register) or not isinstance(law.alarm, str | None):
            raise StateError("the distribution of delays of a snapshot is that of another study")
        asks = [(one.arm, one.time, told.get(number)) for number, one in tickets.items()]
        if not told.keys() <= tickets.keys() or not law.is_of(asks):
            raise StateError("the distribution of delays of a snapshot does not count its tickets")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
