"""The studies that a service has open, each behind a group commit, and threads to work on them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

from belman.errors import BelmanError, UnknownStudyError, listing, nearest
from belman.service.keys import Key, Keys
from belman.service.metrics import Metrics
from belman.service.problems import RefusedError
from belman.studies import Ask, Storage, Study, Tell, Ticket

T = TypeVar("T")
Answer = list[Ticket] | bool

MAX_OPEN_STUDIES = 1_000
MAX_WAITING = 10_000
MAX_BATCH = 256
MAX_CACHED_KEYS = 10_000
KEY_CACHE_SECONDS = 5.0  # for so long a revoked key may still work, and a new one may not yet


class GroupCommit:
    """Asks and tells of one study, in their order; a busy disk gathers them in one transaction."""

    def __init__(self, study: Study, executor: Executor, watch: Callable[[int], None]) -> None:
        self.study = study
        self._executor, self._watch = executor, watch
        self._waiting: list[tuple[Ask | Tell, asyncio.Future[Answer]]] = []
        self._worker: asyncio.Task[None] | None = None

    def submit(self, request: Ask | Tell) -> asyncio.Future[Answer]:
        """The tickets of an ask, or whether a tell was news; the study's error if it refuses."""
        if len(self._waiting) >= MAX_WAITING:
            detail = f"{MAX_WAITING:,} requests wait for this study already: try again"
            raise RefusedError(503, detail, {"Retry-After": "1"})
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return future

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            self._watch(len(batch))
            requests = [request for request, _ in batch]
            try:
                together = self.study.together
                answers = await loop.run_in_executor(self._executor, together, requests)
            except Exception as error:
                for _, future in batch:
                    _settle(future, error)
            else:
                for (_, future), answer in zip(batch, answers, strict=True):
                    _settle(future, answer)
        self._worker = None


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # the caller has gone; its ticket stays, and expires by the study's rule
        return
    if isinstance(answer, Exception):
        future.set_exception(_own(answer))
    else:
        future.set_result(answer)


def _own(error: Exception) -> Exception:
    """An exception that one waiter may raise while others raise theirs."""
    return type(error)(*error.args) if isinstance(error, BelmanError) else error


class Registry:
    """Opens studies at their first use; what blocks runs in a thread, never on the event loop."""

    def __init__(self, storage: Storage, metrics: Metrics, require_keys: bool) -> None:
        self.storage, self.metrics = storage, metrics
        self.keys = Keys(storage)
        self.stopping = asyncio.Event()
        self._require_keys = require_keys
        self._threads = ThreadPoolExecutor(12, thread_name_prefix="belman")
        self._open: OrderedDict[str, GroupCommit] = OrderedDict()
        self._cache: dict[str, tuple[float, Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a blocking call gives."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def names(self, query: str) -> list[str]:
        """The names of the studies with `query` in their name."""
        words = query.casefold()
        names = await self.in_thread(self.storage.names)
        return [name for name in names if words in name.casefold()]

    async def group_commit(self, name: str) -> GroupCommit:
        """A study for asks and tells."""
        found = self._open.get(name)
        if found is None:
            study = await self.in_thread(self._opened, name)
            opened = GroupCommit(study, self._threads, self.metrics.batch_size.observe)
            found = self._open.setdefault(name, opened)
            while len(self._open) > MAX_OPEN_STUDIES:
                self._open.popitem(last=False)
        self._open.move_to_end(name)
        return found

    async def study(self, name: str) -> Study:
        """A study for everything else."""
        return (await self.group_commit(name)).study

    def _opened(self, name: str) -> Study:
        try:
            return Study(name, self.storage)
        except UnknownStudyError:
            names = self.storage.names()
            there = f"are {listing(names)}{nearest(name, names)}" if names else "is none yet"
            raise UnknownStudyError(f"no study {name!r}: there {there}") from None

    async def key(self, given: str) -> Key | None:
        """The key that was given, as the storage knew it at most a few seconds ago."""
        return await self._cached(given, lambda: self.keys.find(given))

    async def requires_key(self) -> bool:
        """Whether a request needs a key: off loopback, and as soon as there ever was one."""
        return self._require_keys or await self._cached("", self.keys.any)

    async def _cached(self, what: str, look: Callable[[], T]) -> T:
        now = time.monotonic()
        until, found = self._cache.get(what, (0.0, None))
        if now >= until:
            found = await self.in_thread(look)
            if len(self._cache) >= MAX_CACHED_KEYS:
                self._cache.clear()
            self._cache[what] = (now + KEY_CACHE_SECONDS, found)
        return found

    def start_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin a background task, which ends with the service at the latest."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel the background tasks, and finish the rest."""
        self.stopping.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.shutdown(wait=True)
        self.storage.close()
