"""What one does at a dispatcher, wherever its roster is kept: ends of jobs, servers, tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from belman.dispatch import metrics
from belman.dispatch.job_context import JobContext
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
                found = roster.job(job)
                end(roster, found, roster.duration(found, time, now), now)

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
        self._change(lambda roster, now: roster.paused.add(roster.known(server)))

    def resume(self, server: Hashable) -> None:
        """Give a paused server jobs again."""
        self._change(lambda roster, now: roster.paused.discard(roster.known(server)))

    # Looking

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a job has failed."""
        return self._look(lambda roster, now: roster.time_limit)

    @property
    def servers(self) -> tuple[Hashable, ...]:
        """The names of the servers."""
        return self._look(lambda roster, now: tuple(roster.completed))

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
        return self._look(lambda roster, now: _beliefs(roster, queue))

    def status(self) -> Table:
        """Per server: what it does now, and how many jobs it has completed and failed.

        Where servers have several slots, also how many are in use and how many there are; with a
        breaker, whether it is closed, open (the server rests) or half-open (on probation).
        """
        return self._look(lambda roster, now: _status(roster))

    def metrics(self) -> str:
        """Jobs, seconds, slots and breakers in the text format that Prometheus reads."""
        return self._look(lambda roster, now: metrics.text(roster, self._waiting()))

    def _waiting(self) -> int | None:
        """How many callers wait, where that is known."""
        return None

    def __repr__(self) -> str:
        return self._look(lambda roster, now: f"{type(self).__name__}({_summary(roster)})")


def _is_late(roster: Roster, job: Any) -> bool:
    """Whether a job ended before it was told to: it was over the time limit, and has failed."""
    is_gone = isinstance(job, Job) and roster.jobs.same(job) is None
    return is_gone and roster.time_limit is not None


def _beliefs(roster: Roster, queue: Hashable) -> Table:
    renamed = {"arm": "server", "expected cost": "expected time"}
    columns = dict(roster.agent(queue).beliefs().columns)
    if roster.learns == "time":
        for name in ("expected cost", "low", "high"):
            columns[name] = [value * (roster.unit or 1.0) for value in columns[name]]
    if roster.records:
        columns["failing"] = [roster.records[server].chance_of_failure for server in columns["arm"]]
    return Table({renamed.get(name, name): values for name, values in columns.items()})


def _status(roster: Roster) -> Table:
    columns: dict[str, list[Any]] = {"server": list(roster.completed), "now": []}
    free = set(roster.free())
    for server in roster.completed:
        idle = "paused" if server in roster.paused else "failing"
        state = "busy" if roster.jobs.count(server) else idle
        columns["now"].append("free" if server in free else state)
    columns["completed"] = list(roster.completed.values())
    columns["failed"] = list(roster.failed.values())
    slots = [slots.expected for slots in roster.slots.values()]
    if slots != [1] * len(slots):
        columns["under way"] = [roster.jobs.count(server) for server in roster.completed]
        columns["slots"] = slots
    if roster.records:
        columns["breaker"] = [r.condition(roster.sent) for r in roster.records.values()]
    return Table(columns)


def _summary(roster: Roster) -> str:
    done, lost = sum(roster.completed.values()), sum(roster.failed.values())
    count = len(roster.completed)
    servers, jobs = f"{count} server{'s' * (count != 1)}", f"{done} job{'s' * (done != 1)}"
    now = f"{jobs} completed, {lost} failed, {len(roster.jobs)} under way"
    return f"{servers}, learns={roster.learns!r}, {now}"
