"""The state of a study: what is left of its log when it is folded, event by event.

It is a decider (who chooses, and what is believed), a book (outcomes that are open) and a tally
(what became of the traffic), with the rules that changed since the study was created.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, methodcaller
from typing import Annotated, Any

import numpy as np

from belman import chance, codec
from belman.codec import DERIVED, Arm, Count, Form, Place
from belman.deciders import (
    Asking,
    Choice,
    Draw,
    IndependentDecider,
    Learnt,
    decider_named,
    state_file,
)
from belman.deciders.choosing import Dice, drawn_by
from belman.deciders.independent.independent import PLAIN
from belman.deciders.shares import NO_SHARES
from belman.delays import DelayLaw
from belman.delays.counts import PRIOR
from belman.engine import LATER, entry
from belman.errors import BudgetError, RewardError, SettingError, StateError
from belman.measures.net_value import worth_most
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import CONTEXT, SHARES, TOLD, Book, Counted, Outcome, Row
from belman.studies.outcomes.bulk import Bulk
from belman.studies.outcomes.candidates import CANDIDATES, Catalogue
from belman.studies.outcomes.early import EARLY_KINDS, EarlyLearning
from belman.studies.rules.guards import Guards, check_guard
from belman.studies.rules.written import given_back
from belman.studies.settings import StudySettings
from belman.studies.traffic.evidence import NO_VERSION, Chances, bet, bet_bulk, bets_of, joined
from belman.studies.traffic.publishing import Publishing
from belman.studies.traffic.spending import PRICE, Spending, segment_of
from belman.studies.traffic.tally import ArmTally, Cut, Tally

FORMAT = 4
_NOTHING: Mapping[str, Any] = {}
#: When the ticket of a correction was asked for, and its context.
ASKED = "asked"
Plain = dict[str, Any]
#: Kinds of events that somebody caused to change the study, and no outcome.
_CHANGING = (
    Kind.CREATED, Kind.PAUSED, Kind.RESUMED, Kind.ARM_ADDED, Kind.ARM_RETIRED, Kind.POLICY_CHANGED,
    Kind.SHIPPED, Kind.UNSHIPPED, Kind.CHANGE_NOTICED, Kind.GUARD_CHANGED,
)  # fmt: skip
_OVERTAKING = (
    Kind.ARM_ADDED, Kind.ARM_RETIRED, Kind.POLICY_CHANGED, Kind.SHIPPED, Kind.UNSHIPPED,
)  # fmt: skip

_SETTINGS = Form(
    attrgetter("plain"),
    lambda content, _: StudySettings.from_plain(content),
)
_DECIDER = Form(
    lambda decider: {"kind": decider.kind, "state": decider.state()},
    lambda content, _: decider_named(content["kind"]).restore(content["state"], "a snapshot"),
    methodcaller("copy"),
)


@dataclass
class State:
    """What decides, the register of all arms there ever were, the book and the tally.

    The same events give the same state to the last bit, whoever folds them: an ask holds the arm
    that was chosen, so that nothing is decided anew, and every decision draws from a generator of
    its own, forked from the seed by its number.
    """

    settings: Annotated[StudySettings, _SETTINGS]
    decider: Annotated[Any, _DECIDER]
    register: list[Arm]
    book: Book
    early: EarlyLearning | None
    tally: Tally
    guards: Guards = field(default_factory=Guards)
    publishing: Publishing = field(default_factory=Publishing)
    spending: Spending | None = None  # under a budget
    noticed: Count = 0  # changes of the world that are written down
    shipped: Place | None = None  # the arm that gets all traffic
    ships_itself: bool = False
    paused: bool = False
    number: Count = 0
    catalogue: Catalogue = field(default_factory=Catalogue)
    places: dict[Arm, int] = field(default_factory=dict, metadata=DERIVED)
    _own: Any = field(default=None, metadata=DERIVED)  # the generator of one decision
    _fork: Any = field(default=None, metadata=DERIVED)  # makes it, by the number of an event
    _dice: Any = field(default=None, metadata=DERIVED)
    _shares: Any = field(default=NO_SHARES, metadata=DERIVED)
    _by_chances: bool = field(default=False, metadata=DERIVED)  # whether asks are drawn by shares
    in_contexts: bool = field(default=False, metadata=DERIVED)  # whether decisions depend on one
    follows_changes: bool = field(default=False, metadata=DERIVED)  # whether the policy may
    learns_sums: bool = field(default=False, metadata=DERIVED)  # whether it can, of many rewards
    _clocked: bool = field(default=False, metadata=DERIVED)  # whether the policy goes by the time
    _choices: Any = field(default_factory=list, metadata=DERIVED)  # of arms without a context
    _chances: Any = field(default_factory=dict, metadata=DERIVED)

    @classmethod
    def begin(cls, settings: StudySettings) -> State:
        """Return the state of a new study with these settings."""
        arms = len(settings.arms)
        return cls(
            settings,
            settings.decider(),
            list(settings.arms),
            Book(),
            EarlyLearning(DelayLaw(settings.window or 0.0, arms)) if settings.early else None,
            Tally([ArmTally() for _ in range(arms)], bets=bets_of(settings)),
            Guards(limits=dict(settings.guard or {})),
            spending=None if settings.budget is None else Spending(),
            ships_itself=settings.then == "ship",
        )

    def __post_init__(self) -> None:
        self.places = {arm: place for place, arm in enumerate(self.register)}
        self.book.under(self.settings)
        if self.spending is not None and self.settings.budget is not None:
            self.spending.under(self.settings.budget)
        shares, self.in_contexts = self.settings.shares, self.settings.has_contexts
        if shares.floored or shares.uniform or shares.most < 1.0:
            self._shares = shares
        self._by_chances = self.settings.draws_by_chances
        self._note(self.decider.policy)
        self._choices = [Choice(arm) for arm in self.register]
        self._begin_forks()

    def _note(self, policy: Policy | DependentPolicy) -> None:
        """Note what a policy needs: the time, and whether to be asked for changes."""
        apart = policy if isinstance(policy, Policy) else None
        self._clocked = apart is not None and apart.by_clock
        self.follows_changes = apart is not None and apart.learns and not self.in_contexts
        self.learns_sums = apart is not None and apart.learns_sums(self.decider.family)

    def _begin_forks(self) -> None:
        words, self._own = self.settings.words(), chance.generator(0)
        self._fork = entry(chance.fork).hold(LATER, words=words, out=self._own)
        self._dice = Dice(self._own)

    # Deciding

    @property
    def arms(self) -> Sequence[Hashable]:
        """The arms in play; one for all candidates, where these are the arms."""
        return self.decider.arms or self.register

    @property
    def retired(self) -> list[int]:
        """The places of the arms that are not in play any more."""
        gone = self.decider.retired
        return [place for place, arm in enumerate(self.register) if arm in gone]

    def check_asking(self, context: Any, candidates: Any) -> Asking:
        """Return a context and candidates as the log keeps them; nothing is changed."""
        if not self.in_contexts:
            if context is None and candidates is None:
                return PLAIN
            what = "context was" if candidates is None else "candidates were"
            how = "open_study(…, context=[…]), features=… or segments=… make one"
            raise SettingError(f"{what} given to a study that decides without: {how}")
        found: Asking = self.decider.check(context, candidates)
        return found

    def choose(self, words: chance.Words, number: int, asking: Asking) -> Choice:
        """Return what the policy chooses, outstanding from now on, by the `number`-th fork of
        `words`; its probability is not worked out.
        """
        entry(chance.fork)(LATER, words=words, run=number, role=0, out=self._own)
        self.decider.rng[:] = self._own
        found: Choice = self.decider.choose(asking)[0]
        return found

    def ready(self) -> Any:
        """Return the decider, whose next choice or look follows from the log alone: its working
        memory is laid out, and its random words are those of the next event.
        """
        self.decider.lay_out()
        self._fork(self.number + 1, 0)
        self.decider.rng[:] = self._own
        return self.decider

    def decide(self, count: int, asking: Asking, now: float) -> tuple[list[Choice], Plain, Plain]:
        """Decide the next `count` asks, which are outstanding from now on; and return what the
        first of them and those after it keep of the chances of all arms, where these are not those
        that stand, and of the price.
        """
        if self.shipped is None and not self._by_chances:
            decider = self.ready()
            return decider.integrated(decider.choose(asking, count, None, self._shares)), {}, {}
        for _ in range(count if self.in_contexts else 0):
            self.decider.meet(asking)
        if self.shipped is not None:
            return (
                self._expect(asking, [(self.register[self.shipped], 1.0, Draw.POLICY)] * count),
                {},
                {},
            )
        first, rest = self._new_chances(count, asking, now)
        chances = first.get(SHARES, self.tally.draws.chances)
        self._fork(self.number + 1, 1)  # other words than a policy draws from
        of_arms = {arm: chances[self.places[arm]] for arm in self.arms}
        return self._expect(asking, drawn_by(of_arms, count, self._dice)), first, rest

    def chances_of_last(self, asking: Asking) -> dict[Any, float] | None:
        """Return the chance that each arm or candidate had at the one ask that was just decided;
        None where that is not known.
        """
        if self.shipped is not None or self._by_chances:
            return None
        found: dict[Any, float] | None = self.ready().chances(asking, self._shares)
        return found

    def _new_chances(self, count: int, asking: Asking, now: float) -> tuple[Plain, Plain]:
        """Return what the next asks keep of the chances of all arms; nothing where those that stand
        are theirs.
        """
        if self.spending is not None:
            return self._priced_chances(self.spending, count, asking, now)
        if not self.in_contexts and self.number + 1 < self.tally.draws.due:
            return {}, {}
        decider = self.ready()
        found = self._by_place(decider.chances_of_next(asking, count, self._shares))
        return {SHARES: found}, {SHARES: found} if self.in_contexts else {}

    def _by_place(self, chances: Mapping[Any, float]) -> Chances:
        return tuple(chances.get(arm, 0.0) for arm in self.register)

    def _priced_chances(
        self, spending: Spending, count: int, asking: Asking, now: float
    ) -> tuple[Plain, Plain]:
        """Return the chances by which arms that the budget has room for are drawn, and the price:
        each arm has that of being worth most less what it costs, beside its floor.
        """
        decider, segment = self.ready(), segment_of(asking.context)
        places = [self.places[arm] for arm in decider.arms]
        costs = np.array(spending.costs_of(places, segment, most=False))
        beliefs, family = decider.believed_now(asking), decider.family
        low, high = decider.scale.range or (0.0, 1.0)
        worths = [(high - low) * family.expected_reward(row) for row in beliefs]
        made = spending.next_price(now, worths, costs.tolist())
        fits = set(spending.affordable(now, places, segment, count))
        there = [row for row, place in enumerate(places) if place in fits]
        prices = made[0] / (high - low) * costs[there]
        wished = worth_most(family, beliefs[there], prices).tolist()
        arms = [decider.arms[row] for row in there]
        shares = self._shares.beside(dict(zip(arms, wished, strict=True)))
        found = self._by_place(shares)
        return {SHARES: found, PRICE: made}, {SHARES: found}

    def affordable(self, count: int, asking: Asking, now: float) -> list[int]:
        """Return the places of the arms for which this number of asks fits in the budget."""
        places = [self.places[arm] for arm in self.arms] if self.shipped is None else [self.shipped]
        if (spending := self.spending) is None:
            return places
        return spending.affordable(now, places, segment_of(asking.context), count)

    def check_budget(self, count: int, asking: Asking, now: float, study: str) -> None:
        """Raise BudgetError where the budget has no room for this number of asks of any arm."""
        if self.spending is not None and not self.affordable(count, asking, now):
            raise BudgetError(self.spending.refusal(now, count, study))

    def _expect(self, asking: Asking, drawn: list[tuple[Any, float, Draw]]) -> list[Choice]:
        """Return asks that were decided, as choices that are outstanding from now on."""
        context = asking.context
        found = [Choice(arm, 0, likely, draw, context) for arm, likely, draw in drawn]
        for arm, times in Counter(one.arm for one in found).items():
            self.decider.expect(Choice(arm, context=asking.context), times)
        return found

    def choice(self, outcome: Outcome) -> Choice:
        """Return the decision that an outcome is of."""
        found: Choice = self._choices[outcome.arm]
        if outcome.context is None:
            return found
        return found._replace(context=outcome.context, candidate=outcome.candidate)

    def _chances_in(self, event: Event, body: Mapping[str, Any]) -> Chances | None:
        """Return the chances of all arms, by place, by which an ask was drawn; None where a policy
        chose one for sure.
        """
        if self._by_chances:
            if self.shipped is not None:
                return None
            if SHARES in body:
                found = tuple(body[SHARES])
                if not self.in_contexts and self.spending is None:
                    self.tally.draws.stand(event.number, found)
                return found
            return self.tally.draws.chances
        draw = event.draw
        if draw not in (Draw.UNIFORM, Draw.FLOOR):
            return None
        if draw not in self._chances:
            own = dict.fromkeys(self.arms, 1.0)
            if draw == Draw.FLOOR:
                own = self._shares.of(self.arms)
            total = sum(own.values())
            self._chances[draw] = tuple(own.get(arm, 0.0) / total for arm in self.register)
        known: Chances = self._chances[draw]
        return known

    # Folding

    def fold(self, event: Event, decided: bool = False) -> None:
        """Apply an event. `decided=True` if the ask is already counted as outstanding."""
        kind, book, tally = event.kind, self.book, self.tally
        body = json.loads(event.body) if event.body is not None else _NOTHING
        if book.is_due(event.time):
            self.close(event.time)
        outcome = None if event.ticket is None else book.open.get(event.ticket)
        if self.early is not None and kind in EARLY_KINDS:
            self.early.take(event, outcome)
        if self._clocked:
            self.decider.time = event.time
        if kind == Kind.OBSERVED and self.in_contexts:
            self._meet_rows(body)
        if self.spending is not None:
            self._spend(self.spending, event, body, outcome)
        for counted in book.take(event, body):
            self._count(counted)
        if kind == Kind.ASKED:
            assert event.arm is not None
            candidates = None
            if CANDIDATES in body:
                candidates = self.catalogue.take(event.number, body[CANDIDATES])
            tally.ask(event.arm, event.time)
            chances = self._chances_in(event, body)
            if chances:
                tally.draws.add(event.arm, chances)
            if self.spending is not None:
                of = event.number, event.time, event.arm, segment_of(body.get(CONTEXT))
                self.spending.ask(*of, chances, body.get(PRICE))
            if not decided:
                if CONTEXT in body:
                    self.decider.meet(Asking(body[CONTEXT], candidates))
                self.decider.expect(self.choice(book.open[event.number]))
        elif kind == Kind.RETURNED:
            assert outcome is not None
            tally.ask(outcome.arm, outcome.time, -1)
            self.decider.settle(self.choice(outcome), None)
        elif kind == Kind.CORRECTED:
            self._correct(event, body)
        elif kind == Kind.PUBLISHED:
            self.publishing.publish(body)
            if CONTEXT in body:
                self.decider.meet(Asking(body[CONTEXT]))
        elif kind == Kind.OBSERVED:
            self._observe(event, body)
        elif kind == Kind.ROWS_CORRECTED:
            changed = [place for place, *_ in body["changes"]]
            before = {place: self.learnt(place) for place in changed}
            for patch in body["patches"]:
                self.decider.take(patch)
            for place, n, total in body["changes"]:
                tally.correct(place, event.time, n, total, in_bulk=True)
                self._correct_cuts(place, before[place], None)
            for place, reward, times, version in body.get("bets", ()):
                number = max(version, NO_VERSION)
                bet(tally.bets, place, dict(body[SHARES])[version], reward, times, number)
        elif kind in _CHANGING:
            self._change(event, body)
            tally.course.change(event, body)
        elif kind not in (Kind.TOLD, Kind.ACTIVATED, Kind.RECORDED, Kind.ARCHIVED, Kind.SPENT):
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
        apart = self.early is not None or self.in_contexts or self.spending is not None
        single = len(events) if apart else 1
        for event in events[:single]:
            self.fold(event, decided=True)
        if not (rest := events[single:]):
            return
        body = json.loads(rest[0].body) if rest[0].body else _NOTHING
        self.book.ask_all(rest, body)
        alike = {(event.arm, event.draw): event for event in rest}
        for (arm, draw), count in Counter(map(attrgetter("arm", "draw"), rest)).items():
            assert arm is not None
            self.tally.ask(arm, rest[0].time, count)
            if chances := self._chances_in(alike[arm, draw], body):
                self.tally.draws.add(arm, chances, count)
        self.number = events[-1].number

    def _spend(
        self, spending: Spending, event: Event, body: Mapping[str, Any], outcome: Outcome | None
    ) -> None:
        """Let what an event says of a cost count."""
        if event.kind == Kind.RETURNED:
            spending.give_back(event.ticket or 0)
        elif event.kind == Kind.SPENT:
            spending.spend(event.time, event.arm, body["cost"])
        elif event.kind == Kind.TOLD and outcome is not None and "metrics" in body:
            after = self.book.with_told(event.ticket, None, body["metrics"]).metrics
            of = event.ticket or 0, outcome.time, outcome.arm, segment_of(outcome.context)
            spending.tell(*of, outcome.metrics, after)
        elif event.kind == Kind.CORRECTED and ASKED in body:
            asked, context = body[ASKED]
            before, told = body.get("metrics_before", {}), body.get("metrics", {})
            of = event.ticket or 0, asked, event.arm or 0, segment_of(context)
            spending.tell(*of, before, {**before, **told})

    def close(self, now: float) -> None:
        """Count every outcome whose window has closed by now; an event of this time has to follow,
        unless this is a copy: another process may be about to write one of an earlier time.
        """
        for counted in self.book.close(now):
            if self.early is not None and type(counted.key) is int:
                self.early.close(counted)
            if self._clocked:
                self.decider.time = counted.time
            self._count(counted)

    def count_early(self, now: float, looking: bool = False) -> None:
        """Let open tickets count what is known of them now, where the study learns early; an ask of
        this time has to follow, unless this is `looking`.
        """
        if self.early is None:
            return
        played = [self.places[arm] for arm in self.arms]
        beliefs = np.ones((len(self.register), 2))
        beliefs[played] = self.decider.settled
        count = self.early.look if looking else self.early.counts
        self.decider.count_provisionally(count(max(now, self.book.time), beliefs)[played])

    def copied(self) -> State:
        """Return an equal state that goes its own way."""
        other = codec.copied(self)
        other._begin_forks()
        other._chances, other._choices = {}, list(self._choices)
        return other

    def _meet_rows(self, body: Mapping[str, Any]) -> None:
        """Make room for what is new in the contexts of rows, as an ask does for a ticket's."""
        known = set(self.book.open)
        for row in (Row(*one) for one in body.get("open", ())):
            if (row.version, row.unit) not in known:
                known.add((row.version, row.unit))
                self.decider.meet(Asking(row.context))
        for told in body.get(TOLD, ()):
            self.decider.meet(Asking(Row(*told).context))

    def _count(self, counted: Counted) -> None:
        """An outcome counts now: of a ticket, of a row, or of past data.

        A reward was within the reach of the belief when it was told. If it is not any more (silence
        that counts as much, over and over), it is forgotten: time cannot be refused.
        """
        outcome, is_ticket = counted.outcome, type(counted.key) is int
        choice, reward = self.choice(outcome), outcome.reward
        self.tally.expired += counted.silent
        if not is_ticket:  # nobody asked for it
            if self.in_contexts and counted.key is None:
                candidate = None if outcome.candidate is None else [outcome.candidate]
                self.decider.meet(Asking(outcome.context, candidate))
            self.decider.expect(choice)
        try:
            self.decider.settle(choice, reward)
        except RewardError:
            reward = None
            self.decider.settle(choice, None)
        if reward is None:
            self.tally.arms[outcome.arm].forgotten += is_ticket
            return
        if self.settings.clip:
            kept, clipped = self.kept(reward)
            counted = counted._replace(outcome=outcome._replace(reward=kept))
            self.tally.clipped += clipped
        self.tally.count(counted, lambda: self.learnt(outcome.arm))
        if self.tally.bets is not None and counted.key is not None:
            self._bet(counted.key, counted.outcome)
        if outcome.metrics:
            self.guards.count(counted.key, outcome.arm, outcome.metrics)

    def _bet(self, key: Any, outcome: Outcome) -> None:
        """Count an outcome as evidence, if the chances of its decision are known."""
        chances = self.chances(key, outcome)
        if chances:
            number = key if type(key) is int else NO_VERSION if key[0] is None else key[0]
            bet(self.tally.bets, outcome.arm, chances, outcome.reward, 1.0, number)

    def chances(self, key: Any, outcome: Outcome) -> Chances | None:
        """Return the chances of all arms, by place, at the decision of an outcome, if known."""
        if outcome.chances is not None or type(key) is not int or not self._by_chances:
            return outcome.chances
        return self.tally.draws.at(key)

    def kept(self, reward: float) -> tuple[float, bool]:
        """Return a reward as it counts, and whether it was clipped to the range."""
        if not self.settings.clip:
            return reward, False
        found = float(self.decider.scale.nearest(reward))
        return found, found != reward

    def learnt(self, place: int) -> Learnt:
        """All that was learnt of an arm, in play or retired."""
        found: Learnt = self.over_contexts.learnt(self.register[place])
        return found

    @property
    def over_contexts(self) -> IndependentDecider:
        """What decides, or what believes every arm over all contexts."""
        found: IndependentDecider = self.decider.totals if self.in_contexts else self.decider
        return found

    def _correct(self, event: Event, body: Mapping[str, Any]) -> None:
        """A ticket that counted counts otherwise."""
        assert event.arm is not None
        place, was, now = event.arm, body["before"], event.reward
        old_reward, _ = self.kept(was or 0.0)
        new_reward, _ = self.kept(now or 0.0)
        n, total = (now is not None) - (was is not None), new_reward - old_reward
        self.tally.correct(place, event.time, n, total, in_bulk=False)
        old = {} if was is None else body.get("metrics_before", {})
        new = {**body.get("metrics_before", {}), **body.get("metrics", {})}
        new = {} if now is None else dict(sorted(new.items()))
        for metrics, more in ((old, -1), (new, 1)):
            self.tally.metrics.count(place, metrics, more)
            self.guards.count(event.ticket or 0, place, metrics, more)
        if body["patch"] is not None:
            before = self.learnt(place)
            self.decider.take(body["patch"])
            self._correct_cuts(place, before, (body["counted"], event.ticket or 0))
        if SHARES in body:
            for reward, kept, times in ((was, old_reward, -1.0), (now, new_reward, 1.0)):
                if reward is not None:
                    bet(self.tally.bets, place, body[SHARES], kept, times, event.ticket)

    def _correct_cuts(self, place: int, before: Learnt, at: tuple[float, int] | None) -> None:
        """Change what is kept of an arm's past by a correction: of a ticket that counted at a time;
        or of a row, which may have counted whenever, and changes each part by its share.
        """
        after = self.learnt(place)

        def share(cut: Cut) -> float:
            if at is not None:
                return float(cut.has(*at))
            return min(cut.rewards / max(before.tells, 1), 1.0)

        arm = self.tally.arms[place]
        if self.in_contexts or self.settings.discount < 1.0:
            arm.cuts = {}  # nobody asks whether such an arm changed
        else:
            arm.correct_cuts(self.decider.family, before, after, share)

    def _observe(self, event: Event, body: Mapping[str, Any]) -> None:
        """Outcomes in bulk were observed: those that count at once are learnt."""
        found, tally = Bulk.of(body), self.tally
        tally.draws.due = 0
        for patch in found.patches:
            self.decider.take(patch)
        for place, n, total in found.arms:
            tally.observe(place, event.time, n, total, lambda at=place: self.learnt(at))  # type: ignore[misc]
        for place, n in found.assigned:
            tally.arms[place].assigned += n
        for place, share in found.meant:
            tally.arms[place].meant += share
        tally.log_odds = found.log_odds
        if tally.bets is not None:
            tally.bets = bet_bulk(tally.bets, found)
        tally.clipped += found.clipped
        tally.attribute_names.update(part.name for part in found.by)
        for row in (*found.open, *found.told):
            tally.attribute_names.update(row[5] or ())

    def _change(self, event: Event, body: Mapping[str, Any]) -> None:
        kind = event.kind
        if event.arm is not None and kind in (Kind.PAUSED, Kind.ARM_RETIRED, Kind.ARM_ADDED):
            self.guards.stop(event.arm, body.get("guard"))
        if kind in (Kind.ARM_ADDED, Kind.ARM_RETIRED):
            self._chances = {}
        if kind in _OVERTAKING:
            self.publishing.overtake()
            self.tally.draws.due = 0
        if kind in (Kind.PAUSED, Kind.RESUMED):
            self.paused = kind == Kind.PAUSED
            if not self.paused:
                self.guards.resume(self.retired)
        elif kind in (Kind.SHIPPED, Kind.UNSHIPPED):
            self.shipped = event.arm if kind == Kind.SHIPPED else None
            self.ships_itself = self.ships_itself and kind == Kind.SHIPPED
            if self._by_chances:
                self.tally.draws.stand(event.number, ())  # nothing is drawn from now on, or anew
                self.tally.draws.due = 0
        elif kind == Kind.ARM_ADDED and "name" not in body:
            assert event.arm is not None
            self.decider.add(self.register[event.arm])
        elif kind == Kind.ARM_ADDED:
            arm = codec.decode_arm(body["name"])
            self.decider.add(arm, body["prior"])
            self.places[arm] = len(self.register)
            self.register.append(arm)
            self._choices.append(Choice(arm))
            self.tally.arms.append(ArmTally())
            if self.tally.bets is not None:
                self.tally.bets = joined(self.tally.bets)
        elif kind == Kind.ARM_RETIRED:
            assert event.arm is not None
            self.decider.retire(self.register[event.arm])
            if event.arm == self.shipped:
                self.shipped = None
        elif kind == Kind.POLICY_CHANGED:
            kinds = DependentPolicy if self.settings.has_features else Policy
            policy = given_back(body["policy"], kinds)
            self._note(policy)
            if self._clocked:
                self.decider.time = event.time
            self.decider.set_policy(policy)
            self.noticed = 0
        elif kind == Kind.CHANGE_NOTICED:
            self.noticed = body["noticed"]
        elif kind == Kind.GUARD_CHANGED:
            self.guards.change(check_guard(body["guard"] or None) or {}, event.number)

    # Looking

    def status(self, now: float | None = None) -> dict[str, Any]:
        """Counts of all kinds, and the rule of a window where there is one; a budget is that of
        now, or of the last event.
        """
        rule, book, tally = self.settings, self.book, self.tally
        counts: dict[str, Any] = {
            "family": rule.family.name,
            "policy": repr(self.decider.policy),
            "arms": len(self.arms),
            "retired": len(self.retired),
            "paused": self.paused,
            "events": self.number,
            "asked": sum(arm.asks for arm in tally.arms),
            "told": tally.told,
            "outstanding": book.tickets,
            "expired": tally.expired,
            "reward": tally.reward,
        }
        if rule.segments is not None:
            counts |= {"segments": list(rule.segments), "seen": len(self.decider.segments.own)}
        elif rule.has_features:
            counts |= {"model": self.decider.model.name, "context": self.decider.context_names}
        if self.spending is not None:
            counts["budget"] = self.spending.row(self.book.time if now is None else now)
        if self.shipped is not None:
            counts["shipped"] = self.register[self.shipped]
        if self.noticed:
            counts["changes_noticed"] = self.noticed
        if rule.clip:
            counts["clipped"] = tally.clipped
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
        self.decider.lay_out()  # leaves what was learnt, and nothing of how it was worked with
        text = _text(self._plain())
        return f"{_digest(text)}\n{text}"

    def _plain(self) -> dict[str, Any]:
        return {"format": FORMAT, "number": self.number, **codec.write(self)}

    @classmethod
    def from_text(cls, text: str) -> State:
        """The state of a text that `to_text` gave; raises StateError where it cannot be trusted."""
        digest, _, body = text.partition("\n")
        if digest != _digest(body):
            raise StateError("a snapshot is damaged: its checksum does not match its content")
        return state_file.trusted(lambda: cls._rebuilt(body), "a snapshot", "a study")

    @classmethod
    def _rebuilt(cls, text: str) -> State:
        content = json.loads(text)
        if (found := content.pop("format")) != FORMAT:
            raise StateError(f"a snapshot has format {found}: this belman reads {FORMAT}")
        last = len(content["register"]) - 1
        state = codec.read(cls, content, {"last arm": last, "number": content["number"]})
        state.check()
        again = state._plain()
        if _text(again) == text:
            return state
        del again["format"]
        apart = ("settings", "decider")  # which check themselves
        said = {name: part for name, part in content.items() if name not in apart}
        state_file.check_kept(said, {name: part for name, part in again.items() if name in said})
        anew = ("family", "policy", "model", "totals")  # which may be described otherwise
        state_file.check_kept(content["decider"]["state"], again["decider"]["state"], anew)
        return state

    def check(self) -> None:
        """Raise StateError where parts of a state contradict one another."""
        known = {*self.decider.arms, *self.decider.retired} or set(self.register)
        if len(self.places) != len(self.register) or set(self.register) != known:
            raise StateError("a snapshot plays other arms than its register says")
        if len(self.tally.arms) != len(self.register):
            raise StateError("a snapshot does not say what became of its traffic")
        if self.decider.kind != self.settings.kind:
            raise StateError("a snapshot decides by other means than its settings say")
        for cut in (cut for arm in self.tally.arms for cut in arm.cuts.values()):
            if len(cut.belief) != self.decider.family.dimension:
                raise StateError("a snapshot keeps of an arm's past what is not a belief")
        if self.shipped in self.retired:
            raise StateError("a snapshot has shipped an arm that it does not play")
        for outcome in self.book.open.values():
            self.decider.recall(self.register[outcome.arm], outcome.context, outcome.candidate)
        tickets = {key: one for key, one in self.book.open.items() if type(key) is int}
        times = [one.time for one in tickets.values()]
        if list(tickets) != sorted(tickets) or times != sorted(times):
            raise StateError("the tickets of a snapshot are not in the order of their asks")
        waiting = Counter(one.arm for one in tickets.values())
        if any(self.learnt(place).pending != waiting[place] for place in self.places.values()):
            raise StateError("a snapshot waits for other rewards than those of its tickets")
        if not self.tally.metrics.names >= {name for _, name in self.tally.metrics.sums}:
            raise StateError("a snapshot sums up metrics that it does not name")
        if (self.spending is None) != (self.settings.budget is None):
            raise StateError("a snapshot has a budget, or has none, unlike its study")
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


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
