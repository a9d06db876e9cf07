"""An export on its way: a file of its own, which is gone when it was sent, or could not be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from belman.service.problems import RefusedError

MOST = 8  # under way at once, each of which may be as large as the log


class ExportResponse(FileResponse):
    """Sends a file whole, whatever part of it was asked for, and removes it in any case: the next
    request would have another.
    """

    def __init__(self, path: Path, filename: str, exports: Exports) -> None:
        super().__init__(path, filename=filename, headers={"Accept-Ranges": "none"})
        self._exports = exports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = [(name, value) for name, value in scope["headers"] if name != b"range"]
        try:
            await super().__call__({**scope, "headers": told}, receive, send)
        finally:
            self._exports.under_way -= 1
            Path(self.path).unlink()


class Exports:
    """How many exports are under way: worked out, or being sent."""

    def __init__(self) -> None:
        self.under_way = 0

    @asynccontextmanager
    async def one_more(self) -> AsyncIterator[None]:
        """One more, which an `ExportResponse` ends unless something goes wrong before."""
        if self.under_way >= MOST:
            detail = f"{MOST} exports are under way here: try again later"
            raise RefusedError(503, detail, {"Retry-After": "10"})
        self.under_way += 1
        try:
            yield
        except BaseException:
            self.under_way -= 1
            raise
