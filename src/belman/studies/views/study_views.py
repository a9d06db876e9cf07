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
        """Return the number of the last event, the number of outstanding tickets, the cell of time
        for open tickets whose silence counts, and the number of rows that wait for their window to
        close.

        Two looks at equal moments show the same, up to what silence tells within a cell.
        """

        def read(state: State) -> tuple[int, int, int, int]:
            if state.book.window is None:
                return state.number, state.book.tickets, 0, 0
            now = self._replica.now()
            out, rows = state.book.waiting(now)
            cell = state.early.distribution.cell(now) if state.early and out else 0
            return state.number, out, cell, rows

        return self._replica.look(read)

    def status(self) -> dict[str, Any]:
        """Return counts of all kinds, from one moment; in a study with a window also its rule, and
        how many open tickets were not told yet.

        Returns
        -------
        dict
            The name of the study and its counts, by name.
        """

        def read(state: State) -> dict[str, Any]:
            return status(state, None if state.spending is None else self._replica.now())

        return {"name": self.name, **self._replica.look_now(read)}

    def copied(self) -> tuple[State, float]:
        """Return a copy of the whole state of this moment. The study is not changed.

        Returns
        -------
        tuple
            The state, and the time in seconds.
        """
        return self._replica.look_now(lambda state: (state.copied(), self._replica.now()))

    def agent(self) -> Agent:
        """Return an agent that believes what the study believes now. The study is not changed.

        Returns
        -------
        Agent
            An agent of its own.
        """
        return self._replica.look_now(lambda state: agent_of(state.ready().copy()))

    def beliefs(
        self,
        level: float = 0.95,
        *,
        context: Given | None = None,
        candidates: Candidates = None,
    ) -> Table:
        """Return rewards told, expected reward, credible interval and probability of being best for
        each arm in play.

        Open tickets count as far as something is known of them, and the title says where they wait
        for their window.

        Parameters
        ----------
        level
            The probability of intervals.
        context
            Values by name; without them a study with contexts gives averages over the contexts that
            each arm was tried in.
        candidates
            Features of each candidate, in a study whose arms are candidates. Rows are named by
            their places.

        Returns
        -------
        Table
            A row for each arm or candidate.
        """
        checked = validate.check_level(level)

        def read(state: State) -> Table:
            asking = None
            if context is not None or candidates is not None:
                asking = _looked_at(state, context, candidates)
            result = state.decider.beliefs(asking, checked)
            return Table(result.columns, state.waits or "") if asking is None else result

        return self._replica.look_now(read)

    def report(
        self,
        level: float = 0.95,
        *,
        by: str | None = None,
        control: Hashable | None = None,
        most: int | None = None,
    ) -> StudyReport:
        """Report the lift of every arm over control, the verdict, tests of the data and the traffic
        of this moment, as `Agent.report` does.

        Windows that have closed by now are counted; what open tickets say so far is not.

        Parameters
        ----------
        level
            The probability of intervals.
        by
            An attribute of the tickets, or a name of their contexts: the report then also has the
            lift of the leader in every segment, drawn towards that of all. This reads the whole
            log.
        control
            Another control than the study's, for this report alone.
        most
            How many of very many arms get lifts and intervals that hold at any look: those that are
            most likely the best.

        Returns
        -------
        StudyReport
            The report, as a table, as data and in one sentence.

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
        result = report_of(state, self.name, now, checked, control, shown)
        if by is None:
            return result
        return replace(result, segments=segments_of(state, self.events(), now, by, result))

    def verdict(self) -> Verdict:
        """Return what the rule `stop_when` says now; by default `belman.measures.Separated(0.05)`
        beside a control, and `belman.measures.Sure(0.95)` without. It says so where it rests on
        outcomes that are told late, without a window.

        Returns
        -------
        Verdict
            Whether the study is decided, and a sentence.
        """

        def read(state: State) -> Verdict:
            result, late = standing(state).verdict, late_outcomes(state)
            return (
                result
                if late is None
                else replace(result, sentence=f"{result.sentence}. {late.sentence}")
            )

        return self._replica.look_now(read)

    def metrics(self, level: float = 0.95) -> Table:
        """Return, for each arm that ever was and each metric, how many tickets counted with it, the
        mean, and an interval.

        The interval is Student's for the mean of n independent values, for one look at a moment
        that is fixed ahead: an interval that is looked at again and again errs more often than 1 -
        `level`. It rests on the central limit theorem, so that it is too narrow where few values
        make the mean, such as rare refunds; equal values give an interval of no width. Windows that
        have closed by now are counted; tickets that were not told have no metrics.

        Parameters
        ----------
        level
            The probability of intervals.

        Returns
        -------
        Table
            A row for each arm and metric.
        """
        checked = validate.check_level(level)
        return self._replica.look_now(
            lambda state: state.tally.metrics.table(state.register, checked)
        )

    def spending(self) -> Table:
        """Return what a study with a budget spent in each period.

        A row has the beginning of the period, the budget, what was spent on its asks as far as is
        known now, the expected cost of open ones, the number of asks, and the price (usual, lowest
        and highest) in units of reward per unit of cost.

        Returns
        -------
        Table
            A row for each of the last hundred periods, the newest last; none without a budget.
        """
        return self._replica.look_now(
            lambda state: budget_views.table(state.spending or Spending())
        )

    def affordable(self, *, context: Given | None = None) -> list[Hashable]:
        """Return the arms in play for which one more ask fits in the budget now; all of them
        without a budget.

        Parameters
        ----------
        context
            Values by name, in a study with contexts or segments.

        Returns
        -------
        list
            Names of arms.
        """
        now = self._replica.now()

        def read(state: State) -> list[Hashable]:
            asking = _looked_at(state, context, None)
            return [state.register[position] for position in affordable(state, 1, asking, now)]

        return self._replica.look_now(read)

    def explain(self, *, context: Given | None = None, candidates: Candidates = None) -> Table:
        """Return why the next arm is chosen: what the policy sees of each arm, the largest index
        first.

        Parameters
        ----------
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.

        Returns
        -------
        Table
            A row for each arm or candidate.
        """
        return self._replica.look_now(
            lambda state: state.ready().explain(_looked_at(state, context, candidates))
        )

    def reasons(
        self, arm: Hashable, context: Given | None = None, *, candidates: Candidates = None
    ) -> Table:
        """Return which features speak for an arm in a context, and which against it, in a study
        along features.

        Parameters
        ----------
        arm
            The name of an arm, or the place of a candidate.
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.

        Returns
        -------
        Table
            A row for each feature, the largest first.
        """

        def read(state: State) -> Table:
            decider = _along_features(state)
            return decider.reasons(arm, _looked_at(state, context, candidates))

        return self._replica.look_now(read)

    def coefficients(self, level: float = 0.95) -> Table:
        """Return every coefficient of a study along features, with its credible interval.

        Parameters
        ----------
        level
            The probability of intervals.

        Returns
        -------
        Table
            A row for each coefficient.
        """
        checked = validate.check_level(level)
        return self._replica.look_now(lambda state: _along_features(state).coefficients(checked))

    def contexts(self) -> dict[str, Table]:
        """Return the beliefs by context.

        Returns
        -------
        dict
            A table of `coefficients`, or one of `segments`, by its title; {} in a study without
            contexts.
        """
        return self._replica.look_now(tables)

    def segments(self) -> Table:
        """Return the most likely best arm of each segment seen, in a study by segments, the largest
        segment first.

        Returns
        -------
        Table
            Expected reward, interval, P(best), and the share of other segments' rewards that
            counts.

        Raises
        ------
        StudyError
            If the study has no segments.
        """
        result = self.contexts()
        if "segments" not in result:
            words = "open_study(…, segments=[…]) makes one with such"
            raise StudyError(f"this study has no segments: {words}")
        return result["segments"]

    def changes(self) -> Table:
        """Return the changes of the world that the policy noticed (`drift`): at which turn, which
        arm, after which turn, from and to which average reward, and how sure.

        Returns
        -------
        Table
            The last 64 changes. The log has all of them, with their times.
        """
        return self.agent().changes()

    def tickets(self) -> list[Ticket]:
        """Return the tickets that are outstanding, oldest first.

        Returns
        -------
        list
            Tickets.
        """

        def read(state: State) -> tuple[set[int], list[Hashable]]:
            return {key for key in state.book.open if type(key) is int}, list(state.register)

        out, register = self._replica.look_now(read)
        asks = self.events(min(out) - 1) if out else ()
        secret = self._replica.secret
        return [ticket_of(event, register, secret) for event in asks if event.number in out]

    def asked(self, key: str) -> list[Ticket]:
        """Return the tickets that a request with this idempotency key was given.

        Parameters
        ----------
        key
            The idempotency key of an ask.

        Returns
        -------
        list
            Tickets.

        Raises
        ------
        UnknownTicketError
            If no ask had this key.
        """
        return [ticket for _, ticket in self._asked(key, lambda position: f"{key}/{position}")]

    def asked_slots(self, key: str) -> dict[str, Ticket]:
        """Return the tickets that a request for slots with this idempotency key was given.

        Parameters
        ----------
        key
            The idempotency key of the request.

        Returns
        -------
        dict
            Tickets by the names of their slots.

        Raises
        ------
        UnknownTicketError
            If no request had this key.
        """
        result = self._asked(key, lambda position: f"{key_of(key, position)}/0")
        return {event.content.get(SLOT, ""): ticket for event, ticket in result}

    def _asked(self, key: str, named: Callable[[int], str]) -> Iterator[tuple[Event, Ticket]]:
        """Yield the asks of a request, each by its place under a key of its own."""

        def read(transaction: Transaction) -> list[Event]:
            result: list[Event] = []
            while event := self._replica.log.find(transaction, "key", named(len(result))):
                result.append(event)
            return result

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
        """Return the log as a table: every event with its time and reason, and what closed windows
        counted as.

        Parameters
        ----------
        last
            How many of the last lines, as far as their events are not archived; by default all.

        Returns
        -------
        Table
            A row for each event.
        """
        after = 0
        if last is not None:
            here = self.storage.run(self._replica.log.first, write=False)
            after = max(self.number - validate.check_count(last), here - 1)
        names, lines = import_export.lines(self._replica, self.events, after)
        rows = list(deque(lines, last))
        return Table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log to a file.

        Parameters
        ----------
        path
            A file whose name ends in .csv or .parquet.

        Returns
        -------
        int
            How many events were written.
        """
        columns, rows = import_export.lines(self._replica, self.events, 0, as_text=True)
        return import_export.write(path, rows, columns)

    def replay(self, policy: str | Policy | DependentPolicy, seed: int = 0) -> Estimate:
        """Estimate from the log what another policy would have earned, in the contexts of the log
        where the study has such.

        Parameters
        ----------
        policy
            A policy, or its name.
        seed
            The seed of the policy that is replayed.

        Returns
        -------
        Estimate
            The estimate with its interval.

        Raises
        ------
        ReplayError
            If the log cannot tell.
        """
        chosen: Policy | DependentPolicy = validate.policy_named(policy)
        if isinstance(chosen, Policy):
            family, arms = self._replica.look(
                lambda state: (state.decider.family, len(state.register))
            )
            validate.check_policy(chosen, family, arms)
        return replay(self.settings, self.events(), chosen, seed, self._replica.now())

    def events(self, after: int = 0) -> Iterator[Event]:
        """Iterate over the log.

        Parameters
        ----------
        after
            The number of the event to begin behind; by default the first event comes first.

        Returns
        -------
        Iterator
            Events, in order.
        """
        require_whole("after", after, 0, MOST)
        self._replica.look(lambda state: None)  # finds a server that restarted
        with self.storage.transaction(write=False) as transaction:
            yield from archives.whole(self._replica.log, transaction, after)

    def check(self) -> str:
        """Check that the state is what the log gives, folded anew.

        Returns
        -------
        str
            The digest of the state.

        Raises
        ------
        StateError
            If they differ in a single bit.
        """
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
