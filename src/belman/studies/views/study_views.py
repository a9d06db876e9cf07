"""What can be seen of a study, without a writer's lock: every view is of one moment."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from belman.agent import Agent
from belman.agent.agent import agent_of
from belman.deciders import Asking, FeaturedDecider, SegmentedDecider, validate
from belman.errors import SettingError, StateError, StudyError, UnknownTicketError
from belman.measures.stop_rules import Verdict
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.studies import saving
from belman.studies.consequences import standing
from belman.studies.deciding import affordable
from belman.studies.log import archives
from belman.studies.log.event_log import Event, Kind
from belman.studies.log.storage import Storage, Transaction
from belman.studies.outcomes.book import SLOT
from belman.studies.replica import Replica
from belman.studies.requests.slots import key_of
from belman.studies.settings import StudySettings
from belman.studies.state import State
from belman.studies.ticket import Ticket, ticket_of
from belman.studies.traffic import budget_views
from belman.studies.traffic.spending import Spending
from belman.studies.views import import_export
from belman.studies.views.replay import Estimate, replay
from belman.studies.views.status import status
from belman.studies.views.study_report import StudyReport, late_outcomes, report_of
from belman.studies.views.study_segments import segments_of
from belman.table import Table
from belman.validate import MOST, require_whole

Given = Mapping[str, Any]
Candidates = Sequence[Given] | None
#: Segments that the page lists, the largest first, and coefficients.
MOST_SEGMENTS, MOST_COEFFICIENTS = 50, 200


class StudyViews:
    """The half of a study that changes nothing."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    @property
    def name(self) -> str:
        """The name under which the storage keeps it."""
        return self._replica.name

    @property
    def storage(self) -> Storage:
        """Where it is kept."""
        return self._replica.storage

    @property
    def settings(self) -> StudySettings:
        """What was chosen when the study was created."""
        return self._replica.look(lambda state: state.settings)

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that are played."""
        return self._replica.look(lambda state: tuple(state.arms))

    @property
    def retired(self) -> tuple[Any, ...]:
        """The arms that were retired."""
        return self._replica.look(
            lambda state: tuple(map(state.register.__getitem__, state.retired))
        )

    @property
    def register(self) -> tuple[Any, ...]:
        """Every arm there ever was; the `arm` of an event is a place in it."""
        return self._replica.look(lambda state: tuple(state.register))

    @property
    def policy(self) -> Policy | DependentPolicy:
        """The policy, which chooses."""
        return self._replica.look(lambda state: state.decider.policy)

    @property
    def paused(self) -> bool:
        """Whether it decides nothing at present."""
        return self._replica.look(lambda state: state.paused)

    @property
    def shipped(self) -> Hashable | None:
        """The arm that gets all traffic, if one does."""
        return self._replica.look(
            lambda state: None if state.shipped is None else state.register[state.shipped]
        )

    @property
    def outstanding(self) -> int:
        """How many tickets are out."""
        return self.moment[1]

    @property
    def number(self) -> int:
        """The number of the last event."""
        return self._replica.look(lambda state: state.number)

    @property
    def moment(self) -> tuple[int, int, int, int]:
        """The number of the last event, how many tickets are out, the cell of time that it is for
        those of which silence tells, and how many rows wait for their window to close: a study
        whose moment is the same is the same, up to what silence says within a cell.
        """

        def read(state: State) -> tuple[int, int, int, int]:
            if state.book.window is None:
                return state.number, state.book.tickets, 0, 0
            now = self._replica.now()
            out, rows = state.book.waiting(now)
            cell = state.early.law.cell(now) if state.early and out else 0
            return state.number, out, cell, rows

        return self._replica.look(read)

    def status(self) -> dict[str, Any]:
        """Counts of all kinds, from one moment; of a study with a window also its rule, and how
        many open tickets nobody has told yet.
        """

        def read(state: State) -> dict[str, Any]:
            return status(state, None if state.spending is None else self._replica.now())

        return {"name": self.name, **self._replica.look_now(read)}

    def copied(self) -> tuple[State, float]:
        """A copy of the whole state of this moment, and the time; the study does not notice it."""
        return self._replica.look_now(lambda state: (state.copied(), self._replica.now()))

    def agent(self) -> Agent:
        """An agent that believes what the study believes now; the study does not notice it."""
        return self._replica.look_now(lambda state: agent_of(state.ready().copy()))

    def beliefs(
        self,
        level: float = 0.95,
        *,
        context: Given | None = None,
        candidates: Candidates = None,
    ) -> Table:
        """Per arm played: rewards told, expected reward, credible interval, P(best); open tickets
        count what is known of them now, and the title says so where they wait for their window. In
        a study with contexts it is what is believed in one of them, and without one the average
        over whoever an arm was tried for. Where arms are candidates, these are named by their
        places.
        """
        checked = validate.check_level(level)

        def read(state: State) -> Table:
            asking = None
            if context is not None or candidates is not None:
                asking = _looked_at(state, context, candidates)
            found = state.decider.beliefs(asking, checked)
            return Table(found.columns, state.waits or "") if asking is None else found

        return self._replica.look_now(read)

    def report(
        self,
        level: float = 0.95,
        *,
        by: str | None = None,
        control: Hashable | None = None,
        most: int | None = None,
    ) -> StudyReport:
        """By how much, how sure, may one stop, is the data sound, and who got the traffic: an
        agent's report, of this moment.

        Windows that have closed by now are counted, and what open tickets say so far is not. `by`
        an attribute of the tickets, or a name of their contexts, it says how the leader does in
        every segment, drawn towards that of all, which takes a walk over the whole log. Another
        `control` than the study's is for this look alone. Of very many arms only the `most` that
        are most likely the best are given lifts and intervals that hold at any look.

        >>> import tempfile, belman
        >>> folder = tempfile.TemporaryDirectory()
        >>> url = f"sqlite:///{folder.name}/studies.db"
        >>> study = belman.open_study("button", ["blue", "green"], storage=url, control="blue")
        >>> study.report().state
        'running'
        >>> print(study.report().sentence)
        No reward was told yet: all that is known are the priors.
        >>> study.storage.close(); folder.cleanup()
        """
        checked = validate.check_level(level)
        shown = None if most is None else validate.check_count(most)
        state, now = self.copied()
        found = report_of(state, self.name, now, checked, control, shown)
        if by is None:
            return found
        return replace(found, segments=segments_of(state, self.events(), now, by, found))

    def verdict(self) -> Verdict:
        """What the rule `stop_when` says now; by default `belman.measures.Separated(0.05)` beside a
        control, and `belman.measures.Sure(0.95)` without. It says so where it rests on outcomes
        that are told late, without a window.
        """

        def read(state: State) -> Verdict:
            found, late = standing(state).verdict, late_outcomes(state)
            return (
                found
                if late is None
                else replace(found, sentence=f"{found.sentence}. {late.sentence}")
            )

        return self._replica.look_now(read)

    def metrics(self, level: float = 0.95) -> Table:
        """Per arm that ever was and metric: how many tickets counted with it, mean, interval.

        The interval is Student's for the mean of n independent values. It is for one look at a
        moment fixed ahead: whoever looks until it says something is misled more often than 1 -
        `level`. It rests on the central limit theorem, so that it is too narrow where few values
        make the mean, such as rare refunds; values that are all the same leave it no width. Windows
        that have closed by now are counted; tickets that nobody told have no metrics.
        """
        checked = validate.check_level(level)
        return self._replica.look_now(
            lambda state: state.tally.metrics.table(state.register, checked)
        )

    def spending(self) -> Table:
        """Per period, of a study with a budget: when it began, the budget, what was spent for its
        asks by what is known now, what open ones are expected to cost, how many asks, and the
        price: its usual, lowest and highest, in units of reward per unit of cost.

        The newest period is the last row; a hundred are kept. Without a budget there is none.
        """
        return self._replica.look_now(
            lambda state: budget_views.table(state.spending or Spending())
        )

    def affordable(self, *, context: Given | None = None) -> list[Hashable]:
        """Return the arms in play of which one more ask, with this context, fits in the budget now;
        all of them without a budget.
        """
        now = self._replica.now()

        def read(state: State) -> list[Hashable]:
            asking = _looked_at(state, context, None)
            return [state.register[place] for place in affordable(state, 1, asking, now)]

        return self._replica.look_now(read)

    def explain(self, *, context: Given | None = None, candidates: Candidates = None) -> Table:
        """Why this arm now: what the policy sees of each arm, the largest index first; for an ask
        with this context and these candidates, where the study has such.
        """
        return self._replica.look_now(
            lambda state: state.ready().explain(_looked_at(state, context, candidates))
        )

    def reasons(
        self, arm: Hashable, context: Given | None = None, *, candidates: Candidates = None
    ) -> Table:
        """Which features speak for an arm, or for the candidate at a place, in a context, and which
        against, in a study along features.
        """

        def read(state: State) -> Table:
            decider = _along_features(state)
            return decider.reasons(arm, _looked_at(state, context, candidates))

        return self._replica.look_now(read)

    def coefficients(self, level: float = 0.95) -> Table:
        """Every coefficient of a study along features, with its credible interval."""
        checked = validate.check_level(level)
        return self._replica.look_now(lambda state: _along_features(state).coefficients(checked))

    def contexts(self) -> dict[str, Table]:
        """What is known by context: a table of `coefficients`, or one of `segments`; nothing in a
        study without contexts.
        """
        return self._replica.look_now(tables)

    def segments(self) -> Table:
        """Of a study by segments, the most likely best arm of each one seen, the largest first:
        expected reward, interval, P(best), and the share of other segments' rewards that counts.
        """
        found = self.contexts()
        if "segments" not in found:
            words = "open_study(…, segments=[…]) makes one with such"
            raise StudyError(f"this study has no segments: {words}")
        return found["segments"]

    def changes(self) -> Table:
        """The changes of the world that a policy noticed which follows them (`drift`): at which
        turn, which arm, after which turn, from and to which average reward, and how sure. The last
        64 are kept here; the log has them all, with their times.
        """
        return self.agent().changes()

    def tickets(self) -> list[Ticket]:
        """The tickets that are out, oldest first."""

        def read(state: State) -> tuple[set[int], list[Hashable]]:
            return {key for key in state.book.open if type(key) is int}, list(state.register)

        out, register = self._replica.look_now(read)
        asks = self.events(min(out) - 1) if out else ()
        secret = self._replica.secret
        return [ticket_of(event, register, secret) for event in asks if event.number in out]

    def asked(self, key: str) -> list[Ticket]:
        """The tickets that a request with this idempotency key was given; raises
        UnknownTicketError where there is none.
        """
        return [ticket for _, ticket in self._asked(key, lambda place: f"{key}/{place}")]

    def asked_slots(self, key: str) -> dict[str, Ticket]:
        """The tickets that a request for slots with this idempotency key was given, by the names of
        the slots; raises UnknownTicketError where there is none.
        """
        found = self._asked(key, lambda place: f"{key_of(key, place)}/0")
        return {event.content.get(SLOT, ""): ticket for event, ticket in found}

    def _asked(self, key: str, named: Callable[[int], str]) -> Iterator[tuple[Event, Ticket]]:
        """Yield the asks of a request, each by its place under a key of its own."""

        def read(transaction: Transaction) -> list[Event]:
            found: list[Event] = []
            while event := self._replica.log.find(transaction, "key", named(len(found))):
                found.append(event)
            return found

        register = self._replica.look(lambda state: list(state.register))
        events = self.storage.run(read, write=False)
        if not events or events[0].kind != Kind.ASKED:
            raise UnknownTicketError(f"no ask of study {self.name!r} had the key {key[:80]!r}")
        for event in events:
            yield event, ticket_of(event, register, self._replica.secret)

    @property
    def feature_names(self) -> list[str]:
        """What candidates come with, in a study whose arms these are."""
        return self._replica.look(lambda state: _along_features(state).feature_names)

    def history(self, last: int | None = None) -> Table:
        """The log as a table: every event with its time and reason, and what closed windows counted
        as; or the `last` so many lines, as far as their events are not archived.
        """
        after = 0
        if last is not None:
            here = self.storage.run(self._replica.log.first, write=False)
            after = max(self.number - validate.check_count(last), here - 1)
        names, lines = import_export.lines(self._replica, self.events, after)
        rows = list(deque(lines, last))
        return Table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log to a file whose name ends in .csv or .parquet; gives the event count."""
        columns, rows = import_export.lines(self._replica, self.events, 0, as_text=True)
        return import_export.write(path, rows, columns)

    def replay(self, policy: str | Policy | DependentPolicy, seed: int = 0) -> Estimate:
        """What another policy would have earned by the log; ReplayError where it cannot tell. In a
        study with contexts it chooses in those of the log. A policy may be given by its name.
        """
        chosen: Policy | DependentPolicy = validate.policy_named(policy)
        if isinstance(chosen, Policy):
            family, arms = self._replica.look(
                lambda state: (state.decider.family, len(state.register))
            )
            validate.check_policy(chosen, family, arms)
        return replay(self.settings, self.events(), chosen, seed, self._replica.now())

    def events(self, after: int = 0) -> Iterator[Event]:
        """The log, from the event that follows number `after`."""
        require_whole("after", after, 0, MOST)
        self._replica.look(lambda state: None)  # finds a server that restarted
        with self.storage.transaction(write=False) as transaction:
            yield from archives.whole(self._replica.log, transaction, after)

    def check(self) -> str:
        """The digest of the state; StateError where the log folded anew differs in a single bit."""
        ours = self._replica.look(saving.to_text)
        number = json.loads(ours.partition("\n")[2])["number"]
        log = saving.to_text(self._replica.folded(until=number))
        if ours != log:
            raise StateError(f"the state of study {self.name!r} is not the fold of its log")
        return ours.partition("\n")[0]

    def __repr__(self) -> str:
        now = self.status()
        nouns = {"arms": "arm{}", "told": "reward{} told", "outstanding": "ticket{} out"}
        counts = [f"{now[key]} {noun.format('s' * (now[key] != 1))}" for key, noun in nouns.items()]
        words = ", ".join(counts)
        return f"Study({self.name!r}, {words}{', paused' * now['paused']})"


def _looked_at(state: State, context: Given | None, candidates: Candidates) -> Asking:
    """Return a context and candidates to look at."""
    if not state.settings.has_contexts and (context is not None or candidates is not None):
        words = "open_study(…, context=[…]) makes one"
        raise StudyError(f"this study has no contexts to look at: {words}")
    if state.settings.has_candidates and candidates is None:
        raise SettingError("arms are candidates here: give candidates=[…] to look at")
    return state.check_asking(context, candidates)


def _along_features(state: State) -> FeaturedDecider:
    """Return what decides in a study along features."""
    if isinstance(state.decider, FeaturedDecider):
        return state.decider
    raise StudyError("this study has no features: open_study(…, context=[…]) makes one with such")


def tables(state: State) -> dict[str, Table]:
    """Return what the page shows of contexts: tables by title."""
    if isinstance(state.decider, SegmentedDecider):
        return {"segments": state.decider.table(MOST_SEGMENTS)}
    if isinstance(state.decider, FeaturedDecider):
        return {"coefficients": state.decider.coefficients(0.95, MOST_COEFFICIENTS)}
    return {}
