"""Processes that work beside this one, each with a queue of its own."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

Result = TypeVar("Result")

_OBJECTS = 500_000  # made between two looks for garbage


class Crew:
    """As many processes as there are cores, started when they get work.

    What Numba has compiled in one of them it need not compile again there, so it matters who does
    what. They seldom look for garbage: compiling makes millions of objects, and to look through
    them takes a tenth of its time.
    """

    def __init__(self) -> None:
        spawn, cores = get_context("spawn"), os.cpu_count() or 1
        self._processes = [
            ProcessPoolExecutor(1, spawn, gc.set_threshold, (_OBJECTS,)) for _ in range(cores)
        ]
        self._given: list[list[Future[Any]]] = [[] for _ in range(cores)]

    def __len__(self) -> int:
        return len(self._processes)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for future in (future for given in self._given for future in given if kind is not None):
            future.cancel()
        for process in self._processes:
            process.shutdown()

    def least_busy(self) -> int:
        """The process with the least left to do."""
        left = [sum(not future.done() for future in given) for given in self._given]
        return left.index(min(left))

    def submit(
        self, process: int, function: Callable[..., Result], *arguments: Any
    ) -> Future[Result]:
        """Have a function called in one of the processes."""
        future = self._processes[process].submit(function, *arguments)
        self._given[process].append(future)
        return future
