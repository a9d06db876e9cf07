"""Compile the players of many designs before they play, in as many processes as there are cores.

Numba compiles under a lock, so threads do not help; what one process compiles, the others find in the disk cache.
"""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

from belman.lab.design import Design
from belman.policies.policy import Policy

_OBJECTS = 500_000  # made between two looks for garbage


def crew() -> ProcessPoolExecutor:
    """As many processes as there are cores, started when they get work.

    They seldom look for garbage: compiling makes millions of objects, and to look through them takes a tenth of its time.
    """
    return ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), gc.set_threshold, (_OBJECTS,))


def _compile(design: Design) -> None:
    for player in design.players.values():
        design.seat(player).play(0, 0, design.seed, np.zeros(1, dtype=np.int64))


def _codes(design: Design) -> Iterator[tuple[Hashable, Design]]:
    """What settles the code of each player, and a design that has it compiled."""
    for name, player in design.players.items():
        if isinstance(player, Policy):
            problem = design.problem
            code = (type(design), type(problem.family), problem.played_as, problem.matched, player.kernels)
            yield code, replace(design, players={name: player}, horizon=2, runs=1)


class Warming:
    """Every player of some designs being compiled, in the order of the designs, once for each family and loop.

    `say(done, all)` is called as it goes on.
    """

    def __init__(self, designs: Iterable[Design], workers: ProcessPoolExecutor, say: Callable[[int, int], None]) -> None:
        self._jobs: dict[Hashable, Future[None]] = {}
        for design in designs:
            for code, job in _codes(design):
                if code not in self._jobs:
                    self._jobs[code] = workers.submit(_compile, job)
        say(0, len(self._jobs))
        done = itertools.count(1)
        for future in self._jobs.values():
            future.add_done_callback(lambda _: say(next(done), len(self._jobs)))

    def is_over(self, some: Iterable[Design]) -> bool:
        """Whether the players of some of the designs are compiled."""
        return all(self._jobs[code].done() for design in some for code, _ in _codes(design))

    def wait_for(self, some: Iterable[Design]) -> None:
        """Wait until they are; raises what went wrong."""
        for design in some:
            for code, _ in _codes(design):
                self._jobs[code].result()
