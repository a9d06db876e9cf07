"""Compile the players of many designs before they play, in as many processes as there are cores.

Numba compiles under a lock, so threads do not help; what one process compiles, the others find in the disk cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

from belman.lab.design import Design
from belman.policies.policy import Policy


def crew() -> ProcessPoolExecutor:
    """As many processes as there are cores, started when they get work."""
    return ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))


def _compile(design: Design) -> None:
    for player in design.players.values():
        design.seat(player).play(0, 0, design.seed, np.zeros(1, dtype=np.int64))


def warm(designs: Iterable[Design], workers: ProcessPoolExecutor, say: Callable[[int, int], None]) -> None:
    """Have every player of these designs compiled once for each family; `say(done, all)` is called as it goes on."""
    jobs: dict[tuple[object, ...], Design] = {}
    for design in designs:
        for name, player in design.players.items():
            if isinstance(player, Policy):
                loop = (type(design), type(design.problem.family), *design.problem.loop)
                jobs.setdefault((*loop, player.kernels), replace(design, players={name: player}, horizon=2, runs=1))
    waiting = [workers.submit(_compile, job) for job in jobs.values()]
    say(0, len(jobs))
    for done, future in enumerate(as_completed(waiting), 1):
        future.result()
        say(done, len(jobs))
