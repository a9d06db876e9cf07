"""The client of a service for asyncio: requests run in threads, each with a pooled connection."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, Self, Unpack, overload

from belman.assignment import RemoteTicket
from belman.assignment.remote_study import Asked
from belman.bridges.in_threads import InThreads, changing, in_thread, reading
from belman.errors import BelmanError, ServiceError
from belman.service.client import Client, RemoteStudy
from belman.validate import require_whole

Given = Mapping[str, Any]


class AsyncClient(InThreads[Client]):
    """A service at `url`, awaited.

    Parameters
    ----------
    url, key, timeout, retries
        As those of `belman.Client`.
    connections
        How many requests may be under way at once; more wait for one of these.

    A request that is cancelled before it is sent is not sent. The tickets of an ask that is
    cancelled later are given back to the study, unless it had a key, with which the same tickets
    can be asked for again.

    >>> async def main():
    ...     async with belman.AsyncClient("http://127.0.0.1:8000") as client:
    ...         study = await client.create("page", ["a", "b"])
    ...         ticket = await study.ask()
    ...         await study.tell(ticket, 1)
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 6,
        connections: int = 16,
    ) -> None:
        require_whole("connections", connections, 1)
        self._client = Client(url, key, timeout=timeout, retries=retries)
        self._threads = ThreadPoolExecutor(connections, "belman-client")
        self._is_closed = False

    def _position(self, reading: bool) -> tuple[Client, ThreadPoolExecutor]:
        if self._is_closed:
            raise ServiceError("this client is closed")
        return self._client, self._threads

    studies = reading(Client.studies)

    async def study(self, name: str) -> AsyncRemoteStudy:
        """Open a study of the service.

        Parameters
        ----------
        name
            The name of the study.

        Returns
        -------
        AsyncRemoteStudy
            The study.

        Raises
        ------
        UnknownStudyError
            If there is no study of that name.
        """
        return AsyncRemoteStudy(self, await self.run(lambda client: client.study(name)))

    async def create(
        self, name: str, arms: Iterable[Hashable] | None = None, **settings: Any
    ) -> AsyncRemoteStudy:
        """Open a study of the service, and create it first if there is none of that name.

        Parameters
        ----------
        name
            The name of the study.
        arms
            The names of its arms.
        settings
            Settings of `belman.open_study`.

        Returns
        -------
        AsyncRemoteStudy
            The study.
        """
        work = partial(Client.create, name=name, arms=arms, **settings)
        return AsyncRemoteStudy(self, await self.run(work))

    async def close(self) -> None:
        """Finish the requests that are under way, and close the connections."""
        self._is_closed = True
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Async{self._client!r}"


class AsyncRemoteStudy(InThreads[RemoteStudy]):
    """A study of a service, awaited; its methods are those of `RemoteStudy`."""

    def __init__(self, client: AsyncClient, study: RemoteStudy) -> None:
        self.client, self.name = client, study.name
        self._study = study

    def _position(self, reading: bool) -> tuple[RemoteStudy, ThreadPoolExecutor]:
        return self._study, self.client._position(reading)[1]

    @overload
    async def ask(self, n: None = None, **asked: Unpack[Asked]) -> RemoteTicket: ...
    @overload
    async def ask(self, n: int, **asked: Unpack[Asked]) -> list[RemoteTicket]: ...
    async def ask(self, n: int | None = None, **asked: Unpack[Asked]) -> Any:
        """A ticket for the arm to try now, or a list of `n`; the same `key`, the same tickets."""
        study, threads = self._position(False)
        count = 1 if n is None else n
        asking = _Asking(lambda: study.ask(count, **asked), study)
        try:
            tickets = await in_thread(threads, asking.run)
        except asyncio.CancelledError:
            if asked.get("key") is None:
                asking.cancel(threads)
            raise
        return tickets[0] if n is None else tickets

    tell = changing(RemoteStudy.tell)
    tell_many = changing(RemoteStudy.tell_many)
    give_back = changing(RemoteStudy.give_back)
    correct = changing(RemoteStudy.correct)
    observe = changing(RemoteStudy.observe)
    correct_rows = changing(RemoteStudy.correct_rows)
    publish = changing(RemoteStudy.publish)
    weights = reading(RemoteStudy.weights)
    status = reading(RemoteStudy.status)
    beliefs = reading(RemoteStudy.beliefs)
    contexts = reading(RemoteStudy.contexts)
    report = reading(RemoteStudy.report)
    metrics = reading(RemoteStudy.metrics)
    spending = reading(RemoteStudy.spending)
    explain = reading(RemoteStudy.explain)
    changes = reading(RemoteStudy.changes)
    export = reading(RemoteStudy.export)
    pause = changing(RemoteStudy.pause)
    resume = changing(RemoteStudy.resume)
    add_arm = changing(RemoteStudy.add_arm)
    retire_arm = changing(RemoteStudy.retire_arm)
    ship = changing(RemoteStudy.ship)
    unship = changing(RemoteStudy.unship)
    set_exposure = changing(RemoteStudy.set_exposure)
    set_guard = changing(RemoteStudy.set_guard)
    spend = changing(RemoteStudy.spend)
    archive = changing(RemoteStudy.archive)
    restore = changing(RemoteStudy.restore)
    delete = changing(RemoteStudy.delete)

    def __repr__(self) -> str:
        return f"Async{self._study!r}"


class _Asking:
    """An ask in a thread, whose tickets go back where nobody waits for them any more."""

    def __init__(self, ask: Callable[[], list[RemoteTicket]], study: RemoteStudy) -> None:
        self._ask, self._study = ask, study
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._tickets: list[RemoteTicket] = []

    def run(self) -> list[RemoteTicket]:
        result = self._ask()
        with self._lock:
            self._tickets = result
            if not self._is_cancelled:
                return result
        self._give_back()
        return result

    def cancel(self, threads: Executor) -> None:
        with self._lock:
            self._is_cancelled = True
            has_answer = bool(self._tickets)
        if has_answer:
            threads.submit(self._give_back)

    def _give_back(self) -> None:
        with contextlib.suppress(BelmanError):  # they expire by the study's rule
            self._study.give_back(self._tickets)
