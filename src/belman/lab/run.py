"""How a design is carried out: task by task wherever the executor does them, with a bar to watch
and a store to resume from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from belman.errors import SettingError, listing
from belman.lab.design import Design, Task
from belman.lab.executors import in_threads, on_dask
from belman.lab.progress import progress_bar
from belman.lab.store import Store
from belman.problems.problem import Problem


def carry_out(
    design: Design,
    executor: str,
    workers: int | None,
    store: str | os.PathLike[str] | None,
    progress: bool | None,
) -> Any:
    """The results of the whole design: a NamedTuple of arrays, player and run first."""
    _check_executor(executor, workers)
    kept = None if store is None else Store(os.fspath(store), design)
    todo = list(design.tasks())
    blank = design.blank(0)
    shape = (len(design.players), design.runs)
    whole = type(blank)(*(np.empty((*shape, *array.shape[1:]), array.dtype) for array in blank))

    def enter(task: Task, results: Any) -> None:
        for array, part in zip(whole, results, strict=True):
            array[task.player, task.first : task.first + task.runs] = part

    with progress_bar(len(design.players) * design.runs * design.horizon, progress) as (
        say,
        advance,
    ):
        if kept is not None:
            say("reading the store")
            found = set()
            for task, results in kept.read(todo):
                enter(task, results)
                found.add(task)
                advance(task.runs * design.horizon)
            todo = [task for task in todo if task not in found]
        for task, results in _done(design, todo, executor, workers, say):
            enter(task, results)
            if kept is not None:
                kept.write(task, results)
            advance(task.runs * design.horizon)
    return whole


def _done(
    design: Design, todo: list[Task], executor: str, workers: int | None, say: Callable[[str], None]
) -> Iterator[tuple[Task, Any]]:
    if not todo:
        return
    if executor == "threads":
        stop = np.zeros(1, dtype=np.int64)
        for (
            name,
            player,
        ) in design.players.items():  # compiled one by one: Numba compiles under a lock anyway
            say(f"compiling {name}")
            design.seat(player).play(0, 0, design.seed, stop)
        say("playing")
        yield from in_threads(design, todo, workers)
    else:
        say("starting Dask" if executor == "dask" else f"asking {executor}")
        yield from on_dask(design, todo, workers, None if executor == "dask" else executor)


def check_sizes(problem: Problem, **sizes: tuple[Any, int]) -> None:
    """A problem, and whole numbers that are not less than they may be, given as name=(number,
    least).
    """
    for name, (value, least) in sizes.items():
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < least:
            raise SettingError(
                f"{name}={value!r} makes no simulation: it must be a whole number from {least} up"
            )
    if not isinstance(problem, Problem):
        raise SettingError(
            f"problem={problem!r} is no problem: write, for instance, belman.problems.bernoulli([0.8, 0.9])"
        )


def _check_executor(executor: str, workers: int | None) -> None:
    if executor not in ("threads", "dask") and "://" not in executor:
        raise SettingError(
            f"executor={executor!r} is unknown: there are {listing(['threads', 'dask'])}, or a scheduler's address tcp://…"
        )
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise SettingError(
            f"workers={workers!r} do no work: it must be a whole number from 1 up, or None for every core"
        )
