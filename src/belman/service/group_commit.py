"""Group commit: asks and tells that come while the disk is busy share the next transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from belman.errors import BelmanError
from belman.service.problems import RefusedError
from belman.studies import Ask, Study, Tell, Ticket

Answer = list[Ticket] | bool

MAX_WAITING = 10_000
MAX_BATCH = 256


class GroupCommit:
    """Asks and tells of one study, in their order; a busy disk gathers them in one transaction."""

    def __init__(self, study: Study, executor: Executor, watch: Callable[[int], None]) -> None:
        self.study = study
        self._executor, self._watch = executor, watch
        self._waiting: list[tuple[Ask | Tell, asyncio.Future[Answer]]] = []
        self._worker: asyncio.Task[None] | None = None

    def submit(self, request: Ask | Tell) -> asyncio.Future[Answer]:
        """The tickets of an ask, or whether a tell was news; the study's error if it refuses."""
        if len(self._waiting) >= MAX_WAITING:
            detail = f"{MAX_WAITING:,} requests wait for this study already: try again"
            raise RefusedError(503, detail, {"Retry-After": "1"})
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return future

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            self._watch(len(batch))
            requests = [request for request, _ in batch]
            try:
                together = self.study.together
                answers = await loop.run_in_executor(self._executor, together, requests)
            except Exception as error:
                for _, future in batch:
                    _settle(future, error)
            else:
                for (_, future), answer in zip(batch, answers, strict=True):
                    _settle(future, answer)
        self._worker = None


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # the caller has gone; its ticket stays, and expires by the study's rule
        return
    if isinstance(answer, Exception):
        future.set_exception(_own(answer))
    else:
        future.set_result(answer)


def _own(error: Exception) -> Exception:
    """An exception that one waiter may raise while others raise theirs."""
    return type(error)(*error.args) if isinstance(error, BelmanError) else error
