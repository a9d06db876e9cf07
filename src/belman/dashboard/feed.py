"""A study as a stream: one producer works out a view when the study moved, for all who watch."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from belman.dashboard.pace import Pace
from belman.dashboard.timeline import Timeline
from belman.dashboard.view import Snapshot
from belman.errors import StorageError
from belman.service.registry import Registry
from belman.service.views import encoded, status
from belman.studies import Study

log = logging.getLogger("belman.service")

POLL_SECONDS = 0.5
HEARTBEAT_SECONDS = 10.0
CHECK_SECONDS = 1.0  # after which a stream asks whether its key is still good
MAX_VIEWS = 100  # of one moment that are kept for those who ask again
MAX_SECONDS = 600.0  # seconds after which a stream ends, and its key is asked for anew

Pinned = tuple[int, ...]


class Feed:
    """The views of one study, each worked out once for everybody who wants it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._lock = threading.Lock()
        self._timeline = Timeline(study.settings)
        self._snapshot: Snapshot | None = None
        self._moment = (0, 0, 0)
        self._views: dict[Pinned, bytes] = {}  # of this snapshot
        self._watchers: Counter[Pinned] = Counter()
        self._news: dict[Pinned, bytes] = {}  # what watchers are to hear, the newest only
        self._trouble: bytes | None = None
        self._moved = asyncio.Event()
        self._wanted = asyncio.Event()
        self._producer: asyncio.Task[None] | None = None

    # Looking, in a thread

    def _now(self) -> Snapshot:
        moment = self.study.moment
        if self._snapshot is None or self._moment != moment:
            study, self._moment = self.study, moment
            self._timeline.take(study.events(self._timeline.number), time.time())
            self._snapshot = Snapshot(moment[0], study.agent(), study.register, status(study))
            self._views = {}
        return self._snapshot

    def view(self, pinned: Sequence[int] = ()) -> dict[str, Any]:
        """What the page shows now."""
        with self._lock:
            return self._now().view(self._timeline, pinned)

    def views(self, wanted: Sequence[Pinned]) -> dict[Pinned, bytes]:
        """The same as JSON, for everybody who watches."""
        with self._lock:
            snapshot = self._now()
            kept, self._views = self._views, {}
            for pinned in wanted:
                found = kept.pop(pinned, None)
                view = encoded(snapshot.view(self._timeline, pinned)) if found is None else found
                self._views[pinned] = view
            found_now = dict(self._views)
            for pinned in itertools.islice(kept, MAX_VIEWS):
                self._views[pinned] = kept[pinned]
            return found_now

    def search(self, query: str, most: int) -> dict[str, Any]:
        """Arms whose name holds the words."""
        with self._lock:
            snapshot = self._now()
            rows = snapshot.rows(snapshot.found(query, most), self._timeline)
            return {"arms": rows, "of": len(snapshot.ids)}

    # Watching, on the event loop

    @property
    def is_watched(self) -> bool:
        """Whether anybody watches."""
        return bool(self._watchers)

    @contextmanager
    def watched(self, pinned: Pinned, registry: Registry, pace: Pace) -> Iterator[None]:
        """One watcher more, for whom views are made as long as the context lasts."""
        self._watchers[pinned] += 1
        self._wanted.set()
        if self._producer is None or self._producer.done():
            self._producer = registry.start_task(self._produce(registry, pace))
        try:
            yield
        finally:
            self._watchers[pinned] -= 1
            if not self._watchers[pinned]:
                del self._watchers[pinned]
                self._news.pop(pinned, None)

    def news(self, pinned: Pinned) -> bytes | None:
        """The newest event for this watcher, if there is one yet."""
        return self._trouble or self._news.get(pinned)

    async def moved(self, seconds: float) -> None:
        """Wait until there is something new, so long at most."""
        await _wait(seconds, self._moved)

    async def _produce(self, registry: Registry, pace: Pace) -> None:
        """Work out views as long as somebody watches; what nobody took is replaced, not kept."""
        while self._watchers and not registry.stopping.is_set():
            self._wanted.clear()
            try:
                views = await pace.work(self.views, list(self._watchers))
            except StorageError:
                self._trouble = _event("trouble", b'{"detail": "the storage cannot be reached"}')
            except Exception:
                log.exception("the study %r cannot be shown", self.study.name)
                self._trouble = _event("trouble", b'{"detail": "this study cannot be shown"}')
            else:
                self._trouble = None
                self._publish(views)
            self._moved.set()
            self._moved = asyncio.Event()
            await _wait(POLL_SECONDS, self._wanted, registry.stopping)
        self._moved.set()

    def _publish(self, views: dict[Pinned, bytes]) -> None:
        for pinned, view in views.items():
            event = _event("view", view)
            if pinned in self._watchers and self._news.get(pinned) != event:
                self._news[pinned] = event


async def stream(
    feed: Feed, registry: Registry, pace: Pace, pinned: Pinned, key: str | None
) -> AsyncIterator[bytes]:
    """Server-sent events: `view` when the study moved, `trouble` while its storage is away.

    A watcher who reads slowly gets the newest view when ready for it, and none of those between.
    The stream ends when the key that opened it is revoked.
    """
    clock = registry.clock
    known, spoke, began = None, clock(), clock()
    with feed.watched(pinned, registry, pace):
        while not registry.stopping.is_set() and clock() - began < MAX_SECONDS:
            try:
                if not await registry.admits(key):
                    return
            except StorageError:
                pass  # who has trouble to look at keys has nothing to show either
            news = feed.news(pinned)
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
