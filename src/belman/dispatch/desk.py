"""What one does at a dispatcher, wherever its roster is kept: ends of jobs, servers, tables."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from belman.dispatch import views
from belman.dispatch.jobs import Job
from belman.dispatch.roster import Roster
from belman.table import Table

T = TypeVar("T")


class Desk(ABC):
    """All that is asked of a roster at one moment; who waits is the business of its kinds.

    Where a job is ended, `job` is the `Job` that `assign_job` gave, or the name of its server,
    which stands for the oldest job there.
    """

    @abstractmethod
    def _change(self, work: Callable[[Roster, float], T]) -> T:
        """What some work on the roster gives, at this time, alone."""

    @abstractmethod
    def _look(self, work: Callable[[Roster, float], T]) -> T:
        """What some work gives that changes nothing."""

    @abstractmethod
    def assign_job(self, queue: Hashable = None, *, timeout: float | None = 0.0) -> Job:
        """The next job of a queue at the server that is to do it, which is busy from now on.

        If none is free, wait up to `timeout` seconds (None: for ever) for one, then raise
        BusyError.
        """

    @abstractmethod
    async def assign_job_async(self, queue: Hashable = None) -> Job:
        """The next job of a queue, once a server is free for it."""

    # Jobs

    def assign(self, queue: Hashable = None, *, timeout: float | None = 0.0) -> Any:
        """The server for the next job of a queue: that of `assign_job`."""
        return self.assign_job(queue, timeout=timeout).server

    async def assign_async(self, queue: Hashable = None) -> Any:
        """The server for the next job of a queue, once one is free."""
        return (await self.assign_job_async(queue)).server

    def completed(self, job: Any, *, time: float | None = None) -> None:
        """A job is done; `time` in seconds is taken from the clock unless it is given."""
        self._ended(job, time, Roster.complete)

    def failed(self, job: Any, *, time: float | None = None) -> None:
        """A job has failed.

        With a breaker, that says nothing of the server's speed. Without, where times are learnt, it
        counts as `penalty` average times, or as the time given if that is more.
        """
        self._ended(job, time, Roster.fail)

    def release(self, job: Any) -> None:
        """A job was taken back: its slot is free again, and nothing is learnt."""

        def work(roster: Roster, now: float) -> None:
            if not _is_late(roster, job):
                roster.take_back(roster.job(job), now)

        self._change(work)

    def job(self, queue: Hashable = None, *, timeout: float | None = None) -> JobContext:
        """`with dispatcher.job() as server:`, or `async with`: the block is the job.

        It waits for a server, in a thread up to `timeout` seconds, and measures the time. An
        exception is a failure.
        """
        return JobContext(self, queue, timeout)

    async def told_async(self, tell: Callable[[Any], None], job: Any) -> None:
        """Tell the end of a job from a coroutine."""
        tell(job)

    def _ended(
        self, job: Any, time: float | None, end: Callable[[Roster, Job, float, float], None]
    ) -> None:
        def work(roster: Roster, now: float) -> None:
            if not _is_late(roster, job):
                result = roster.job(job)
                end(roster, result, roster.duration(result, time, now), now)

        self._change(work)

    # Servers

    def add_server(self, server: Hashable, prior: ArrayLike | None = None) -> None:
        """Take a new server into service."""
        self._change(lambda roster, now: roster.add_server(server, prior))

    def remove_server(self, server: Hashable) -> None:
        """Take a server out of service for ever, with all that was learnt; it must not be busy."""
        self._change(lambda roster, now: roster.remove_server(server))

    def pause(self, server: Hashable) -> None:
        """Give a server no more jobs; one under way goes on."""
        self._change(lambda roster, now: roster.pause(server, True))

    def resume(self, server: Hashable) -> None:
        """Give a paused server jobs again."""
        self._change(lambda roster, now: roster.pause(server, False))

    # Looking

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a job has failed."""
        return self._look(lambda roster, now: roster.time_limit)

    @property
    def servers(self) -> tuple[Hashable, ...]:
        """The names of the servers."""
        return self._look(lambda roster, now: tuple(roster.servers))

    @property
    def free(self) -> tuple[Hashable, ...]:
        """Servers that could take a job now, the limit apart."""
        return self._look(lambda roster, now: tuple(roster.free()))

    @property
    def busy(self) -> dict[Hashable, Hashable]:
        """Servers with a job under way, and the queue that the oldest one is from."""
        return self._look(
            lambda roster, now: {job.server: job.queue for job in reversed(list(roster.jobs))}
        )

    @property
    def under_way(self) -> tuple[Job, ...]:
        """The jobs under way, in the order in which they began."""
        return self._look(lambda roster, now: tuple(roster.jobs))

    def beliefs(self, queue: Hashable = None) -> Table:
        """Per server: jobs, expected seconds (or chance of success) with interval, and P(best).

        With a breaker, also the chance of failure that is expected of its last jobs.
        """
        return self._look(lambda roster, now: views.beliefs(roster, queue))

    def status(self) -> Table:
        """Per server: what it does now, and how many jobs it has completed and failed.

        Where servers have several slots, also how many are in use and how many there are; with a
        breaker, whether it is closed, open (the server rests) or half-open (on probation).
        """
        return self._look(lambda roster, now: views.status(roster))

    def metrics(self) -> str:
        """Jobs, seconds, slots and breakers in the text format that Prometheus reads."""
        return self._look(lambda roster, now: views.metrics(roster, self._waiting()))

    def _waiting(self) -> int | None:
        """How many callers wait, where that is known."""
        return None

    def __repr__(self) -> str:
        return self._look(lambda roster, now: f"{type(self).__name__}({views.summary(roster)})")


def _is_late(roster: Roster, job: Any) -> bool:
    """Whether a job ended before it was told to: it was over the time limit, and has failed."""
    is_gone = isinstance(job, Job) and roster.jobs.same(job) is None
    return is_gone and roster.time_limit is not None


class JobContext:
    """The end of a job is told by how its block ends: an exception is a failure, a cancelled task
    takes its job back.

    Under a time limit the block of an `async with` is cancelled when its time is over, and raises
    TimeoutError. A thread cannot be ended from outside: its job counts as failed at that moment,
    its slot is free again, and what its block does afterwards changes nothing.
    """

    def __init__(self, desk: Desk, queue: Hashable, timeout: float | None) -> None:
        self._desk, self._queue, self._timeout = desk, queue, timeout
        self._job: Job | None = None
        self._limit: asyncio.Timeout | None = None

    def __enter__(self) -> Any:
        self._job = self._desk.assign_job(self._queue, timeout=self._timeout)
        return self._job.server

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end_for(kind)(self._job)

    async def __aenter__(self) -> Any:
        self._job = await self._desk.assign_job_async(self._queue)
        self._limit = asyncio.timeout(self._desk.time_limit)
        await self._limit.__aenter__()
        return self._job.server

    async def __aexit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        assert self._limit is not None
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            await self._desk.told_async(self._desk.failed, self._job)
            raise
        await self._desk.told_async(self._end_for(kind), self._job)

    def _end_for(self, kind: type[BaseException] | None) -> Any:
        if kind is None:
            return self._desk.completed
        return self._desk.failed if issubclass(kind, Exception) else self._desk.release
