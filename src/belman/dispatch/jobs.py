"""Jobs under way, and callers that wait for a server."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from belman.codec import Arm, Real, Whole


@dataclass(frozen=True, slots=True)
class Job:
    """A job under way.

    Attributes
    ----------
    number
        The number of the job: how many were sent so far, this one included.
    server
        The name of the server that does it.
    queue
        The name of the queue that it is from.
    began
        When it began, in seconds by the clock of the dispatcher.
    probe
        Whether its server is on probation (see `Breaker`).

    >>> Job(3, "near", "letters", 12.5).server
    'near'
    """

    number: Annotated[int, Whole(1, "sent")]
    server: Arm
    queue: Arm
    began: Real
    probe: bool = False  # of a server on probation


class JobBook:
    """All jobs under way, in the order in which they began."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._counts: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    def __contains__(self, number: int) -> bool:
        return number in self._jobs

    def same(self, job: Job) -> Job | None:
        """A job under way, as it is here; not another one that got its number after a state of
        before was put back.
        """
        own = self._jobs.get(job.number)
        is_same = own is not None and (own.server, own.queue) == (job.server, job.queue)
        return own if is_same else None

    def count(self, server: Hashable) -> int:
        """How many jobs a server has."""
        return self._counts.get(server, 0)

    def add(self, job: Job) -> None:
        """A job begins."""
        self._jobs[job.number] = job
        self._counts[job.server] = self.count(job.server) + 1

    def remove(self, job: Job) -> None:
        """A job has ended."""
        del self._jobs[job.number]
        self._counts[job.server] -= 1

    def oldest(self, server: Hashable) -> Job | None:
        """The job of a server that began first."""
        if not self.count(server):
            return None
        return next(job for job in self._jobs.values() if job.server == server)

    def begun_before(self, time: float) -> list[Job]:
        """The jobs that began no later than this."""
        return [job for job in self._jobs.values() if job.began <= time]

    @property
    def first(self) -> Job | None:
        """The job that began first of all."""
        return next(iter(self._jobs.values()), None)


class Waiter:
    """One place in the line: whose queue, the job to hand over, and how to wake its owner."""

    def __init__(self, queue: Any, wake: Callable[[], None]) -> None:
        self.queue = queue
        self.job: Any = None
        self.served = False
        self._wake = wake

    def hand_over(self, job: Any) -> bool:
        """Give the job to the caller; False if nobody waits, since its loop is closed."""
        try:
            self._wake()
        except RuntimeError:
            return False
        self.job, self.served = job, True
        return True


class WaitingLine:
    """Waiters in order, for the holder of the lock of the dispatcher."""

    def __init__(self) -> None:
        self._waiters: deque[Waiter] = deque()

    def __len__(self) -> int:
        return len(self._waiters)

    def join(self, queue: Any, wake: Callable[[], None]) -> Waiter:
        """A place at the end."""
        waiter = Waiter(queue, wake)
        self._waiters.append(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Give up a place, if it is still held."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def serve(self, give: Callable[[Any], Any], take_back: Callable[[Any], None]) -> None:
        """Hand jobs to the first in line, until `give(queue)` has none and answers None."""
        while self._waiters:
            job = give(self._waiters[0].queue)
            if job is None:
                return
            if not self._waiters.popleft().hand_over(job):
                take_back(job)


def thread_waker() -> tuple[Callable[[], None], Callable[[float | None], Any]]:
    """How to wake a thread, and how it waits (for a number of seconds, or for ever)."""
    event = threading.Event()
    return event.set, event.wait


def task_waker() -> tuple[Callable[[], None], asyncio.Future[None]]:
    """How to wake a coroutine from any thread, and what it awaits."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not future.done():
            future.set_result(None)

    def wake() -> None:
        loop.call_soon_threadsafe(settle)

    return wake, future
