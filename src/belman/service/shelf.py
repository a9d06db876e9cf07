"""The studies that a service has open, and the threads in which it works on them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from belman.errors import UnknownStudyError, listing, nearest
from belman.service.gathering import Gathering
from belman.service.keys import Key, Keys
from belman.service.metrics import Metrics
from belman.studies import Storage, Study

T = TypeVar("T")

MOST_OPEN = 1_000
KEY_SECONDS = 5.0  # a key that was revoked may open the door for so long, and one that was not there may stay unknown
MOST_KEYS = 10_000


class Shelf:
    """Opens studies at their first use. Whatever blocks runs in a thread, so that the loop of the
    service never waits.
    """

    def __init__(self, storage: Storage, metrics: Metrics, closed: bool) -> None:
        self.storage, self.metrics = storage, metrics
        self.keys = Keys(storage)
        self.stopping = asyncio.Event()
        self._always_closed = closed
        self._threads = ThreadPoolExecutor(12, thread_name_prefix="belman")
        self._open: OrderedDict[str, Gathering] = OrderedDict()
        self._known: dict[str, tuple[float, Any]] = {}
        self._beside: set[asyncio.Task[None]] = set()

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a blocking call gives."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def gathering(self, name: str) -> Gathering:
        """The door to a study for asks and tells."""
        found = self._open.get(name)
        if found is None:
            study = await self.run(self._opened, name)
            found = self._open.setdefault(
                name, Gathering(study, self._threads, self.metrics.together.observe)
            )
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(name)
        return found

    async def study(self, name: str) -> Study:
        """A study for everything else."""
        return (await self.gathering(name)).study

    def _opened(self, name: str) -> Study:
        try:
            return Study(name, self.storage)
        except UnknownStudyError:
            names = self.storage.names()
            there = (
                f"there are {listing(names)}{nearest(name, names)}"
                if names
                else "there is none yet"
            )
            raise UnknownStudyError(f"no study {name!r}: {there}") from None

    async def key(self, given: str) -> Key | None:
        """The key that was given, as the storage knew it at most a few seconds ago."""
        return await self._lately(given, lambda: self.keys.find(given))

    async def is_closed(self) -> bool:
        """Whether a request needs a key: anywhere but on loopback, and as soon as there ever was
        one.
        """
        return self._always_closed or await self._lately("", self.keys.any)

    async def _lately(self, what: str, look: Callable[[], T]) -> T:
        now = time.monotonic()
        until, found = self._known.get(what, (0.0, None))
        if now >= until:
            found = await self.run(look)
            if len(self._known) >= MOST_KEYS:
                self._known.clear()
            self._known[what] = (now + KEY_SECONDS, found)
        return found

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin something that goes on beside the requests, until it is done or the service ends."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        return task

    async def close(self) -> None:
        """End what goes on beside, and finish the rest."""
        self.stopping.set()
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)
        self._threads.shutdown(wait=True)
        self.storage.close()
