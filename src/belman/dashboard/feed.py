"""A study as a stream: one producer works out a view when the study moved, for all who watch."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from belman.dashboard.judgement import Judgement
from belman.dashboard.view import PLAIN, Snapshot, Wanted
from belman.errors import StorageError
from belman.service.registry import Registry
from belman.service.views import encoded
from belman.studies import Study

T = TypeVar("T")

log = logging.getLogger("belman.service")

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 10.0
CHECK_SECONDS = 1.0  # after which a stream asks whether its key is still good
MAX_VIEWS = 100  # of one moment that are kept for those who ask again
MAX_SECONDS = 600.0  # seconds after which a stream ends, and its key is asked for anew
SHARE_OF_TIME = 0.1  # that views of all studies together may take
MOST_SECONDS = 5.0  # between one view and the next, however long the first one took


class Pace:
    """Works one thing after another, and rests nine times as long as each kept a core busy."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._turn = asyncio.Lock()
        self._rested = 0.0

    async def work(self, work: Callable[..., T], *arguments: Any) -> T:
        """What the work gives, once it is its turn."""
        async with self._turn:
            await asyncio.sleep(max(self._rested - time.monotonic(), 0.0))
            busy = 0.0

            def measured() -> T:
                nonlocal busy
                started = time.thread_time()
                try:
                    return work(*arguments)
                finally:
                    busy = time.thread_time() - started

            try:
                return await self._registry.watch(measured)
            finally:
                pause = min(busy * (1.0 / SHARE_OF_TIME - 1.0), MOST_SECONDS)
                self._rested = time.monotonic() + pause


class Feed:
    """The views of one study, each worked out once for everybody who wants it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._lock = threading.Lock()
        self._judgement = Judgement(study.name)
        self._snapshot: Snapshot | None = None
        self._moment = (0, 0, 0, 0)
        self._views: dict[Wanted, bytes] = {}  # of this snapshot
        self._watchers: Counter[Wanted] = Counter()
        self._news: dict[Wanted, bytes] = {}  # what watchers are to hear, the newest only
        self._trouble: bytes | None = None
        self._moved = asyncio.Event()
        self._wanted = asyncio.Event()
        self._producer: asyncio.Task[None] | None = None

    # Looking, in a thread

    def _now(self) -> Snapshot:
        moment = self.study.moment
        if self._snapshot is None or self._moment != moment:
            self._moment = moment
            self._snapshot = Snapshot(self.study.name, *self.study.copied())
            self._views = {}
            self._judgement.begin(self._snapshot.state, self._snapshot.now)
        return self._snapshot

    def view(self, wanted: Wanted = PLAIN) -> dict[str, Any]:
        """What the page shows now."""
        with self._lock:
            return {**self._now().view(wanted), "report": self._judgement.report}

    def views(self, wanted: Sequence[Wanted]) -> dict[Wanted, bytes]:
        """The same as JSON, for everybody who watches; a verdict changes nothing but itself."""
        with self._lock:
            snapshot = self._now()
            kept, self._views = self._views, {}
            for one in wanted:
                result = kept.pop(one, None)
                self._views[one] = encoded(snapshot.view(one)) if result is None else result
            now = dict(self._views)
            for one in itertools.islice(kept, MAX_VIEWS):
                self._views[one] = kept[one]
            verdict = b', "report": %s}' % encoded(self._judgement.report)
            return {one: view[:-1] + verdict for one, view in now.items()}

    def judge(self) -> bool:
        """Work out the whole verdict of this moment, if it is time to: whether it was."""
        with self._lock:
            snapshot, moment = self._now(), self._moment
        return self._judgement.complete(snapshot.state, snapshot.now, moment)

    @property
    def judged(self) -> Hashable:
        """What changes with every verdict."""
        return self._judgement.version

    def search(self, query: str, most: int) -> dict[str, Any]:
        """Arms whose name holds the words."""
        with self._lock:
            snapshot = self._now()
            rows = snapshot.rows(snapshot.result(query, most))
            return {"arms": rows, "of": len(snapshot.ids)}

    # Watching, on the event loop

    @property
    def is_watched(self) -> bool:
        """Whether anybody watches."""
        return bool(self._watchers)

    @contextmanager
    def watched(self, wanted: Wanted, registry: Registry, pace: Pace) -> Iterator[None]:
        """One watcher more, for whom views are made as long as the context lasts."""
        self._watchers[wanted] += 1
        self._wanted.set()
        if self._producer is None or self._producer.done():
            self._producer = registry.start_task(self._produce(registry, pace))
        try:
            yield
        finally:
            self._watchers[wanted] -= 1
            if not self._watchers[wanted]:
                del self._watchers[wanted]
                self._news.pop(wanted, None)

    def news(self, wanted: Wanted) -> bytes | None:
        """The newest event for this watcher, if there is one yet."""
        return self._trouble or self._news.get(wanted)

    async def moved(self, seconds: float) -> None:
        """Wait until there is something new, so long at most."""
        await _wait(seconds, self._moved)

    async def _produce(self, registry: Registry, pace: Pace) -> None:
        """Work out views as long as somebody watches; what nobody took is replaced, not kept."""
        judging = None
        while self._watchers and not registry.stopping.is_set():
            self._wanted.clear()
            try:
                self._publish(await pace.work(self.views, list(self._watchers)))
            except StorageError:
                self._trouble = _event("trouble", b'{"detail": "the storage cannot be reached"}')
            except Exception:
                log.exception("the study %r cannot be shown", self.study.name)
                self._trouble = _event("trouble", b'{"detail": "this study cannot be shown"}')
            self._tell()
            if not self._trouble and (judging is None or judging.done()):
                judging = registry.start_task(self._judge(registry))
            await _wait(POLL_SECONDS, self._wanted, registry.stopping)
        self._moved.set()

    async def _judge(self, registry: Registry) -> None:
        """Work out the verdict beside the views, and let it be shown at once."""
        try:
            if await registry.deliberate(self.judge):
                self._wanted.set()
        except StorageError:
            pass  # the views say so
        except Exception:
            log.exception("the study %r cannot be judged", self.study.name)

    def _tell(self) -> None:
        """Wake all who wait for something new."""
        self._moved.set()
        self._moved = asyncio.Event()

    def _publish(self, views: dict[Wanted, bytes]) -> None:
        self._trouble = None
        for wanted, view in views.items():
            event = _event("view", view)
            if wanted in self._watchers and self._news.get(wanted) != event:
                self._news[wanted] = event


async def stream(
    feed: Feed, registry: Registry, pace: Pace, wanted: Wanted, key: str | None
) -> AsyncIterator[bytes]:
    """Server-sent events: `view` when the study moved, `trouble` while its storage is away.

    A watcher who reads slowly gets the newest view when ready for it, and none of those between.
    The stream ends when the key that opened it is revoked.
    """
    clock = registry.clock
    known, spoke, began = None, clock(), clock()
    with feed.watched(wanted, registry, pace):
        while not registry.stopping.is_set() and clock() - began < MAX_SECONDS:
            try:
                if not await registry.admits(key):
                    return
            except StorageError:
                pass  # who has trouble to look at keys has nothing to show either
            news = feed.news(wanted)
            if news is not None and news is not known:
                known, spoke = news, clock()
                yield news
            elif clock() - spoke > HEARTBEAT_SECONDS:
                spoke = clock()
                yield b": still here\n\n"
            else:
                await feed.moved(CHECK_SECONDS)


def _event(name: str, content: bytes) -> bytes:
    """One server-sent event.

    >>> _event("view", b'{"number": 3}')
    b'event: view\\ndata: {"number": 3}\\n\\n'
    """
    return b"event: %s\ndata: %s\n\n" % (name.encode(), content)


async def _wait(seconds: float, *events: asyncio.Event) -> None:
    """Wait until any of these has happened, so long at most."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
