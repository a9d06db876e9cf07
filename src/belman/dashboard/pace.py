"""The pace of watching: whatever pages want, it takes a share of the time and no more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from belman.service.registry import Registry

T = TypeVar("T")

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
