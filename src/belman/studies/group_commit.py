"""Asks and tells of one study that come at once, from coroutines: one transaction for many."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from belman.errors import BelmanError, StudyError
from belman.studies.requests.asking import Ask
from belman.studies.requests.together import Request
from belman.studies.study import Study
from belman.studies.ticket import Ticket

log = logging.getLogger("belman.studies")

Answer = list[Ticket] | bool

MAX_WAITING = 10_000
MAX_BATCH = 256


def _crowded(words: str) -> Exception:
    return StudyError(words)


class GroupCommit:
    """Asks and tells of one study, in their order; a busy disk gathers them in one transaction.

    A request whose caller is cancelled before its transaction begins is not made. Tickets that
    were given to a cancelled caller go back to the study, unless they were asked for with a key of
    the caller's: the same request would get them again.
    """

    def __init__(
        self,
        study: Study,
        executor: Executor,
        watch: Callable[[int], None] | None = None,
        crowded: Callable[[str], Exception] = _crowded,
    ) -> None:
        self.study = study
        self._executor, self._watch, self._crowded = executor, watch, crowded
        self._waiting: list[tuple[Request, asyncio.Future[Answer]]] = []
        self._unwanted: list[Ticket] = []
        self._worker: asyncio.Task[None] | None = None

    def submit(self, request: Request) -> asyncio.Future[Answer]:
        """The tickets of an ask, or whether a tell was news; the study's error if it refuses."""
        if len(self._waiting) >= MAX_WAITING:
            words = f"{MAX_WAITING:,} requests wait for this study already: try again"
            raise self._crowded(words)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._start()
        return future

    async def answer(self, request: Request) -> Answer:
        """Wait for what a request gets; tickets go back where the caller is cancelled just then."""
        future = self.submit(request)
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled() and future.exception() is None:
                self._take_back(request, future.result())
                self._start()
            raise

    async def settled(self) -> None:
        """Wait until all that was submitted is done."""
        while self._worker is not None:
            await asyncio.wait([self._worker])

    def _start(self) -> None:
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        try:
            while self._waiting or self._unwanted:
                await self._give_back()
                wanted = [one for one in self._waiting if not one[1].cancelled()]
                batch, self._waiting = wanted[:MAX_BATCH], wanted[MAX_BATCH:]
                if batch:
                    await self._commit(batch)
        finally:
            self._worker = None

    async def _commit(self, batch: list[tuple[Request, asyncio.Future[Answer]]]) -> None:
        if self._watch is not None:
            self._watch(len(batch))
        requests = [request for request, _ in batch]
        loop, together = asyncio.get_running_loop(), self.study.together
        try:
            answers = await loop.run_in_executor(self._executor, together, requests)
        except Exception as error:
            for _, future in batch:
                _settle(future, error)
            return
        for (request, future), answer in zip(batch, answers, strict=True):
            if future.done() and not isinstance(answer, BelmanError):
                self._take_back(request, answer)
            _settle(future, answer)

    def _take_back(self, request: Request, answer: Answer) -> None:
        """Keep the tickets that nobody holds, and nobody can ask for again, to give them back."""
        if isinstance(request, Ask) and request.key is None and isinstance(answer, list):
            self._unwanted += answer

    async def _give_back(self) -> None:
        tickets, self._unwanted = self._unwanted, []
        if not tickets:
            return
        loop, give_back = asyncio.get_running_loop(), self.study.give_back
        try:
            await loop.run_in_executor(self._executor, give_back, tickets)
        except BelmanError as error:  # they expire by the study's rule
            words = "study %r: %d tickets of cancelled asks were not given back: %s"
            log.warning(words, self.study.name, len(tickets), error)


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # the caller has gone
        return
    if isinstance(answer, Exception):
        future.set_exception(_own(answer))
    else:
        future.set_result(answer)


def _own(error: Exception) -> Exception:
    """An exception that one waiter may raise while others raise theirs."""
    return type(error)(*error.args) if isinstance(error, BelmanError) else error
