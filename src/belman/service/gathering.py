"""Group commit: requests that come while the disk is busy go into the next transaction together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from belman.errors import BelmanError
from belman.service.problems import RefusedError
from belman.studies import Ask, Study, Tell, Ticket

MOST_WAITING = 10_000
MOST_TOGETHER = 256

Answer = list[Ticket] | bool


class Gathering:
    """Asks and tells of one study, answered in the order in which they came, as many to a
    transaction as are waiting.
    """

    def __init__(self, study: Study, executor: Executor, watch: Callable[[int], None]) -> None:
        self.study = study
        self._executor, self._watch = executor, watch
        self._waiting: list[tuple[Ask | Tell, asyncio.Future[Answer]]] = []
        self._worker: asyncio.Task[None] | None = None

    def put(self, request: Ask | Tell) -> asyncio.Future[Answer]:
        """Let a request wait for the tickets of an ask, for whether a tell was news, or for what
        the study says to it.
        """
        if len(self._waiting) >= MOST_WAITING:
            raise RefusedError(
                503,
                f"{MOST_WAITING:,} requests wait for this study already: try again",
                {"Retry-After": "1"},
            )
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return future

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            self._watch(len(batch))
            try:
                answers = await loop.run_in_executor(
                    self._executor, self.study.together, [request for request, _ in batch]
                )
            except Exception as error:
                for _, future in batch:
                    _settle(future, error)
            else:
                for (_, future), answer in zip(batch, answers, strict=True):
                    _settle(future, answer)
        self._worker = None


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if (
        future.done()
    ):  # whoever asked has gone away; the ticket stays, and expires by the rule of the study
        return
    if isinstance(answer, Exception):
        future.set_exception(_own(answer))
    else:
        future.set_result(answer)


def _own(error: Exception) -> Exception:
    """An exception that one waiter may raise while others raise theirs."""
    return type(error)(*error.args) if isinstance(error, BelmanError) else error
