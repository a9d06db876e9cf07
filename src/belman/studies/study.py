"""A study: a named agent whose every decision and reward is written down before it counts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Unpack, overload

from numpy.typing import ArrayLike

from belman import frames
from belman.assignment import SigningKey, Weights
from belman.deciders import validate
from belman.errors import SettingError, shown
from belman.exposure import Exposure
from belman.exposure import exposure as as_exposure
from belman.policies import Policy
from belman.studies.log.event_log import Kind
from belman.studies.log.storage import Storage
from belman.studies.replica import Replica
from belman.studies.requests import changes, publishing, row_corrections
from belman.studies.requests.archiving import KEEP, archive_events
from belman.studies.requests.asking import Ask, AskOptions, ask, record
from belman.studies.requests.correcting import Correction
from belman.studies.requests.observing import observe
from belman.studies.requests.row_corrections import Given as RowCorrections
from belman.studies.requests.rows import Given as Outcomes
from belman.studies.requests.rows import Sums, brought, count, digest, have_units
from belman.studies.requests.telling import Tell, give_back, tell
from belman.studies.requests.together import Answer, Request, SpoiltError, answers, first_batch
from belman.studies.rules.guards import check_guard
from belman.studies.rules.written import check_arm, check_policy
from belman.studies.signing import signing_keys
from belman.studies.state import State
from belman.studies.ticket import Ticket
from belman.studies.traffic.publishing import VALID_FOR, check_plan, fresh_for
from belman.studies.unit_of_work import Limits, UnitOfWork, check_key, check_reason
from belman.studies.views.import_export import past_data
from belman.studies.views.study_views import StudyViews

Given = Mapping[str, Any]
Clock = Callable[[], float]
Change = Callable[[State, str], dict[str, Any]]
LIMITS = Limits()
PastData = Iterable[tuple[Any, ...]] | frames.Given


class Study(StudyViews):
    """A named, durable agent for any number of threads and processes; `open_study` opens one.

    Every method that changes the study is one short transaction: it waits its turn, reads what
    other processes have committed, decides, and writes its events to the log. When it returns, they
    are on disk; when it raises, nothing has changed. A change with an idempotency `key` is made
    once, however often it is sent. Objects are safe to share between threads.

    Parameters
    ----------
    name
        The name of a study that is in the storage.
    storage
        The storage that keeps it.
    clock
        A function that gives the time in seconds; by default the clock of the database, or of this
        machine.
    limits
        The most tickets of one ask, and the most that are outstanding.
    watch
        A function that is called with the number of changes (see `changes`) that a transaction
        noticed.
    """

    def __init__(
        self,
        name: str,
        storage: Storage,
        *,
        clock: Clock | None = None,
        limits: Limits = LIMITS,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(Replica(name, storage, clock, limits, watch))
        self._replica.look(lambda state: None)

    def beside(self) -> Study:
        """Open the same study once more, with a state of its own: for a thread that only reads
        while another one decides.

        Returns
        -------
        Study
            The same study.
        """
        replica = self._replica
        return Study(self.name, self.storage, clock=replica.clock, limits=replica.limits)

    # Deciding and learning

    @overload
    def ask(self, n: None = None, **options: Unpack[AskOptions]) -> Ticket: ...
    @overload
    def ask(self, n: int, **options: Unpack[AskOptions]) -> list[Ticket]: ...
    def ask(
        self,
        n: int | None = None,
        *,
        context: Given | None = None,
        candidates: Sequence[Given] | None = None,
        top: int | None = None,
        attributes: Given | None = None,
        key: str | None = None,
    ) -> Any:
        """Ask for an arm to try now.

        Tickets whose reward is not told yet count as observed at their expected statistic, so that
        concurrent asks spread over the arms.

        Parameters
        ----------
        n
            The size of a batch; by default one ticket that is no list.
        context
            Values by name, in a study with contexts or segments.
        candidates
            Features of each candidate, in a study whose arms are candidates.
        top
            How many arms or candidates the ticket ranks, best first.
        attributes
            Values by name that are kept in the log for `report(by=…)`, such as {"device": "phone"}.
            No policy sees them.
        key
            An idempotency key: the same key gives the same tickets.

        Returns
        -------
        Ticket, or a list of them
            The id and the arm, with the probability of the choice; a list where `n` is given.

        Raises
        ------
        PausedError
            If the study is paused.
        SettingError
            If more tickets are asked for than one ask may give.
        StudyError
            If more tickets would be outstanding than `limits` allows.
        BudgetError
            If the budget has no room for them.
        """
        count = 1 if n is None else validate.check_count(n)
        request = Ask(count, key, attributes, context, candidates, top)
        tickets = self._replica.transact(lambda unit: ask(unit, request))
        return tickets[0] if n is None else tickets

    def tell(
        self,
        ticket: str | Ticket,
        reward: float | None = None,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Learn the reward of a ticket, also hours later and from another process.

        In a study with a window, rewards are accepted while the window is open. The last one
        counts, or their sum where the study accumulates. `correct` changes a ticket that has
        counted.

        Parameters
        ----------
        ticket
            A ticket, or its id.
        reward
            The reward; left out where the study computes it from metrics.
        metrics
            Other measurements by name, such as {"latency": 0.8, "refund": 0}; the study keeps their
            sums (see `metrics`).
        key
            An idempotency key; needed where rewards accumulate and a request may be sent again.

        Returns
        -------
        bool
            True if the reward is new, False if the same one was told before.

        Raises
        ------
        TicketError
            If the ticket is unknown, was told another reward, or its window has closed.
        RewardError
            If the family does not allow the reward.
        """
        request = Tell(ticket, reward, key, metrics)
        return self._replica.transact(lambda unit: tell(unit, request))

    def correct(
        self,
        ticket: str | Ticket,
        reward: float | None,
        reason: str,
        *,
        metrics: Mapping[str, float] | None = None,
        key: str | None = None,
    ) -> bool:
        """Change the reward of a ticket that has counted, for refunds and fraud.

        The belief becomes what it would be if the ticket had brought this reward at its time. Under
        a discount, what is left of the reward is corrected; logistic and Poisson beliefs along
        features are exact up to the order of rewards; how much segments borrow from each other is
        not learnt again. A ticket whose window is open is told again in place of corrected.

        Parameters
        ----------
        ticket
            A ticket, or its id.
        reward
            The right reward; None removes the ticket from what was learnt. Also None where the
            study computes the reward from metrics.
        reason
            Why, for the log.
        metrics
            New values of some metrics; the others stay.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Returns
        -------
        bool
            True if this changes anything.

        Raises
        ------
        TicketError
            If the ticket is unknown, or has not counted yet.
        """
        request = Tell(ticket, reward, key, metrics)
        return Correction(request, reason).make(self._replica)

    def give_back(self, tickets: Iterable[str | Ticket]) -> int:
        """Give back tickets that were asked for ahead and used for nobody, as if they had not been
        asked for.

        Tickets that have expired are left alone.

        Parameters
        ----------
        tickets
            Tickets, or their ids.

        Returns
        -------
        int
            How many of them are given back, now or by an earlier call.

        Raises
        ------
        TicketError
            If one of them was told; then none is given back.
        """
        given = validate.check_list(tickets, "tickets", "those that asks gave")
        return self._replica.transact(lambda unit: give_back(unit, given))

    def together(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer many asks, tells and other requests in one transaction (group commit), which waits
        for the disk once.

        Several transactions are used where the requests ask for more tickets than one may give, or
        take long.

        Parameters
        ----------
        requests
            `Ask`, `Tell` and other requests.

        Returns
        -------
        list
            For each request its tickets, whether its tell was new, or the error that it would have
            raised alone.
        """
        result: list[Answer] = []
        while len(result) < len(requests):
            batch = first_batch(requests, len(result), self._replica.limits.tickets)
            try:
                result += self._replica.transact(partial(answers, requests=batch))
            except SpoiltError:
                result += map(self._alone, batch)
        return result

    def _alone(self, request: Request) -> Answer:
        """What a request gets in a transaction of its own."""
        try:
            work = partial(answers, requests=[request])
            (result,) = self._replica.transact(work)
        except SpoiltError as spoilt:
            return spoilt.refusal
        return result

    def record(self, rewards: PastData, reason: str = "", *, key: str | None = None) -> int:
        """Learn from past data as a warm start: all of it, or none if one row is invalid.

        Probabilities are not kept: a table with a column of them is learnt from with a warning.

        Parameters
        ----------
        rewards
            (arm, reward) or (arm, reward, attributes) rows, or a table (a file, a data frame,
            mappings) with columns `arm` and `reward`, and perhaps `attributes` as an export has it.
            In a study with contexts a context (or a column `context`) takes the place of
            attributes; where arms are candidates, features take the place of the arm.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Returns
        -------
        int
            How many rewards were learnt.
        """
        check_reason(reason)
        if not frames.is_table(rewards) and not isinstance(rewards, Mapping):
            rewards = validate.check_list(rewards, "rewards", "(arm, reward) pairs, or a file")
        if isinstance(rewards, list) and not any(isinstance(row, Mapping) for row in rewards):
            rows, numbers = rewards, list(range(1, len(rewards) + 1))
        else:
            known = self._replica.look(lambda state: tuple(state.register))
            rows, numbers = past_data(rewards, known)
        return self._replica.transact(lambda unit: record(unit, rows, numbers, reason, key))

    # Deciding elsewhere, by published weights

    def publish(
        self,
        decisions: int,
        *,
        every: float | timedelta | None = None,
        valid_for: float | timedelta | None = VALID_FOR,
        segment: str | Given | None = None,
        by: str = "belman",
        reason: str = "",
        key: str | None = None,
    ) -> Weights:
        """Publish the weights of the arms for the next `decisions`, as a document by which
        `belman.assign` assigns units anywhere.

        From one version to the next as few units change their arm as the new weights require. A
        study along features publishes draws of its coefficients, by which `assign` decides in a
        context; for GrowthBook, the leaves of a small tree that approximates them. A warning, and a
        note of the report, say where weights are far surer than what was observed.

        Parameters
        ----------
        decisions
            For how many decisions the weights are made.
        every
            Seconds, or a timedelta, between versions: the next one is made when it is asked for
            after that time and something has happened.
        valid_for
            How long a decider that cannot renew weights may use them; a day by default.
        segment
            For which units, each segment with its own versions. In a study that learns by segment
            it is a context, {"country": "fr"}.
        by
            Whose hash assigns units: "belman", "growthbook" or "eppo".
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Returns
        -------
        Weights
            The document. Its version is the number of an event in the log.
        """
        plan = check_plan(decisions, every, valid_for, by)
        why = check_reason(reason)
        check_key(key)

        def publish(unit: UnitOfWork) -> tuple[Weights, str]:
            made = publishing.publish(unit, segment, plan, why, key)
            asking = publishing.segment_in(unit.state, segment)[1]
            return made, publishing.caution(unit.state, made, asking)

        result, caution = self._replica.transact(publish)
        if caution:
            warnings.warn(f"study {self.name!r}: {caution}", UserWarning, stacklevel=2)
        return result

    def declare(self, weights: Weights, reason: str = "", *, key: str | None = None) -> Weights:
        """Tell by which weights somebody else assigned units, so that their outcomes can be
        observed with right chances.

        Parameters
        ----------
        weights
            Who gets which arm, and by whose hash: `Weights.of(…, assigner=…)`, with
            `assignment.Elsewhere()` where units were randomised by lots that nobody can draw again.
        reason
            Why, for the log.
        key
            An idempotency key: the same key declares once.

        Returns
        -------
        Weights
            The same with a version, the number of an event in the log, by which outcomes name them.
            They do not stand: nobody is assigned by them from now on.
        """
        if not isinstance(weights, Weights):
            raise SettingError(f"weights={shown(weights)} are not a weights document")
        why = check_reason(reason)
        check_key(key)
        return self._replica.transact(lambda unit: publishing.declare(unit, weights, why, key))

    def _segment(self, segment: object) -> str | None:
        """The name of a segment, be it given as a context."""
        return self._replica.look(lambda state: publishing.segment_in(state, segment)[0])

    def weights(self, segment: str | Given | None = None) -> Weights:
        """Return the published weights that are in force, and make the next version first if it is
        due.

        Parameters
        ----------
        segment
            For which units; by default for all.

        Returns
        -------
        Weights
            The document.
        """
        of = self._segment(segment)
        now = self._replica.now()

        def read(state: State) -> tuple[Weights, bool]:
            result, _ = state.publishing.standing(self.name, of)
            due = state.publishing.is_due(of, now, state.number)
            return result, due and not state.paused and not self.storage.read_only

        result, due = self._replica.look(read)
        if not due:
            return result
        return self._replica.transact(lambda unit: publishing.renewed(unit, of))

    def published_segments(self) -> dict[str | None, Given]:
        """List the segments that weights are published for.

        Returns
        -------
        dict
            For each segment its context in a study that learns by segment, else {}.
        """

        def read(state: State) -> dict[str | None, Given]:
            named = publishing.segment_in
            known = {one: named(state, one)[1].context for one in state.publishing.current}
            return {segment: context or {} for segment, context in known.items()}

        return self._replica.look(read)

    def fresh_for(self, segment: str | Given | None = None) -> float:
        """Say for how long the published weights need not be fetched again.

        Parameters
        ----------
        segment
            For which units; by default for all.

        Returns
        -------
        float
            Seconds.
        """
        now, of = self._replica.now(), self._segment(segment)
        standing = self._replica.look(lambda state: state.publishing.standing(self.name, of))
        return fresh_for(standing, now)

    @property
    def signing_key(self) -> SigningKey:
        """The key by which `belman.assignment.sign` signs the weights of this study: it follows
        from `$BELMAN_SIGNING_KEY`, or from a file beside a SQLite file. Edges are given
        `public_keys`.
        """
        return signing_keys(self.storage, self._replica.secret)[0]

    @property
    def public_keys(self) -> dict[str, bytes]:
        """The public keys of signed weights by their ids, as `verify` takes them: the one that
        signs, and those that are to be trusted while keys are changed.
        """
        return {key.id: key.public for key in signing_keys(self.storage, self._replica.secret)}

    def observe(self, rows: Outcomes, reason: str = "", *, key: str | None = None) -> int:
        """Learn many outcomes of units that were assigned by published weights: all of them, or
        none if one row is invalid.

        Every unit is assigned again by the hash of its version (see `publish`, `declare`), and a
        row with another arm is refused. Under a window a row waits until its own has closed, and
        until then the last row of a unit and version counts.

        Parameters
        ----------
        rows
            (unit, version, arm, reward) rows, perhaps with a time in seconds since 1970 and
            attributes, or mappings with these names, and a `context` in a study along features. A
            version of None is for units that were assigned without weights, with the `chances` of
            all arms, {"blue": 0.9, "green": 0.1}, if they were logged. Or sums, where the family
            allows them: mappings with version, arm, n, sum and squares. Also columns, a data frame,
            or the path of a file.
        reason
            Why, for the log.
        key
            An idempotency key: a batch counts once. By default the rows themselves; sums need one.

        Returns
        -------
        int
            How many outcomes were learnt.
        """
        check_reason(reason)
        batch = brought(rows, lambda: self._replica.look(lambda state: tuple(state.register)))
        if key is None and isinstance(batch, Sums):
            words = "equal sums may be other outcomes, so that each batch needs a key of its own"
            raise SettingError(f"{words}: key='2026-11-17T10'")
        if not batch.arm:
            return 0
        content = digest(batch)
        own = check_key(key)
        if own is None and have_units(batch):
            own = f"rows:{content}"
        self._replica.transact(lambda unit: observe(unit, batch, content, reason, own))
        return count(batch)

    def correct_rows(self, rows: RowCorrections, reason: str, *, key: str | None = None) -> int:
        """Change what rows of outcomes in bulk counted as: all of them, or none if one row is
        invalid.

        The log keeps sums, so that a correction says what each row counted as. A row whose window
        is open is observed again in place of corrected.

        Parameters
        ----------
        rows
            (unit, version, arm, was, reward) rows, perhaps with the attributes and the `chances`
            that the row had, or mappings with these names. A reward of None removes the row.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Returns
        -------
        int
            How many rows were corrected.
        """
        if not check_reason(reason).strip():
            raise SettingError("a correction needs a reason, which the log keeps: reason='refund'")
        given = row_corrections.brought(rows)
        own = check_key(key)
        return self._replica.transact(
            lambda unit: row_corrections.correct(unit, given, reason, own)
        )

    # Keeping it small

    def archive_events(
        self,
        path: str | os.PathLike[str],
        *,
        keep: float | timedelta | None = KEEP,
        reason: str = "",
    ) -> int:
        """Move old events from the database to a new Parquet file, with the chain intact.

        What was learnt stays, and processes that have the study open go on. Replays, reports by
        attributes, exports and `check` read the file at its path. Tickets and versions of archived
        events are refused from then on, and their idempotency keys are no longer known.

        Parameters
        ----------
        path
            A new file whose name ends in .parquet.
        keep
            How long events stay in the database, as seconds or a timedelta: 30 days by default.
            Events within the window stay in any case.
        reason
            Why, for the log.

        Returns
        -------
        int
            How many events were moved. Where none is old enough no file is written.
        """
        return archive_events(self._replica, path, keep, reason)

    # Changing it while it runs

    def pause(self, reason: str = "", *, key: str | None = None) -> None:
        """Decide nothing until `resume`; rewards are accepted all the same.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        StudyError
            If the study is paused already.
        """
        self._change(Kind.PAUSED, reason, changes.paused, key)

    def resume(self, reason: str = "", *, key: str | None = None) -> None:
        """Decide again.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        StudyError
            If the study is not paused.
        """
        self._change(Kind.RESUMED, reason, changes.resumed, key)

    def add_arm(
        self,
        arm: Hashable,
        prior: ArrayLike | None = None,
        reason: str = "",
        *,
        key: str | None = None,
    ) -> None:
        """Add a new arm, or a retired one with what was learnt of it.

        Parameters
        ----------
        arm
            The name of the arm.
        prior
            The belief about a new arm at first; by default that of the study. A retired arm takes
            none.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        ArmError
            If the arm is in play already.
        """
        name = check_arm(arm)
        body = partial(changes.added, arm=name, prior=prior)
        self._change(Kind.ARM_ADDED, reason, body, key, name, prior)

    def retire_arm(self, arm: Hashable, reason: str = "", *, key: str | None = None) -> None:
        """Stop playing an arm; rewards of its tickets still count, and `add_arm` brings it back.

        Parameters
        ----------
        arm
            The name of the arm.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        ArmError
            If the arm is unknown, or the last one.
        """
        self._change(Kind.ARM_RETIRED, reason, partial(changes.retired, arm=arm), key, arm)

    def set_exposure(self, exposure: Exposure, reason: str = "", *, key: str | None = None) -> None:
        """Explore more or less from now on, under a policy that has an exposure.

        Parameters
        ----------
        exposure
            One of `belman.exposure`, or a function τ(t).
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        PolicyError
            If the policy has no exposure.
        """
        given = as_exposure(exposure)
        body = partial(changes.exposed, exposure=given)
        self._change(Kind.POLICY_CHANGED, reason, body, key, given)

    def set_policy(self, policy: str | Policy, reason: str = "", *, key: str | None = None) -> None:
        """Let another policy choose from now on, with all that was learnt before.

        Parameters
        ----------
        policy
            A policy, or its name.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        PolicyError
            If the policy does not suit the family or the arms.
        """
        chosen = check_policy(validate.policy_named(policy))
        body = partial(changes.decided, policy=chosen)
        self._change(Kind.POLICY_CHANGED, reason, body, key, chosen)

    def set_guard(
        self, guard: Mapping[str, str] | None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Replace the limits on metrics.

        A new limit applies to tickets that are asked for from now on. Arms that a limit has taken
        out of play stay out until they are added again.

        Parameters
        ----------
        guard
            Limits by metric, {"refund": "< 0.05"}; None for no limits.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.
        """
        limits = check_guard(guard or None) or {}
        asked = sorted((name, limit.text) for name, limit in limits.items())
        self._change(Kind.GUARD_CHANGED, reason, partial(changes.guarded, guard=limits), key, asked)

    def spend(
        self,
        amount: float,
        reason: str = "",
        *,
        arm: Hashable | None = None,
        key: str | None = None,
    ) -> None:
        """Count a cost that no ticket brought against the budget, such as a call that was decided
        elsewhere.

        Parameters
        ----------
        amount
            The cost.
        reason
            Why, for the log.
        arm
            The arm that it was spent on, if any: the study then learns from it what the arm costs.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        StudyError
            If the study has no budget.
        """
        body = partial(changes.spent, cost=amount, arm=arm)
        self._change(Kind.SPENT, reason, body, key, amount, arm)

    def ship(
        self, arm: Hashable | None = None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Give all traffic to one arm from now on; `unship` undoes it. Rewards are learnt as
        before, and floors are suspended.

        Parameters
        ----------
        arm
            The name of the arm; by default the arm that is most likely the best.
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        StudyError
            If an arm is shipped already.
        """
        self._change(Kind.SHIPPED, reason, partial(changes.shipped, arm=arm), key, arm)

    def unship(self, reason: str = "", *, key: str | None = None) -> None:
        """Let the policy decide again; the study no longer ships by itself.

        Parameters
        ----------
        reason
            Why, for the log.
        key
            An idempotency key, for a request that may be sent again: it changes the study once.

        Raises
        ------
        StudyError
            If no arm is shipped.
        """
        self._change(Kind.UNSHIPPED, reason, changes.unshipped, key)

    def _change(
        self, kind: Kind, reason: str, body: Change, key: str | None, *request: Any
    ) -> None:
        """Write a change down, unless the same request with the same key was made before."""
        asked = (check_reason(reason), *request)
        check_key(key)

        def work(unit: UnitOfWork) -> None:
            if unit.made_before(key, kind, asked) is None:
                content = body(unit.state, self.name)
                arm = content.pop("arm", None)
                unit.change(kind, key, asked, {"reason": reason, **content}, arm=arm)

        self._replica.transact(work)
