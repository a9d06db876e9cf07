"""Answers that take long: how many may be under way at once, and what is left of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from belman.service.limits import Limits
from belman.service.metrics import Metrics
from belman.service.problems import RefusedError

MOST_EXPORTS = 8  # at once, each of which may be as large as the log
LATER = {"Retry-After": "10"}


class Streams:
    """The streams that are open, by caller."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_more(self, caller: str) -> Iterator[None]:
        """One stream more, as long as the context lasts; a problem where there are too many."""
        own, most = self._open[caller], self._limits.max_streams_per_key
        if own >= most:
            detail = f"{own:,} streams are open with this key, and {most:,} may be: close one"
            raise RefusedError(429, detail, LATER)
        if self._open.total() >= self._limits.max_streams:
            detail = f"{self._limits.max_streams:,} streams are open here: try again later"
            raise RefusedError(503, detail, LATER)
        self._open[caller] += 1
        self._metrics.watchers.inc()
        try:
            yield
        finally:
            self._metrics.watchers.dec()
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]


class Exports:
    """How many exports are under way: worked out, or being sent."""

    def __init__(self) -> None:
        self.under_way = 0

    @asynccontextmanager
    async def one_more(self) -> AsyncIterator[None]:
        """One more, which an `ExportResponse` ends unless something goes wrong before."""
        if self.under_way >= MOST_EXPORTS:
            detail = f"{MOST_EXPORTS} exports are under way here: try again later"
            raise RefusedError(503, detail, LATER)
        self.under_way += 1
        try:
            yield
        except BaseException:
            self.under_way -= 1
            raise


class ExportResponse(FileResponse):
    """Sends a file whole, whatever part of it was asked for, and removes it in any case: the next
    request would have another.
    """

    def __init__(self, path: Path, filename: str, exports: Exports) -> None:
        super().__init__(path, filename=filename, headers={"Accept-Ranges": "none"})
        self._exports = exports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
        try:
            await super().__call__({**scope, "headers": headers}, receive, send)
        finally:
            self._exports.under_way -= 1
            Path(self.path).unlink()
