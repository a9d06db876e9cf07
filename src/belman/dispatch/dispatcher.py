"""Which server gets the next job: an agent per queue chooses a free one, and learns how it went."""

from __future__ import annotations

import asyncio
import os
import threading
import time as clocks
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from belman.deciders import state_file
from belman.dispatch import roster_file
from belman.dispatch.breaker import Breaker
from belman.dispatch.desk import Desk
from belman.dispatch.jobs import Job, Waiter, WaitingLine, task_waker, thread_waker
from belman.dispatch.roster import Roster
from belman.dispatch.slots import LearntSlots
from belman.errors import BusyError
from belman.policies import Policy

T = TypeVar("T")


class Dispatcher(Desk):
    """Sends jobs to the servers that serve them best, and learns which these are.

    A free server is never kept idle while a job waits and the limit allows it: the best of the free
    servers gets the job, not a busy one that may be worth waiting for. All methods may be called
    from any thread; coroutines await `assign_async`. Both may write `with dispatcher.job() as
    server:`, coroutines with `async`.

    Parameters
    ----------
    servers
        Names of servers.
    learns
        "time" judges servers by how long a job takes (an exponential distribution of unknown rate),
        "success" by how often it succeeds.
    queues
        Names of queues, each with beliefs of its own.
    policy
        Thompson sampling by default: its choice among the free servers does not depend on which
        others are busy, while evidence against a busy leader would make the free ones take turns.
    limit
        The most jobs under way at once.
    penalty
        A failed job counts as one that took this many times the average.
    prior
        The belief about every server at first.
    discount
        Below 1, beliefs fade towards their priors.
    slots
        How many jobs a server takes at once: a number, a mapping by server, or "learnt"
        (`LearntSlots(most=…)`) to learn it.
    time_limit
        Seconds after which a job has failed.
    breaker
        `Breaker()` keeps failures apart from speed, and lets a server that fails too often rest.
    seed
        A whole number; the same seed gives the same choices.
    clock
        A function that gives the time in seconds.

    >>> dispatcher = Dispatcher(["near", "far"], slots={"near": 4}, seed=7)
    >>> server = dispatcher.assign()
    >>> dispatcher.completed(server, time=0.25)
    >>> with dispatcher.job() as server:
    ...     pass
    >>> dispatcher
    Dispatcher(2 servers, learns='time', 2 jobs completed, 0 failed, 0 under way)
    """

    def __init__(
        self,
        servers: Iterable[Hashable],
        *,
        learns: str = "time",
        queues: Iterable[Hashable] = (None,),
        policy: str | Policy | None = None,
        limit: int | None = None,
        penalty: float = 10.0,
        prior: ArrayLike | None = None,
        discount: float = 1.0,
        slots: int | str | LearntSlots | Mapping[Any, int | str | LearntSlots] = 1,
        time_limit: float | None = None,
        breaker: Breaker | None = None,
        seed: int | None = None,
        clock: Callable[[], float] = clocks.monotonic,
    ) -> None:
        given = locals()
        apart = ("self", "clock")
        settings = {name: value for name, value in given.items() if name not in apart}
        self._open(Roster(**settings), clock)

    def _open(self, roster: Roster, clock: Callable[[], float]) -> None:
        self._roster, self._clock = roster, clock
        self._line = WaitingLine()
        self._lock = threading.RLock()

    # Waiting

    def assign_job(self, queue: Hashable = None, *, timeout: float | None = 0.0) -> Job:
        """Begin the next job of a queue at the server that is to do it. Callers that wait are
        served in their order.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.
        timeout
            How many seconds to wait for a free server; 0 does not wait, and None waits for ever.

        Returns
        -------
        Job
            The job, whose `server` is busy from now on.

        Raises
        ------
        BusyError
            If no server has become free in time.
        ServerError
            If there is no such queue.
        """
        with self._lock:
            job = self._at_once(queue)
            if job is not None:
                return job
            wake, wait = thread_waker()
            waiter = self._line.join(queue, wake)
        until = None if timeout is None else clocks.monotonic() + timeout
        while not waiter.served:
            left = None if until is None else until - clocks.monotonic()
            if left is not None and left <= 0.0:
                break
            wait(self._shortest(left))
            self._change(lambda roster, now: None)  # a job may be over its limit
        with self._lock:
            self._line.leave(waiter)
            if not waiter.served:
                raise BusyError(self._roster.why_busy(len(self._line)))
            return waiter.job

    async def assign_job_async(self, queue: Hashable = None) -> Job:
        """Begin the next job of a queue, once a server is free for it and nobody waits who came
        before.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.

        Returns
        -------
        Job
            The job, whose `server` is busy from now on.
        """
        with self._lock:
            job = self._at_once(queue)
            if job is not None:
                return job
            wake, woken = task_waker()
            waiter = self._line.join(queue, wake)
        try:
            while not woken.done():
                await asyncio.wait({woken}, timeout=self._shortest(None))
                self._change(lambda roster, now: None)
        except asyncio.CancelledError:
            self._leave(waiter)
            raise
        return waiter.job

    def _at_once(self, queue: Hashable) -> Job | None:
        """A job, unless none is free or others came before."""
        now = self._clock()
        self._roster.agent(queue)
        self._roster.expire(now)
        self._serve(now)
        return None if len(self._line) else self._roster.give(queue, now)

    def _leave(self, waiter: Waiter) -> None:
        with self._lock:
            self._line.leave(waiter)
            if waiter.served:
                self.release(waiter.job)

    def _shortest(self, left: float | None) -> float | None:
        """How long to sleep: no longer than until the next job is over its time limit."""
        with self._lock:
            expiry = self._roster.next_expiry()
        if expiry is None:
            return left
        sleep = max(expiry - self._clock(), 0.001)
        return sleep if left is None else min(left, sleep)

    @property
    def waiting(self) -> int:
        """How many callers wait for a server."""
        with self._lock:
            return len(self._line)

    def _waiting(self) -> int:
        return len(self._line)

    # Within the lock

    def _change(self, work: Callable[[Roster, float], T]) -> T:
        with self._lock:
            now = self._clock()
            self._roster.expire(now)
            try:
                return work(self._roster, now)
            finally:
                self._serve(now)

    def _look(self, work: Callable[[Roster, float], T]) -> T:
        with self._lock:
            return work(self._roster, self._clock())

    def _serve(self, now: float) -> None:
        roster = self._roster
        self._line.serve(
            lambda queue: roster.give(queue, now), lambda job: roster.take_back(job, now)
        )

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, atomically, with jobs under way, without waiting callers.

        Parameters
        ----------
        path
            The file.
        """
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """Return the whole state as text.

        Returns
        -------
        str
            JSON, for `from_json`.
        """
        return self._look(roster_file.write)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        clock: Callable[[], float] = clocks.monotonic,
    ) -> Dispatcher:
        """Read the dispatcher of a state file; jobs that were under way still are, until they end.

        Parameters
        ----------
        path
            The file.
        policy
            A policy in place of that of the file; needed where it is one of your own.
        clock
            A function that gives the time in seconds.

        Returns
        -------
        Dispatcher
            The dispatcher.

        Raises
        ------
        StateError
            If the file is damaged, or no state file.
        """
        text, source = state_file.fetch(path), os.fspath(path)
        return cls.from_json(text, source=source, policy=policy, clock=clock)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        source: str = "the state",
        policy: Policy | None = None,
        clock: Callable[[], float] = clocks.monotonic,
    ) -> Dispatcher:
        """Return the dispatcher of a text that `to_json` gave.

        Parameters
        ----------
        text
            The text.
        source
            What messages call the text.
        policy
            A policy in place of that of the text; needed where it is one of your own.
        clock
            A function that gives the time in seconds.

        Returns
        -------
        Dispatcher
            The dispatcher.

        Raises
        ------
        StateError
            If the text is damaged, or no state.
        """
        made = cls.__new__(cls)
        made._open(roster_file.read(text, source, policy, clock()), clock)
        return made
