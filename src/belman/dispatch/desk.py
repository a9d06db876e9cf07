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
        """Begin the next job of a queue at the server that is to do it.

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

    @abstractmethod
    async def assign_job_async(self, queue: Hashable = None) -> Job:
        """Begin the next job of a queue, once a server is free for it.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.

        Returns
        -------
        Job
            The job, whose `server` is busy from now on.
        """

    # Jobs

    def assign(self, queue: Hashable = None, *, timeout: float | None = 0.0) -> Any:
        """Begin the next job of a queue, as `assign_job` does.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.
        timeout
            How many seconds to wait for a free server; 0 does not wait, and None waits for ever.

        Returns
        -------
        Any
            The name of the server, which is busy from now on.

        Raises
        ------
        BusyError
            If no server has become free in time.
        """
        return self.assign_job(queue, timeout=timeout).server

    async def assign_async(self, queue: Hashable = None) -> Any:
        """Begin the next job of a queue, once a server is free for it.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.

        Returns
        -------
        Any
            The name of the server, which is busy from now on.
        """
        return (await self.assign_job_async(queue)).server

    def completed(self, job: Any, *, time: float | None = None) -> None:
        """Say that a job is done, and learn from how it went.

        The end of a job that was over the time limit is ignored: it has failed already.

        Parameters
        ----------
        job
            The job, or the name of its server, for the oldest job there.
        time
            How many seconds it took; by default those that passed since it began.

        Raises
        ------
        ServerError
            If no such job is under way, or `time` is below 0.
        """
        self._ended(job, time, Roster.complete)

    def failed(self, job: Any, *, time: float | None = None) -> None:
        """Say that a job has failed, which is ignored if it was over the time limit.

        With a breaker, that says nothing of the server's speed. Without, where times are learnt, it
        counts as `penalty` average times, or as the time given if that is more.

        Parameters
        ----------
        job
            The job, or the name of its server, for the oldest job there.
        time
            How many seconds it took; by default those that passed since it began.

        Raises
        ------
        ServerError
            If no such job is under way, or `time` is below 0.
        """
        self._ended(job, time, Roster.fail)

    def release(self, job: Any) -> None:
        """Take a job back: its slot is free again, and nothing is learnt.

        That is ignored if the job was over the time limit.

        Parameters
        ----------
        job
            The job, or the name of its server, for the oldest job there.

        Raises
        ------
        ServerError
            If no such job is under way.
        """

        def work(roster: Roster, now: float) -> None:
            if not _is_late(roster, job):
                roster.take_back(roster.job(job), now)

        self._change(work)

    def job(self, queue: Hashable = None, *, timeout: float | None = None) -> JobContext:
        """Do a job in a block: `with dispatcher.job() as server:`, or `async with`.

        The block waits for a server, and its time is that of the job. An exception is a failure.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.
        timeout
            How many seconds a thread waits for a free server; by default for ever, as coroutines
            always do.

        Returns
        -------
        JobContext
            The context manager, which gives the name of the server.
        """
        return JobContext(self, queue, timeout)

    async def told_async(self, tell: Callable[[Any], None], job: Any) -> None:
        """Tell the end of a job from a coroutine.

        Parameters
        ----------
        tell
            `completed`, `failed` or `release` of this dispatcher.
        job
            The job, or the name of its server.
        """
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
        """Take a new server into service.

        Parameters
        ----------
        server
            The name of the server.
        prior
            The belief about it at first; by default that of the dispatcher.
        """
        self._change(lambda roster, now: roster.add_server(server, prior))

    def remove_server(self, server: Hashable) -> None:
        """Take a server out of service for ever, with all that was learnt of it.

        Parameters
        ----------
        server
            The name of the server.

        Raises
        ------
        ServerError
            If there is no such server, or it has a job under way.
        """
        self._change(lambda roster, now: roster.remove_server(server))

    def pause(self, server: Hashable) -> None:
        """Give a server no more jobs; those under way go on.

        Parameters
        ----------
        server
            The name of the server.

        Raises
        ------
        ServerError
            If there is no such server.
        """
        self._change(lambda roster, now: roster.pause(server, True))

    def resume(self, server: Hashable) -> None:
        """Give a paused server jobs again.

        Parameters
        ----------
        server
            The name of the server.

        Raises
        ------
        ServerError
            If there is no such server.
        """
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
        """Tabulate what is believed of the servers.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.

        Returns
        -------
        Table
            A row for each server: jobs, expected seconds (or chance of success) with an interval,
            and the probability of being best. With a breaker, also the chance of failure that is
            expected of its last jobs.
        """
        return self._look(lambda roster, now: views.beliefs(roster, queue))

    def status(self) -> Table:
        """Tabulate what the servers do.

        Returns
        -------
        Table
            A row for each server: what it does now, and how many jobs it has completed and failed.
            Where servers have several slots, also how many are in use and how many there are; with
            a breaker, whether it is closed, open (the server rests) or half-open (on probation).
        """
        return self._look(lambda roster, now: views.status(roster))

    def metrics(self) -> str:
        """Return counts of jobs, seconds, slots and the state of breakers for monitoring.

        Returns
        -------
        str
            The text format that Prometheus reads.
        """
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
