"""Methods that block, as coroutines: they run in threads of their own, with the types they have."""

from __future__ import annotations

import asyncio
import contextvars
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

S = TypeVar("S", covariant=True)  # what does for a study does for what it is too
T = TypeVar("T")
P = ParamSpec("P")


class InThreads(ABC, Generic[S]):
    """Something whose methods run in threads, so that the event loop never waits for one."""

    @abstractmethod
    def _position(self, reading: bool) -> tuple[S, Executor]:
        """Say what a call is made of, and where it runs."""

    async def run(self, work: Callable[[S], T]) -> T:
        """Do any work with what is behind this, in a thread: `await study.run(Study.tickets)`.

        A call that is cancelled before its thread begins is not made; one that has begun is
        finished, and what it gives is dropped.
        """
        target, threads = self._position(False)
        return await in_thread(threads, partial(work, target))


async def in_thread(threads: Executor, work: Callable[[], T]) -> T:
    """Run work in a thread, with the context variables of the coroutine."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(threads, context.run, work)


def changing(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[InThreads[S], P], Coroutine[Any, Any, T]]:
    """Make a coroutine of a method that changes something: it waits its turn."""
    return _coroutine(method, False)


def reading(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[InThreads[S], P], Coroutine[Any, Any, T]]:
    """Make a coroutine of a method that only looks: it keeps no decision waiting."""
    return _coroutine(method, True)


def _coroutine(
    method: Callable[Concatenate[S, P], T], is_look: bool
) -> Callable[Concatenate[InThreads[S], P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def call(self: InThreads[S], /, *args: P.args, **kwargs: P.kwargs) -> T:
        target, threads = self._position(is_look)
        return await in_thread(threads, partial(method, target, *args, **kwargs))

    return call
