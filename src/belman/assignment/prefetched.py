"""Tickets that are asked for ahead, so that an ask of one does not wait for the service.

A thread of its own fetches them, many with one request, and gives back those that nobody took while
they were fresh. How many it fetches at a time doubles while they are taken, and halves when some
are not: whoever asks now and then has few of them out.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .messages import RemoteTicket
from .refusals import BelmanError, ServiceError, SettingError

if TYPE_CHECKING:
    from .remote_study import AnyRemoteStudy

#: Tickets of one request.
MOST = 1_000


class Counts(NamedTuple):
    """What became of the tickets: here and fresh, handed out, given back (or about to be)."""

    here: int
    taken: int
    returned: int


class Prefetched:
    """The asks of a study, ahead of their time; `ask` is safe from any thread.

    After a fork the child fetches tickets of its own. `close` gives back what is left; a process
    that dies leaves its tickets to the study's rule for those that nobody tells.

    Parameters
    ----------
    study
        The study of a service.
    ahead
        The most tickets that are here at a time, from 1 to 1,000; they count as outstanding.
    oldest
        For how many seconds a ticket may be here before it is handed out; then it is given back.
    attributes
        Values by name that every ticket gets, for reports.
    clock
        A function that gives seconds, and never goes back.
    """

    def __init__(
        self,
        study: AnyRemoteStudy[Any],
        ahead: int,
        oldest: float,
        attributes: Mapping[str, Any] | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(ahead, int) or not 1 <= ahead <= MOST or not oldest > 0.0:
            allowed = f"give a whole number from 1 to {MOST:,}, and seconds above 0"
            raise SettingError(f"ahead={ahead!r} and oldest={oldest!r}: {allowed}")
        self.study, self.ahead, self.oldest = study, ahead, oldest
        self._attributes, self._clock = attributes, clock
        self._begin()

    def _begin(self) -> None:
        """What belongs to this process alone."""
        self._changed = threading.Condition()
        self._stock: deque[tuple[float, RemoteTicket]] = deque()  # and until when each is fresh
        self._stale: list[RemoteTicket] = []
        self._size, self._is_wanted = 1, False
        self._is_too_much = False  # some of the last fetch were taken by nobody
        self._fetches = 0  # that were begun
        self._refused = 0  # the last fetch that was, counted from 1, and why
        self._failure: BelmanError | None = None
        self._taken = self._returned = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._process = os.getpid()  # at last: from now on other threads use what is here

    def ask(self) -> RemoteTicket:
        """Take a ticket for the arm to try now; wait for the service only where none is here.

        Returns
        -------
        RemoteTicket
            The ticket.

        Raises
        ------
        BelmanError
            What the study or the service refuses an ask with.
        SettingError
            If this object was closed.
        """
        if self._process != os.getpid():
            self._begin()
        with self._changed:
            before = self._fetches
            while True:
                if self._closed:
                    raise SettingError("these tickets were closed: open others by prefetched()")
                self._sort_out()
                if self._stock:
                    return self._take()
                if self._refused > before and self._failure is not None:  # begun since this ask
                    raise type(self._failure)(*self._failure.args)
                self._want()
                self._changed.wait()

    def _take(self) -> RemoteTicket:
        self._taken += 1
        _, ticket = self._stock.popleft()
        if 2 * len(self._stock) < self._size:
            self._want()
        return ticket

    def _want(self) -> None:
        self._is_wanted = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="belman-asks", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _sort_out(self) -> None:
        """Tickets that are fresh no more are for nobody."""
        now = self._clock()
        while self._stock and self._stock[0][0] <= now:
            self._stale.append(self._stock.popleft()[1])
            if not self._is_too_much:
                self._size, self._is_too_much = max(1, self._size // 2), True

    @property
    def counts(self) -> Counts:
        """What became of the tickets so far, in this process."""
        with self._changed:
            return Counts(len(self._stock), self._taken, self._returned + len(self._stale))

    # The thread

    def _work(self) -> None:
        """Fetch what is wanted and give back what is stale, until closed."""
        while True:
            with self._changed:
                self._sort_out()
                while not (self._closed or self._is_wanted or self._stale):
                    fresh = self._stock[0][0] - self._clock() if self._stock else None
                    self._changed.wait(fresh)
                    self._sort_out()
                if self._closed:
                    return
                wanted = self._size - len(self._stock) if self._is_wanted else 0
                self._is_wanted = False
                self._fetches += wanted > 0
                stale, self._stale = self._stale, []
            if wanted > 0:
                self._fetch(wanted)
            if stale:
                self._give_back(stale)  # or once more, when the service is back

    def _fetch(self, wanted: int) -> None:
        failure: BelmanError | None = None
        result = list[RemoteTicket]()
        try:
            result = self.study.ask(wanted, attributes=self._attributes)
        except BelmanError as error:
            failure = error
        except Exception as error:  # or whoever asks would wait for a thread that is no more
            failure = ServiceError(f"asking ahead failed: {error!r}")
        with self._changed:
            until = self._clock() + self.oldest
            self._stock.extend((until, ticket) for ticket in result)
            if failure is not None:
                self._refused, self._failure = self._fetches, failure
            if not result:
                self._size = 1
            elif not self._is_too_much:
                self._size = min(2 * self._size, self.ahead)
            self._is_too_much = False
            self._changed.notify_all()

    def _give_back(self, tickets: list[RemoteTicket]) -> bool:
        """Whether they are not out any more; while the service is away they wait."""
        try:
            self.study.give_back(tickets)
        except ServiceError:
            with self._changed:
                self._stale += tickets
                if not self._closed:
                    self._changed.wait(self.oldest)
            return False
        except BelmanError:
            pass  # the study knows them no more: its log was restored, or it was deleted
        with self._changed:
            self._returned += len(tickets)
        return True

    # Its life

    def close(self) -> bool:
        """Stop, and give back the tickets that nobody took.

        Returns
        -------
        bool
            Whether the service has taken all of them back; the others expire by the study's rule.
        """
        if self._process != os.getpid():
            self._begin()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()
        with self._changed:
            left = [*self._stale, *(ticket for _, ticket in self._stock)]
            self._stale.clear()
            self._stock.clear()
        return not left or self._give_back(left)

    def __enter__(self) -> Prefetched:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Prefetched({self.study!r}, ahead={self.ahead}, {self.counts})"
