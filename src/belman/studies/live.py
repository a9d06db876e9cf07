"""A state that keeps up with its log, and the transactions in which both grow."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from belman.errors import BelmanError, StateError, StorageError
from belman.studies.desk import Desk
from belman.studies.events import Kind
from belman.studies.log import Log
from belman.studies.session import Session
from belman.studies.settings import Settings
from belman.studies.state import State
from belman.studies.storage import Storage
from belman.studies.transaction import LostConnectionError

T = TypeVar("T")


class Live:
    """The state of a study in this process. It never holds what is not committed: after a failure
    it is read anew.
    """

    def __init__(self, name: str, storage: Storage, clock: Callable[[], float]) -> None:
        self.name, self.storage = name, storage
        self.id, self.secret = storage.find(name)
        self.log = Log(self.id)
        self._clock = clock
        self._lock = threading.RLock()
        self._state: State | None = None

    def look(self, reader: Callable[[State], T]) -> T:
        """What a reader makes of the state, with everything that is committed."""
        with self._lock:
            try:
                return reader(self._read())
            except LostConnectionError:
                return reader(self._read())

    def _read(self) -> State:
        state, self._state = self._state, None
        with self.storage.transaction(write=False) as session:
            self._state = self._caught_up(session, state)
        return self._state

    def transact(self, work: Callable[[Desk], T]) -> T:
        """Wait our turn, take in what others wrote, do the work, write it down; a refusal leaves
        everything as it was.
        """
        with self._lock:
            try:
                return self._attempt(work)
            except _NothingHappenedError:
                return self._attempt(work)

    def _attempt(self, work: Callable[[Desk], T]) -> T:
        state, self._state = self._state, None  # it comes back when what it holds is committed
        refusal: BelmanError | None = None
        result: Any = None
        writing = True
        try:
            with self.storage.transaction() as session:
                state = self._caught_up(session, state, lock=True)
                desk = Desk(self.name, self.secret, state, self.log, session, self._clock())
                try:
                    result = work(desk)
                except BelmanError as error:
                    if desk.dirty:
                        raise
                    refusal = error
                desk.flush()
                writing = False
        except LostConnectionError as error:
            if writing:
                raise _NothingHappenedError(*error.args) from error.__cause__
            raise
        self._state = state
        if refusal is not None:
            raise refusal
        return result

    def _caught_up(self, session: Session, state: State | None, lock: bool = False) -> State:
        if state is None:
            state = self._opened(session)
        for event in self.log.scroll(session, state.number, lock=lock):
            state.fold(event)
        return state

    def _opened(self, session: Session) -> State:
        """The state of the newest snapshot, or of the first event where there is none that can be
        read.
        """
        text = self.log.newest_snapshot(session)
        if text is not None:
            try:
                return State.from_text(text)
            except StateError:
                pass  # the log holds everything that the snapshot did
        return self._first(session)

    def _first(self, session: Session) -> State:
        created = self.log.where(session, "number", 1)
        if created is None or created.kind != Kind.CREATED or created.body is None:
            raise StateError(f"the log of study {self.name!r} does not begin with its creation")
        state = State(Settings.from_json(created.body))
        state.fold(created)
        return state

    def folded(self, until: int) -> State:
        """The state that the log alone gives, from its first event to number `until`, whatever the
        snapshots say.
        """
        with self.storage.transaction(write=False) as session:
            state = self._first(session)
            for event in itertools.takewhile(
                lambda event: event.number <= until, self.log.scroll(session, 1)
            ):
                state.fold(event)
            return state


class _NothingHappenedError(StorageError):
    """The storage went away before the commit: it is safe to try again, on a new connection."""
