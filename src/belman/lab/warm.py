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


def warm(
    designs: Iterable[Design], workers: ProcessPoolExecutor, say: Callable[[int, int], None]
) -> Callable[[Iterable[Design]], None]:
    """Begin to compile every player of these designs, in their order, once for each family and loop.

    Returns what waits until the players of some of the designs are compiled; `say(done, all)` is called as it goes on.
    """
    jobs: dict[Hashable, Future[None]] = {}
    for design in designs:
        for code, job in _codes(design):
            if code not in jobs:
                jobs[code] = workers.submit(_compile, job)
    say(0, len(jobs))
    done = itertools.count(1)
    for future in jobs.values():
        future.add_done_callback(lambda _: say(next(done), len(jobs)))

    def wait_for(some: Iterable[Design]) -> None:
        for design in some:
            for code, _ in _codes(design):
                jobs[code].result()

    return wait_for
