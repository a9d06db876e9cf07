"""Compile the players of many designs before they play, in as many processes as there are cores.

Numba compiles under a lock, so threads do not help; what one process compiles, the others find in
the disk cache.
"""

from __future__ import annotations

import gc
import itertools
import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np

from belman.lab.design import Design
from belman.policies.policy import Policy

Result = TypeVar("Result")

_OBJECTS = 500_000  # made between two looks for garbage


class WorkerProcesses:
    """As many processes as cores, started when they get work, each with a queue of its own.

    What Numba has compiled in one of them it need not compile again there, so it matters who does
    what. They seldom look for garbage: compiling makes millions of objects, and to look through
    them takes a tenth of its time.
    """

    def __init__(self) -> None:
        spawn, cores = get_context("spawn"), os.cpu_count() or 1
        started: Any = (1, spawn, gc.set_threshold, (_OBJECTS,))
        self._processes = [ProcessPoolExecutor(*started) for _ in range(cores)]
        self._given: list[list[Future[Any]]] = [[] for _ in range(cores)]

    def __len__(self) -> int:
        return len(self._processes)

    def __enter__(self) -> WorkerProcesses:
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

    def submit(self, process: int, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Have a function called in one of the processes."""
        future = self._processes[process].submit(work, *arguments)
        self._given[process].append(future)
        return future


def _compile(design: Design) -> None:
    for player in design.players.values():
        design.play(player, 0, 0, np.zeros(1, dtype=np.int64))


def _codes(design: Design) -> Iterator[tuple[Hashable, Design]]:
    """What settles the code of each player, and a design that has it compiled."""
    for name, player in design.players.items():
        if isinstance(player, Policy):
            problem = design.problem
            loop = (type(design), problem.played_as, problem.late, problem.matched)
            code = (*loop, problem.course, type(problem.family), player.kernels)
            yield code, replace(design, players={name: player}, horizon=2, runs=1)


Say = Callable[[int, int], None]


class Precompilation:
    """Every player of some designs being compiled, once a family and loop; says `(done, all)`.

    Players of a family are compiled in the same process, for most of what they are made of is the
    family's, unless that were more than its share. Within a process the order is that of the
    designs.
    """

    def __init__(self, designs: Iterable[Design], processes: WorkerProcesses, say: Say) -> None:
        jobs: dict[Hashable, Design] = {}
        for design in designs:
            for code, job in _codes(design):
                jobs.setdefault(code, job)
        families: dict[type, list[Hashable]] = {}
        for code, job in jobs.items():
            families.setdefault(type(job.problem.family), []).append(code)
        share = math.ceil(len(jobs) / len(processes))
        self._jobs: dict[Hashable, Future[None]] = {}
        for codes in families.values():
            for some in (codes[start : start + share] for start in range(0, len(codes), share)):
                process = processes.least_busy()
                for code in some:
                    self._jobs[code] = processes.submit(process, _compile, jobs[code])
        say(0, len(jobs))
        done = itertools.count(1)
        for future in self._jobs.values():
            future.add_done_callback(lambda _: say(next(done), len(jobs)))

    def is_over(self, some: Iterable[Design]) -> bool:
        """Whether the players of some of the designs are compiled."""
        return all(self._jobs[code].done() for design in some for code, _ in _codes(design))

    def wait_for(self, some: Iterable[Design]) -> None:
        """Wait until they are; raises what went wrong."""
        for design in some:
            for code, _ in _codes(design):
                self._jobs[code].result()
