"""The state of a study in this process, kept up with the log, and transactions for both to grow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast

from belman.errors import BelmanError, StateError
from belman.studies.event_log import EventLog, Kind
from belman.studies.settings import Settings
from belman.studies.state import State
from belman.studies.storage import Storage, Transaction
from belman.studies.unit_of_work import UnitOfWork

T = TypeVar("T")


class Replica:
    """What the log says of a study, never more than is committed; read anew after a failure."""

    def __init__(self, name: str, storage: Storage, clock: Callable[[], float]) -> None:
        self.name, self.storage = name, storage
        self.id, self.secret = storage.find(name)
        self.log = EventLog(self.id)
        self.clock = clock
        self._lock = threading.RLock()
        self._state: State | None = None
        self._ahead: State | None = None  # of the log, by windows that closed after the last event

    def look(self, reader: Callable[[State], T]) -> T:
        """What a reader makes of the state, with everything that is committed."""
        with self._lock:
            self._state = self.storage.run(self._caught_up, write=False)
            return reader(self._state)

    def look_now(self, reader: Callable[[State], T]) -> T:
        """What a reader makes of the state of this moment. Where windows have closed since the last
        event it is a copy's, since others may yet write events of an earlier time.
        """

        def read(state: State) -> T:
            now = self.clock()
            if self._ahead is None or self._ahead.number != state.number:
                self._ahead = state.copied() if state.tickets.due(now) else None
            shown = state if self._ahead is None else self._ahead
            if shown is not state:
                shown.close(now)
            shown.count_early(now, looking=True)
            return reader(shown)

        return self.look(read)

    def transact(self, work: Callable[[UnitOfWork], T]) -> T:
        """Wait our turn, take in what others wrote, work, write down; a refusal changes nothing."""

        def attempt(transaction: Transaction) -> tuple[State, T | None, BelmanError | None]:
            state = self._caught_up(transaction, lock=True)
            result, refusal = None, None
            unit = UnitOfWork(self.name, self.secret, state, self.log, transaction, self.clock())
            try:
                result = work(unit)
            except BelmanError as error:
                if unit.dirty:
                    raise
                refusal = error
            unit.flush()
            return state, result, refusal

        with self._lock:
            self._state, result, refusal = self.storage.run(attempt)
        if refusal is not None:
            raise refusal
        return cast("T", result)

    def _caught_up(self, transaction: Transaction, lock: bool = False) -> State:
        state, self._state = self._state, None  # it comes back when what it holds is committed
        if state is None:
            state = self._opened(transaction)
        for event in self.log.after(transaction, state.number, lock=lock):
            state.fold(event)
        return state

    def _opened(self, transaction: Transaction) -> State:
        """The state of the newest snapshot, or of the first event where none can be read."""
        text = self.log.newest_snapshot(transaction)
        if text is not None:
            try:
                return State.from_text(text)
            except StateError:
                pass  # the log holds everything that the snapshot did
        return self._first(transaction)

    def _first(self, transaction: Transaction) -> State:
        created = self.log.find(transaction, "number", 1)
        if created is None or created.kind != Kind.CREATED or created.body is None:
            raise StateError(f"the log of study {self.name!r} does not begin with its creation")
        state = State(Settings.from_json(created.body))
        state.fold(created)
        return state

    def folded(self, until: int) -> State:
        """The state that the log alone gives, up to number `until`, whatever the snapshots say."""

        def fold(transaction: Transaction) -> State:
            state = self._first(transaction)
            for event in self.log.after(transaction, 1):
                if event.number > until:
                    break
                state.fold(event)
            return state

        return self.storage.run(fold, write=False)
