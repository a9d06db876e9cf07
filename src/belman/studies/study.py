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

    Every method that changes the study is one short transaction: it waits its turn, takes in what
    others have committed, decides, and writes its events down. When it returns, they are on disk;
    when it raises, nothing has happened. A change that may be sent again carries an idempotency
    `key` of its own: it is made once. Objects are safe to share between threads. Whoever wants to
    `watch` is told how many changes of the world (see `changes`) a transaction wrote down.
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
        """Open the same study once more, with a state of its own: for a thread that looks while
        another one decides.
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
        """A ticket for the arm to try now, or a list of `n` for a batch.

        Tickets that are out count as observed at their expected statistic, so that concurrent
        askers spread. `attributes` of whoever it is for, such as {"device": "phone"}, are kept in
        the log for `report(by="device")`; no policy sees them. What decides is the `context` of a
        study that has contexts, and the `candidates` where these are its arms; with `top` its
        ticket ranks so many of them. A request that may be sent again carries an idempotency `key`
        of its own: the same key gives the same tickets.
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
        """Learn the reward of a ticket, hours later and from another process if need be.

        With it go `metrics`, such as {"latency": 0.8, "refund": 0}, of which the study keeps the
        sums (see `metrics`); where the study's reward is declared over them, they go alone.

        True if it was news. The same reward once more changes nothing and gives False; another one
        raises TicketError. In a study with a window it is welcome while the window is open: the
        last one stands, or they add up where the study accumulates, and then a request that may be
        sent again carries an idempotency `key` of its own. Once the window has closed it raises
        TicketError; see `correct`.
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
        """Replace what a ticket counted as, for refunds and fraud; None forgets it.

        True if that changes anything. The belief is as if the ticket had counted so at its time
        (under a discount, what is left of it is corrected; logistic and Poisson beliefs along
        features are so up to what depends on the order of rewards, and how much segments borrow
        from each other stays as it was learnt). It is for tickets that counted: those
        whose window has closed, or that were told where there is no window. Its `metrics` stay as
        they are but for those that are given; where they make the reward, that is None.
        """
        request = Tell(ticket, reward, key, metrics)
        return Correction(request, reason).make(self._replica)

    def give_back(self, tickets: Iterable[str | Ticket]) -> int:
        """Give tickets back that were asked for ahead, and used for nobody: how many of them are
        given back, so that the same request has the same answer. It is as if they had not been
        asked for; those that have expired are left alone, and one that was told raises
        TicketError, and then none goes.
        """
        given = validate.check_list(tickets, "tickets", "those that asks gave")
        return self._replica.transact(lambda unit: give_back(unit, given))

    def together(self, requests: Sequence[Request]) -> list[Answer]:
        """Many asks, tells and other requests in one transaction (group commit), which costs one
        wait for the disk; in several where they ask for more tickets than one may give, or take
        long.

        Each gets its own answer in its place: the tickets of an ask, whether a tell was news, or
        the error that it alone would have raised.
        """
        found: list[Answer] = []
        while len(found) < len(requests):
            batch = first_batch(requests, len(found), self._replica.limits.tickets)
            try:
                found += self._replica.transact(partial(answers, requests=batch))
            except SpoiltError:
                found += map(self._alone, batch)
        return found

    def _alone(self, request: Request) -> Answer:
        """What a request gets in a transaction of its own."""
        try:
            work = partial(answers, requests=[request])
            (found,) = self._replica.transact(work)
        except SpoiltError as spoilt:
            return spoilt.refusal
        return found

    def record(self, rewards: PastData, reason: str = "", *, key: str | None = None) -> int:
        """Learn from past data as a warm start, all or (one row is bad) none of it; the count.

        Past data are (arm, reward) or (arm, reward, attributes), or a table (a file, a data frame,
        mappings) with columns `arm` and `reward`, and perhaps `attributes` as an export has it;
        chances are not kept, and a table that brings some is learnt from with a warning. In a study
        with contexts a context (and a column `context`) is in the place of attributes, and where
        arms are candidates, the features of one in that of the arm.
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
        """The weights of the arms for the next `decisions`, as a document by which
        `belman.assign` assigns units anywhere; its version is an event in the log.

        With `every` so many seconds there is one version in each such interval: this, or
        `weights`, makes it when it is asked for and something happened since. From one to the next
        as few units move as the change of the weights requires. Whoever cannot renew weights may
        use them `valid_for` so many seconds (a day). Units may be published for by `segment`, each
        with its own versions; in a study that learns by segment it is given as a context,
        {"country": "fr"}, and the weights are that segment's. A study along features publishes
        draws of its coefficients, by which `assign` decides in a context; for GrowthBook the leaves
        of a small tree that says nearly the same. Units are hashed `by`
        belman, or as the clients of GrowthBook ("growthbook") or Eppo ("eppo") do. A warning, and a
        note of the report, say where weights are far surer than what is known.
        """
        plan = check_plan(decisions, every, valid_for, by)
        why = check_reason(reason)
        check_key(key)

        def publish(unit: UnitOfWork) -> tuple[Weights, str]:
            made = publishing.publish(unit, segment, plan, why, key)
            asking = publishing.segment_in(unit.state, segment)[1]
            return made, publishing.caution(unit.state, made, asking)

        found, caution = self._replica.transact(publish)
        if caution:
            warnings.warn(f"study {self.name!r}: {caution}", UserWarning, stacklevel=2)
        return found

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
        """The published weights that stand now: the next version, if that is due."""
        of = self._segment(segment)
        now = self._replica.now()

        def read(state: State) -> tuple[Weights, bool]:
            found, _ = state.publishing.standing(self.name, of)
            due = state.publishing.is_due(of, now, state.number)
            return found, due and not state.paused and not self.storage.read_only

        found, due = self._replica.look(read)
        if not due:
            return found
        return self._replica.transact(lambda unit: publishing.renewed(unit, of))

    def published_segments(self) -> dict[str | None, Given]:
        """The segments that weights stand for, each with the context that it is in a study that
        learns by segment.
        """

        def read(state: State) -> dict[str | None, Given]:
            named = publishing.segment_in
            known = {one: named(state, one)[1].context for one in state.publishing.current}
            return {segment: context or {} for segment, context in known.items()}

        return self._replica.look(read)

    def fresh_for(self, segment: str | Given | None = None) -> float:
        """For how many seconds the weights that stand need not be asked for again."""
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
        """Learn many outcomes of units that were assigned by published weights, all or (one row is
        bad) none of them; the count.

        Rows are (unit, version, arm, reward) with perhaps a time behind, in seconds since 1970, and
        attributes, or mappings with these names, and a `context` in a study along features; a
        version of None is for units that were assigned without weights, with the `chances` of all
        arms, {"blue": 0.9, "green": 0.1}, if these were logged. Every unit that a version can be
        asked about is looked up by its hash, whoever's that is (see `publish`, `declare`), and a
        row with another arm is refused. `report(by=…)` splits by
        attributes, as it does for tickets. Sums per (version, segment, arm) do as well where the
        family allows: mappings with version, arm, n, sum and squares. Both may be columns, a data
        frame, or the path of a file.
        Under one idempotency `key` a batch counts once; the rows themselves are their key where
        none is given. Under a window a row waits until its own has closed, and the last one of a
        unit and version stands until then.
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
        """Replace what rows of outcomes in bulk counted as, all or (one row is bad) none; how many.

        Rows are (unit, version, arm, was, reward), perhaps with the attributes and the `chances`
        that the row came with, or mappings with these names; a reward of None forgets the row. The
        log keeps sums, so that whoever corrects says what a row counted as, and a request that may
        be sent again carries an idempotency `key`. A row whose window is open is not corrected but
        observed once more.
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

        Everything that was learnt stays, and whoever has the study open goes on. Replays, reports
        by attributes, exports and `check` read the file where it was written. Tickets and versions
        of events that are archived are refused from then on, and their idempotency keys are not
        known any more.

        Parameters
        ----------
        path
            A file that is not there yet; its name ends in .parquet.
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
        """Decide nothing until resumed; tells are welcome all the same."""
        self._change(Kind.PAUSED, reason, changes.paused, key)

    def resume(self, reason: str = "", *, key: str | None = None) -> None:
        """Decide again."""
        self._change(Kind.RESUMED, reason, changes.resumed, key)

    def add_arm(
        self,
        arm: Hashable,
        prior: ArrayLike | None = None,
        reason: str = "",
        *,
        key: str | None = None,
    ) -> None:
        """Take in a new arm, or a retired one with what was learnt of it (which takes no prior)."""
        name = check_arm(arm)
        body = partial(changes.added, arm=name, prior=prior)
        self._change(Kind.ARM_ADDED, reason, body, key, name, prior)

    def retire_arm(self, arm: Hashable, reason: str = "", *, key: str | None = None) -> None:
        """Play an arm no more; rewards of its tickets still count, and it may come back."""
        self._change(Kind.ARM_RETIRED, reason, partial(changes.retired, arm=arm), key, arm)

    def set_exposure(self, exposure: Exposure, reason: str = "", *, key: str | None = None) -> None:
        """Explore more or less from here on, under a policy that has an exposure."""
        given = as_exposure(exposure)
        body = partial(changes.exposed, exposure=given)
        self._change(Kind.POLICY_CHANGED, reason, body, key, given)

    def set_policy(self, policy: str | Policy, reason: str = "", *, key: str | None = None) -> None:
        """Let another policy choose from here on, with all that was learnt so far; it may be given
        by its name.
        """
        chosen = check_policy(validate.policy_named(policy))
        body = partial(changes.decided, policy=chosen)
        self._change(Kind.POLICY_CHANGED, reason, body, key, chosen)

    def set_guard(
        self, guard: Mapping[str, str] | None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Hold these limits on metrics from here on, {"refund": "< 0.05"}, and no others; None
        holds none.

        A limit that is new is held against tickets that are asked for from now on. Arms that a
        limit has taken out of play stay out until they are added again.
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
        """Count a cost of no ask against the budget, such as that of a call which was decided
        elsewhere; where it was spent on an arm, that says what the arm costs.
        """
        body = partial(changes.spent, cost=amount, arm=arm)
        self._change(Kind.SPENT, reason, body, key, amount, arm)

    def ship(
        self, arm: Hashable | None = None, reason: str = "", *, key: str | None = None
    ) -> None:
        """Give all traffic to one arm from here on, by default to the one that is most likely the
        best; `unship` undoes it. Tells count as ever, and floors rest.
        """
        self._change(Kind.SHIPPED, reason, partial(changes.shipped, arm=arm), key, arm)

    def unship(self, reason: str = "", *, key: str | None = None) -> None:
        """Let the policy decide again; the study does not ship by itself any more."""
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
