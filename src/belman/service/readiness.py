"""Whether a service can do its work: its storage answers, and takes what is written."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable

from belman.errors import BelmanError, StorageError
from belman.service import warming
from belman.service.registry import Registry

log = logging.getLogger("belman.service")

KEPT_SECONDS = 1.0  # seconds for which an answer is used again
PATIENCE = 2.0  # seconds that a look may wait for somebody who writes

#: Changes nothing, and yet has to find room on the disk.
_TRY = "UPDATE belman_version SET version_num = version_num"


class Readiness:
    """Looks at the storage at most once a second, however often it is asked."""

    def __init__(
        self, registry: Registry, clock: Callable[[], float], *, is_warm: bool = True
    ) -> None:
        self._registry, self._clock, self.is_warm = registry, clock, is_warm
        self._until, self._trouble = float("-inf"), False
        self._look: asyncio.Task[bool] | None = None

    async def warm(self) -> None:
        """Load what an ask needs; a storage that is away now is looked at when it is asked for."""
        try:
            await self._registry.watch(warming.warm, self._registry.storage)
        except BelmanError as error:
            log.warning("warming: %s", error)
        gc.freeze()  # what is imported stays: looking through it would hold every request for 30 ms
        self.is_warm = True

    async def is_ready(self) -> bool:
        """Whether something can be read and written now."""
        if self._clock() >= self._until:
            if self._look is None or self._look.done():
                self._look = asyncio.create_task(self._try_to_write())
            look = self._look  # which another request may replace while this one waits
            await asyncio.wait([look], timeout=PATIENCE)
            # whoever keeps us waiting for so long is writing; reading shows whether it is there
            self._trouble = not (look.result() if look.done() else await self._can_read())
            self._until = self._clock() + KEPT_SECONDS
        return not self._trouble

    async def _try_to_write(self) -> bool:
        registry = self._registry
        try:
            return bool(await registry.change(registry.storage.execute, _TRY))
        except StorageError:
            return False

    async def _can_read(self) -> bool:
        try:
            await self._registry.at_the_door(self._registry.keys.any)
        except StorageError:
            return False
        return True
