"""`with dispatcher.job() as server:` and `async with` the same: the end of a job is told by how its
block ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from belman.dispatch.desk import Desk
    from belman.dispatch.jobs import Job


class JobContext:
    """One job: an exception is a failure, a cancelled task takes its job back.

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
