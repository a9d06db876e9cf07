"""A dispatcher for several processes: its roster is kept in a storage, and changed by one at a
time.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time as clocks
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

from belman.dispatch import roster_file
from belman.dispatch.desk import Desk
from belman.dispatch.jobs import Job
from belman.dispatch.roster import Roster
from belman.errors import BusyError, ServerError, SettingError
from belman.policies import Policy

T = TypeVar("T")

_TABLE = """CREATE TABLE IF NOT EXISTS belman_dispatchers (
    name TEXT NOT NULL PRIMARY KEY, revision BIGINT NOT NULL, time FLOAT NOT NULL, content TEXT
)"""
_ROW = "SELECT revision, time, content FROM belman_dispatchers WHERE name = ?"


class _Seen(NamedTuple):
    """A revision, its text, and the roster that it is."""

    revision: int
    content: str
    roster: Roster


class Storage(Protocol):
    """What is asked of a storage: `belman.studies.Storage` is one."""

    def run(self, work: Callable[[Any], T], *, write: bool = True) -> T:
        """What the work gives in one transaction."""


class SharedDispatcher(Desk):
    """A dispatcher that any number of processes use at once, by its name in a storage.

    Every call is one transaction; times are by the clock of the database. Give the end of a job as
    the `Job` that `assign_job` gave, or use `with dispatcher.job()`: a server's name stands for its
    oldest job, which may be another process's. A process that dies leaves its jobs under way;
    `time_limit` ends them. Servers are not shared fairly among processes that wait.

    Parameters
    ----------
    storage
        The storage that keeps it, a `belman.studies.Storage`.
    name
        The name of the dispatcher.
    servers
        Names of servers, for the process that creates it; without them it has to exist. Ignored
        where it exists.
    policy
        The policy of the dispatcher; needed in every process where it is one of your own.
    nap
        How many seconds pass before a caller that waits looks again.
    settings
        Other settings of `Dispatcher`, for the process that creates it.

    Raises
    ------
    ServerError
        If there is no dispatcher of that name, and no servers are given.

    >>> import belman, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = belman.studies.Storage(f"sqlite:///{folder.name}/studies.db")
    >>> one = SharedDispatcher(storage, "printers", ["near", "far"], slots=2, seed=7)
    >>> other = SharedDispatcher(storage, "printers")
    >>> with one.job():
    ...     other
    SharedDispatcher(2 servers, learns='time', 0 jobs completed, 0 failed, 1 under way)
    >>> storage.close(); folder.cleanup()
    """

    def __init__(
        self,
        storage: Storage,
        name: str,
        servers: Iterable[Hashable] | None = None,
        *,
        policy: Policy | None = None,
        nap: float = 0.02,
        **settings: Any,
    ) -> None:
        if not hasattr(storage, "run"):
            given = type(storage).__name__ if not isinstance(storage, str) else "a URL"
            remedy = "give belman.studies.Storage('postgresql://…') or Storage('sqlite:///…')"
            raise SettingError(f"storage is {given}, not a storage: {remedy}")
        self._storage, self._name, self._policy, self._nap = storage, name, policy, nap
        self._seen: _Seen | None = None
        self._lock = threading.Lock()
        first = None if servers is None else Roster(servers, policy=policy, **settings)

        def create(transaction: Any) -> None:
            transaction.execute(transaction.driver.lock_schema)
            transaction.execute(_TABLE)
            if transaction.rows(_ROW, name):
                return
            if first is None:
                remedy = "give servers=[…] to create it"
                raise ServerError(f"no dispatcher {name!r} in {storage}: {remedy}")
            now = transaction.now()
            row = (name, 0, now, roster_file.write(first, now))
            transaction.execute("INSERT INTO belman_dispatchers VALUES (?, ?, ?, ?)", *row)

        storage.run(create)
        self._time_limit = self._look(lambda roster, now: roster.time_limit)

    def _change(self, work: Callable[[Roster, float], T]) -> T:
        def alone(transaction: Any) -> T:
            # the row is ours from here, on any database, and what is read after is the latest
            take = "UPDATE belman_dispatchers SET revision = revision + 1 WHERE name = ?"
            transaction.execute(take, self._name)
            roster, now, revision = self._read(transaction, before=1)
            self._seen = None  # it comes back when what it holds is committed
            roster.expire(now)
            result = work(roster, now)
            put = "UPDATE belman_dispatchers SET time = ?, content = ? WHERE name = ?"
            content = roster_file.write(roster, now)
            transaction.execute(put, now, content, self._name)
            written[:] = [_Seen(revision, content, roster)]
            return result

        written: list[_Seen] = []
        with self._lock:
            result = self._storage.run(alone)
            self._seen = written[0]  # it was committed
            return result

    def _look(self, work: Callable[[Roster, float], T]) -> T:
        def read(transaction: Any) -> T:
            roster, now, _ = self._read(transaction)
            return work(roster, now)

        with self._lock:
            return self._storage.run(read, write=False)

    def _read(self, transaction: Any, before: int = 0) -> tuple[Roster, float, int]:
        """The roster, the time, and the revision; it is as kept here if nobody else changed it, nor
        put back what was there before.
        """
        source = f"dispatcher {self._name!r} of {self._storage}"
        result = transaction.rows(_ROW, self._name)
        if not result:
            raise ServerError(f"{source} is no more: it was deleted, or a backup was put back")
        revision, written, content = result[0]
        now = max(transaction.now(), written)
        if self._seen is None or self._seen[:2] != (revision - before, content):
            # jobs began so long before it was written
            roster = roster_file.read(content, source, self._policy, written)
            self._seen = _Seen(revision - before, content, roster)
        return self._seen.roster, now, revision

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a job has failed."""
        return self._time_limit

    def assign_job(self, queue: Hashable = None, *, timeout: float | None = 0.0) -> Job:
        """Begin the next job of a queue at the server that is to do it. Callers that wait are
        served in no particular order.

        Parameters
        ----------
        queue
            The name of the queue; None where the dispatcher has one without a name.
        timeout
            How many seconds to look for a free server again and again; 0 looks once, and None looks
            for ever.

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

        def give(roster: Roster, now: float) -> Job:
            job = roster.give(queue, now)
            if job is None:  # and nothing is written
                raise BusyError(roster.why_busy(0))
            return job

        until = None if timeout is None else clocks.monotonic() + timeout
        while True:
            try:
                return self._change(give)
            except BusyError:
                if until is not None and clocks.monotonic() >= until:
                    raise
            clocks.sleep(self._nap)

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
        while True:
            attempt = asyncio.create_task(asyncio.to_thread(self.assign_job, queue))
            try:
                return await asyncio.shield(attempt)
            except asyncio.CancelledError:
                with contextlib.suppress(BusyError):
                    await asyncio.to_thread(self.release, await attempt)
                raise
            except BusyError:
                await asyncio.sleep(self._nap)

    async def told_async(self, tell: Callable[[Any], None], job: Any) -> None:
        """Tell the end of a job from a coroutine, whose loop does not wait for the database.

        Parameters
        ----------
        tell
            `completed`, `failed` or `release` of this dispatcher.
        job
            The job, or the name of its server.
        """
        await asyncio.to_thread(tell, job)
