"""Callers that wait for a server, first come first served: threads, and coroutines of any loop."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any


class Waiter:
    """One place in the line: whose queue, the job to hand over, and how to wake its owner."""

    def __init__(self, queue: Any, wake: Callable[[], None]) -> None:
        self.queue = queue
        self.job: Any = None
        self.served = False
        self._wake = wake

    def hand_over(self, job: Any) -> bool:
        """Give the job to the caller; False if nobody waits, since its loop is closed."""
        try:
            self._wake()
        except RuntimeError:
            return False
        self.job, self.served = job, True
        return True


class WaitingLine:
    """Waiters in order; whoever holds the lock of the dispatcher may touch it."""

    def __init__(self) -> None:
        self._waiters: deque[Waiter] = deque()

    def __len__(self) -> int:
        return len(self._waiters)

    def join(self, queue: Any, wake: Callable[[], None]) -> Waiter:
        """A place at the end."""
        waiter = Waiter(queue, wake)
        self._waiters.append(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Give up a place, if it is still held."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def serve(self, give: Callable[[Any], Any], take_back: Callable[[Any], None]) -> None:
        """Hand jobs to the first in line, until `give(queue)` has none and answers None."""
        while self._waiters:
            job = give(self._waiters[0].queue)
            if job is None:
                return
            if not self._waiters.popleft().hand_over(job):
                take_back(job)


def thread_waker() -> tuple[Callable[[], None], Callable[[float | None], Any]]:
    """How to wake a thread, and how it waits (for so many seconds, or for ever)."""
    event = threading.Event()
    return event.set, event.wait


def task_waker() -> tuple[Callable[[], None], asyncio.Future[None]]:
    """How to wake a coroutine from any thread, and what it awaits."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not future.done():
            future.set_result(None)

    def wake() -> None:
        loop.call_soon_threadsafe(settle)

    return wake, future
