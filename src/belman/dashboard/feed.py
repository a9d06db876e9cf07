"""A study as a stream: a new view when something happened, the same one for everybody who watches."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from belman.dashboard.chronicle import Chronicle
from belman.dashboard.view import Moment
from belman.errors import StorageError
from belman.service.looks import plain, status
from belman.service.shelf import Shelf
from belman.studies import Study

PAUSE = 0.5  # seconds between looks
SHARE_OF_TIME = 0.25  # that working out views may take
HEARTBEAT = 10.0
LONGEST = 600.0  # seconds after which a stream ends, and its key is asked for anew


class Feed:
    """The views of one study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._chronicle = Chronicle()
        self._moment: Moment | None = None

    def _now(self) -> Moment:
        number = self.study.number
        if self._moment is None or self._moment.number < number:
            self._chronicle.take(self.study.events(self._chronicle.number))
            self._moment = Moment(
                number, self.study.agent(), self.study.register, status(self.study)
            )
        return self._moment

    def view(self, pinned: Sequence[int]) -> dict[str, Any]:
        """What the page shows now."""
        with self._lock:
            started = time.monotonic()
            found = self._now().view(self._chronicle, pinned)
            self.seconds = time.monotonic() - started
            return found

    def search(self, query: str, most: int) -> dict[str, Any]:
        """Arms whose name holds the words."""
        with self._lock:
            moment = self._now()
            return {
                "arms": moment.rows(moment.found(query, most), self._chronicle),
                "of": len(moment.ids),
            }


async def stream(feed: Feed, shelf: Shelf, pinned: Sequence[int]) -> AsyncIterator[bytes]:
    """Server-sent events: `view` when the study moved, `trouble` while its storage cannot be
    reached.
    """
    known, spoke, began = -1, time.monotonic(), time.monotonic()
    shelf.metrics.watchers.inc()
    try:
        while not shelf.stopping.is_set() and time.monotonic() - began < LONGEST:
            try:
                if await shelf.run(lambda: feed.study.number) != known:
                    view = await shelf.run(feed.view, pinned)
                    known, spoke = view["number"], time.monotonic()
                    yield event("view", view)
                elif time.monotonic() - spoke > HEARTBEAT:
                    spoke = time.monotonic()
                    yield b": still here\n\n"
            except StorageError:
                known = -1
                yield event("trouble", {"detail": "the storage cannot be reached"})
            await _wait(shelf.stopping, max(PAUSE, feed.seconds * (1.0 / SHARE_OF_TIME - 1.0)))
    finally:
        shelf.metrics.watchers.dec()


def event(name: str, content: Any) -> bytes:
    """One server-sent event.

    >>> event("view", {"number": 3})
    b'event: view\\ndata: {"number": 3}\\n\\n'
    """
    return f"event: {name}\ndata: {json.dumps(plain(content), allow_nan=False)}\n\n".encode()


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return
