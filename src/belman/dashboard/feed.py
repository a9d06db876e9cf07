"""A study as a stream: a new view when something happened, the same one for all who watch."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from belman.dashboard.timeline import Timeline
from belman.dashboard.view import Snapshot
from belman.errors import StorageError
from belman.service.registry import Registry
from belman.service.views import jsonable, status
from belman.studies import Study

POLL_SECONDS = 0.5
SHARE_OF_TIME = 0.25  # that working out views may take
HEARTBEAT_SECONDS = 10.0
MAX_SECONDS = 600.0  # seconds after which a stream ends, and its key is asked for anew


class Feed:
    """The views of one study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._timeline = Timeline(study.settings)
        self._snapshot: Snapshot | None = None
        self._moment = (0, 0, 0)

    def _now(self) -> Snapshot:
        moment = self.study.moment
        if self._snapshot is None or self._moment != moment:
            study, self._moment = self.study, moment
            self._timeline.take(study.events(self._timeline.number), time.time())
            self._snapshot = Snapshot(moment[0], study.agent(), study.register, status(study))
        return self._snapshot

    def view(self, pinned: Sequence[int]) -> dict[str, Any]:
        """What the page shows now."""
        with self._lock:
            started = time.monotonic()
            found = self._now().view(self._timeline, pinned)
            self.seconds = time.monotonic() - started
            return found

    def search(self, query: str, most: int) -> dict[str, Any]:
        """Arms whose name holds the words."""
        with self._lock:
            snapshot = self._now()
            rows = snapshot.rows(snapshot.found(query, most), self._timeline)
            return {"arms": rows, "of": len(snapshot.ids)}


async def stream(feed: Feed, registry: Registry, pinned: Sequence[int]) -> AsyncIterator[bytes]:
    """Server-sent events: `view` when the study moved, be it that a window closed, `trouble` while
    its storage is away.
    """
    known, spoke, began = (-1, 0, 0), time.monotonic(), time.monotonic()
    registry.metrics.watchers.inc()
    try:
        while not registry.stopping.is_set() and time.monotonic() - began < MAX_SECONDS:
            try:
                moment = await registry.in_thread(lambda: feed.study.moment)
                if moment != known:
                    view = await registry.in_thread(feed.view, pinned)
                    known, spoke = moment, time.monotonic()
                    yield event("view", view)
                elif time.monotonic() - spoke > HEARTBEAT_SECONDS:
                    spoke = time.monotonic()
                    yield b": still here\n\n"
            except StorageError:
                known = (-1, 0, 0)
                yield event("trouble", {"detail": "the storage cannot be reached"})
            pause = max(POLL_SECONDS, feed.seconds * (1.0 / SHARE_OF_TIME - 1.0))
            await _wait(registry.stopping, pause)
    finally:
        registry.metrics.watchers.dec()


def event(name: str, content: Any) -> bytes:
    """One server-sent event.

    >>> event("view", {"number": 3})
    b'event: view\\ndata: {"number": 3}\\n\\n'
    """
    return f"event: {name}\ndata: {json.dumps(jsonable(content), allow_nan=False)}\n\n".encode()


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return
