"""The studies that a service has open, and the threads that work on them: deciding has its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from belman.errors import UnknownStudyError, listing, nearest
from belman.service.keys import Key, Keys
from belman.service.limits import Limits
from belman.service.metrics import Metrics
from belman.service.problems import RefusedError
from belman.service.sharing import Recent, SharedReads
from belman.service.under_way import Exports, Streams
from belman.studies import Storage, Study, delete
from belman.studies.group_commit import GroupCommit

T = TypeVar("T")

MAX_OPEN_STUDIES = 1_000
MAX_READ_STUDIES = 100
MAX_KEPT_READS = 32
MAX_CACHED_KEYS = 10_000
KEY_CACHE_SECONDS = 3.0  # for so long a revoked key may still work, and a new one may not yet


class Registry:
    """Opens studies at their first use; what blocks runs in a thread, never on the event loop.

    Asks, tells and changes have threads of their own, and so has the look at keys, so that no
    number of readers keeps a decision waiting. Readers look at a copy of the study of their own,
    which follows the log, so that they do not hold the one that decides either.
    """

    def __init__(
        self,
        storage: Storage,
        metrics: Metrics,
        require_keys: bool,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.storage, self.metrics, self.clock = storage, metrics, clock
        self.limits = Limits() if limits is None else limits
        self.keys = Keys(storage)
        self.streams = Streams(self.limits, metrics)
        self.exports = Exports()
        self.stopping = asyncio.Event()
        self._require_keys = require_keys
        self._deciding = ThreadPoolExecutor(8, "belman-decide")
        self._correcting = ThreadPoolExecutor(1, "belman-correct")
        self._reading = ThreadPoolExecutor(2, "belman-read")
        self._watching = ThreadPoolExecutor(1, "belman-watch")
        self._deliberating = ThreadPoolExecutor(1, "belman-deliberate")
        self._door = ThreadPoolExecutor(2, "belman-door")
        self._parsing = ThreadPoolExecutor(1, "belman-parse")
        self._open: Recent[str, GroupCommit] = Recent(MAX_OPEN_STUDIES)
        self._read: Recent[str, Study] = Recent(MAX_READ_STUDIES)
        self._opening: SharedReads[Study] = SharedReads()
        self._shared: SharedReads[bytes] = SharedReads()
        self._kept: Recent[tuple[str, Hashable], tuple[object, bytes]] = Recent(MAX_KEPT_READS)
        self._looks: SharedReads[Any] = SharedReads()
        self._cache: dict[str, tuple[float, Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # Threads

    async def change(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a call gives that decides, learns or changes."""
        return await _run(self._deciding, work, *arguments)

    async def read(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a call gives that only reads."""
        return await _run(self._reading, work, *arguments)

    async def correct(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a correction gives, which may have to read the log: one after another."""
        return await _run(self._correcting, work, *arguments)

    async def watch(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a call gives that works for pages which watch: one after another."""
        return await _run(self._watching, work, *arguments)

    async def deliberate(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a call gives that takes long, and for which no page waits: one after another."""
        return await _run(self._deliberating, work, *arguments)

    async def at_the_door(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a call gives that a request needs before it is let in."""
        return await _run(self._door, work, *arguments)

    async def parse(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a call gives that reads a large body: one after another."""
        return await _run(self._parsing, work, *arguments)

    # Studies

    async def names(self, query: str, archived: bool = False) -> list[str]:
        """The names of the studies with `query` in their name that are, or are not, archived."""
        words = query.casefold()
        names = await self.read(self.storage.names, archived)
        return [name for name in names if words in name.casefold()]

    async def group_commit(self, name: str) -> GroupCommit:
        """A study for asks and tells."""
        result = self._open.used(name)
        if result is None:
            study = await self._opening.read(name, lambda: self.change(self._opened, name))
            opened = GroupCommit(study, self._deciding, self.metrics.batch_size.observe, _crowded)
            result = self._open.get(name, opened)  # unless another was faster
            self._open.keep(name, result)
        return result

    async def deciding_study(self, name: str) -> Study:
        """The study that decides, for changes."""
        return (await self.group_commit(name)).study

    async def study(self, name: str) -> Study:
        """A copy of the study for those who look."""
        result = self._read.used(name)
        if result is None:
            wanted = ("to read", name)
            opened = await self._opening.read(wanted, lambda: self.read(self._opened, name))
            result = self._read.get(name, opened)
            self._read.keep(name, result)
        return result

    async def delete(self, name: str, confirm: str, key: str | None) -> int:
        """Delete a study with its log: how many events it had."""
        try:
            result = await self.change(partial(delete, self.storage, name, confirm, key=key))
        except UnknownStudyError:
            raise await self.change(self._unknown, name) from None
        self.forget(name)
        return result

    def reopen(self, name: str) -> None:
        """Open a study anew at its next use, by the log that is there then."""
        try:
            self.storage.reopen(name)
        except UnknownStudyError:
            raise self._unknown(name) from None
        self.forget(name)

    def forget(self, name: str) -> None:
        """Open a study anew at its next use: it was deleted, and another may have its name."""
        self._open.pop(name, None)
        self._read.pop(name, None)
        for wanted in [wanted for wanted in self._kept if wanted[0] == name]:
            del self._kept[wanted]

    async def shared(self, study: Study, what: Hashable, work: Callable[[], bytes]) -> bytes:
        """A heavy read, shared by all who want it now, and kept until the study moves."""
        wanted = (study.name, what)

        async def read() -> bytes:
            moment = await self.read(lambda: study.moment)
            version, result = self._kept.used(wanted) or (None, b"")
            if version != moment:
                result = await self.read(work)
                self._kept.keep(wanted, (moment, result))
            return result

        return await self._shared.read(wanted, read)

    def _opened(self, name: str) -> Study:
        try:
            watch = self.metrics.changes.inc
            return Study(name, self.storage, limits=self.limits.of_studies, watch=watch)
        except UnknownStudyError:
            raise self._unknown(name) from None

    def _unknown(self, name: str) -> UnknownStudyError:
        """What is wrong with a name that no study has; where studies are kept is not said."""
        names = self.storage.names()
        there = f"are {listing(names)}{nearest(name, names)}" if names else "is none yet"
        return UnknownStudyError(f"no study {name!r}: there {there}")

    # Keys

    async def key(self, given: str) -> Key | None:
        """The key that was given, as the storage knew it at most a few seconds ago."""
        return await self._cached(given, lambda: self.keys.find(given))

    async def requires_key(self) -> bool:
        """Whether a request needs a key: off loopback, and as soon as there ever was one."""
        return self._require_keys or await self._cached("", self.keys.any)

    async def admits(self, given: str | None) -> bool:
        """Whether a caller with this key (or none) would be let in now."""
        if not await self.requires_key():
            return True
        return given is not None and await self.key(given) is not None

    async def _cached(self, what: str, look: Callable[[], T]) -> T:
        now = self.clock()
        until, result = self._cache.get(what, (0.0, None))
        if now >= until:
            result = await self._looks.read(what, lambda: self.at_the_door(look))
            if len(self._cache) >= MAX_CACHED_KEYS:
                self._cache.clear()
            self._cache[what] = (now + KEY_CACHE_SECONDS, result)
        return result

    # Its life

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
        deciding = (self._deciding, self._correcting, self._parsing, self._door)
        for threads in (*deciding, self._reading, self._watching, self._deliberating):
            threads.shutdown(wait=True)
        self.storage.close()


def _crowded(words: str) -> RefusedError:
    return RefusedError(503, words, {"Retry-After": "1"})


async def _run(threads: Executor, work: Callable[..., T], *arguments: Any) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)
