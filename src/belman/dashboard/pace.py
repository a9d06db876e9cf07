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
    """Works one thing after another, and rests nine times as long as each took."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._turn = asyncio.Lock()
        self._rested = 0.0

    async def work(self, work: Callable[..., T], *arguments: Any) -> T:
        """What the work gives, once it is its turn."""
        async with self._turn:
            await asyncio.sleep(max(self._rested - time.monotonic(), 0.0))
            started = time.monotonic()
            try:
                return await self._registry.watch(work, *arguments)
            finally:
                ended = time.monotonic()
                pause = (ended - started) * (1.0 / SHARE_OF_TIME - 1.0)
                self._rested = ended + min(pause, MOST_SECONDS)
