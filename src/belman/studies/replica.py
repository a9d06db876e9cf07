"""The state of a study in this process, kept up with the log, and transactions for both to grow."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from belman.errors import (
    BelmanError,
    PriorError,
    RestoredError,
    StateError,
    StorageError,
    StudyError,
    UnknownStudyError,
)
from belman.studies import folding, saving
from belman.studies.log import archives
from belman.studies.log.chain import Head
from belman.studies.log.event_log import Event, EventLog, Kind
from belman.studies.log.storage import Storage, Transaction, check_time
from belman.studies.settings import StudySettings
from belman.studies.state import State
from belman.studies.unit_of_work import Limits, UnitOfWork

T = TypeVar("T")
log = logging.getLogger("belman.studies")
_TRIES = 3  # to open a study of which others remove events that they have archived


class Replica:
    """What the log says of a study, never more than is committed; read anew after a failure."""

    def __init__(
        self,
        name: str,
        storage: Storage,
        clock: Callable[[], float] | None,
        limits: Limits,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        self.name, self.storage = name, storage
        self.id, self.secret = storage.find(name)
        self.log = EventLog(self.id)
        self.clock, self.limits = clock, limits
        self._watch = watch  # is told how many changes of the world were written down
        self._lock = threading.RLock()
        self._state: State | None = None
        self._head: Head | None = None  # of what was ever seen here; the log has to go on from it
        self._ahead: State | None = None  # of the log, by windows that closed after the last event

    def now(self) -> float:
        """The time, by the clock of the study or of its storage."""
        return self.storage.now() if self.clock is None else check_time(self.clock())

    def look(self, reader: Callable[[State], T]) -> T:
        """What a reader makes of the state, with everything that is committed."""
        with self._lock:
            self._state, self._head = self.storage.run(self._caught_up, write=False)
            self._see(self._head)
            return reader(self._state)

    def look_now(self, reader: Callable[[State], T]) -> T:
        """What a reader makes of the state of this moment. Where windows have closed since the last
        event it is a copy's, since others may yet write events of an earlier time.
        """

        def read(state: State) -> T:
            if state.book.window is None:
                return reader(state)
            now = self.now()
            if self._ahead is None or self._ahead.number != state.number:
                self._ahead = state.copied() if state.book.is_due(now) else None
            shown = state if self._ahead is None else self._ahead
            if shown is not state:
                folding.close(shown, now)
            shown.count_early(now, peek=True)
            return reader(shown)

        return self.look(read)

    def transact(self, work: Callable[[UnitOfWork], T]) -> T:
        """Wait our turn, take in what others wrote, work, write down; a refusal changes nothing."""

        def attempt(transaction: Transaction) -> tuple[UnitOfWork, T | None, BelmanError | None]:
            state, head = self._caught_up(transaction, lock=True)
            result, refusal = None, None
            now = transaction.time if self.clock is None else check_time(self.clock())
            unit = UnitOfWork(
                self.name, self.secret, state, head, self.log, transaction, now, self.limits
            )
            try:
                result = work(unit)
            except BelmanError as error:
                if unit.dirty:
                    raise
                refusal = error
            unit.flush()
            return unit, result, refusal

        with self._lock:
            unit, result, refusal = self.storage.run(attempt)
            self._state, self._head = unit.state, unit.head
            self._see(unit.head)
            if unit.is_snapshot_due:
                self._keep_snapshot(unit.state, unit.head)
        if unit.changes and self._watch is not None:
            self._watch(unit.changes)
        if refusal is not None:
            raise refusal
        return cast("T", result)

    def _keep_snapshot(self, state: State, head: Head) -> None:
        """Write down where the log has led, after what led there: no other study waits while it is
        put into words. Without it the log has more to say, until the next one.
        """
        self._state = None  # it comes back whole
        text = saving.to_text(state)
        self._state = state

        def keep(transaction: Transaction) -> None:
            there = next(self.log.after(transaction, head.number - 1, lock=True, chunk=1), None)
            if there is not None and there.link == head.link:
                self.log.keep_snapshot(transaction, *head, text)

        try:
            self.storage.run(keep)
        except StorageError as error:
            log.warning("study %r: no snapshot was kept: %s", self.name, error)

    def _see(self, head: Head) -> None:
        """Let all who have this study open here know how far its log goes."""
        if self.storage.heads.get((self.id, self.secret), (0, b""))[0] < head.number:
            self.storage.heads[self.id, self.secret] = head

    def _caught_up(self, transaction: Transaction, lock: bool = False) -> tuple[State, Head]:
        """The state with all that is committed; RestoredError where the log is not the one it was,
        UnknownStudyError where the study was deleted, and StudyError where the log holds a prior
        that is none.
        """
        try:
            return self._followed(transaction, lock)
        except PriorError as error:
            raise StudyError(f"this study cannot be opened here: {error}") from None
        except StateError as error:
            there = "SELECT 1 FROM belman_studies WHERE id = ? AND secret = ?"
            if transaction.rows(there, self.id, self.secret):
                if isinstance(error, RestoredError):
                    self.storage.out_of_step[self.id, self.secret] = self.name
                raise
            raise UnknownStudyError(f"study {self.name!r} was deleted") from None

    def _followed(self, transaction: Transaction, lock: bool) -> tuple[State, Head]:
        state, self._state = self._state, None  # it comes back when what it holds is committed
        head = self._head
        # before we look what is there
        seen = Head(*self.storage.heads.get((self.id, self.secret), ()))
        if state is None or head is None:
            state, head = self._opened(transaction)
        for _ in range(_TRIES):
            events = self.log.after(transaction, head.number - 1, lock=lock)
            last = next(events, None)
            if last is None or last.number == head.number:
                break
            state, head = self._opened(transaction)  # what was known last is archived by now
        head.check(last, self.name)
        assert last is not None
        if last.number == seen.number:
            seen.check(last, self.name)
        state.book.time = last.time
        for event in events:
            head = head.follow(event, self.name)
            if event.number == seen.number:
                seen.check(event, self.name)
            folding.fold(state, event)
        if seen.number > head.number:
            seen.check(None, self.name)
        return state, head

    def _opened(self, transaction: Transaction) -> tuple[State, Head]:
        """The state of the newest snapshot, or of the first event where none can be read."""
        for known in (self._head, Head(*self.log.noted(transaction))):
            if known is not None and not self._is_archived(transaction, known):
                known.check(self.log.find(transaction, "number", known.number), self.name)
        snapshot = self.log.newest_snapshot(transaction)
        if snapshot is not None:
            number, link, text = snapshot
            try:
                state = saving.from_text(text)
            except StateError:
                pass  # the log holds everything that the snapshot did
            else:
                return state, Head(number, link)
        state, head, events = self._first(transaction)
        first = self.log.first(transaction)
        while head.number < first and (event := next(events, None)) is not None:
            head = head.follow(event, self.name)
            folding.fold(state, event)
        return state, head

    def _is_archived(self, transaction: Transaction, known: Head) -> bool:
        """Whether an event that was known is in an archive, as the log says."""
        if known.number >= self.log.first(transaction):
            return False
        result = archives.named_in(self.log.of_kind(transaction, Kind.ARCHIVED))
        return bool(result) and known.number <= result[-1].head.number

    def _first(self, transaction: Transaction) -> tuple[State, Head, Iterator[Event]]:
        """The state of the first event, and the events that follow, archived ones as well."""
        events = archives.whole(self.log, transaction)
        created = next(events, None)
        if created is None or created.kind != Kind.CREATED or created.body is None:
            raise StateError(f"the log of study {self.name!r} does not begin with its creation")
        head = Head().follow(created, self.name)
        state = State.begin(StudySettings.from_json(created.body))
        folding.fold(state, created)
        return state, head, events

    def folded(self, until: int) -> State:
        """The state that the log alone gives, up to number `until`, whatever the snapshots say;
        StateError where the log was edited.
        """

        def fold(transaction: Transaction) -> State:
            last = Head(*self.log.noted(transaction))
            last.check(self.log.find(transaction, "number", last.number), self.name)
            state, head, events = self._first(transaction)
            for event in events:
                if event.number > until:
                    break
                head = head.follow(event, self.name)
                folding.fold(state, event)
            return state

        return self.storage.run(fold, write=False)
