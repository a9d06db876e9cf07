"""Jobs under way: whose they are, who serves them, since when."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """A job under way: its number, who serves it, whose it is, and when it began.

    >>> Job(3, "near", "letters", 12.5).server
    'near'
    """

    number: int
    server: Hashable
    queue: Hashable
    began: float
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
