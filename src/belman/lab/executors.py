"""Where tasks are done: threads here (kernels release the lock), or workers of a Dask cluster.

An executor yields (task, results) in any order. Numbers depend on the task alone, so every executor
gives the same.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from belman.errors import ArmError, needing
from belman.lab.design import Design, Task

Done = tuple[Task, Any]


def _play(design: Design, task: Task, stop: Any) -> Any:
    name, player = list(design.players.items())[task.player]
    try:
        return design.runner(player).play(task.first, task.runs, design.seed, stop)
    except ArmError as error:
        raise ArmError(f"player {name!r}: {error}") from None


def in_threads(design: Design, tasks: Iterable[Task], workers: int | None) -> Iterator[Done]:
    """Do tasks in threads, by default one per core that this process may use.

    Closing the iterator stops kernels within a second.
    """
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = workers or own or 1
    stop = np.zeros(1, dtype=np.int64)
    waiting = iter(tasks)
    pool = ThreadPoolExecutor(count, thread_name_prefix="belman")
    running: dict[Future[Any], Task] = {}

    def fill() -> None:
        for task in waiting:
            running[pool.submit(_play, design, task, stop)] = task
            if len(running) > count:
                return

    try:
        fill()
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                results = future.result()
                if results is not None:
                    yield task, results
            fill()
    finally:
        stop[0] = 1
        pool.shutdown(wait=True, cancel_futures=True)


def _play_remotely(design: Design, task: Task) -> Any:
    return _play(design, task, np.zeros(1, dtype=np.int64))


def on_dask(
    design: Design, tasks: Iterable[Task], workers: int | None, address: str | None
) -> Iterator[Done]:
    """Do tasks on a Dask cluster: the scheduler's at `address`, or a local one of processes.

    Every task carries the design, so that those of a worker that dies can be done again by whoever
    is left or comes.
    """
    with needing("executor='dask'", "dask", "dask", "distributed"):
        import dask
        from distributed import Client, LocalCluster, as_completed
    with contextlib.ExitStack() as stack:
        if address is None:
            # a cluster gives up a worker that is not back within some seconds, in the end all
            lost = {"deploy.lost-worker-timeout": "1 day", "scheduler.allowed-failures": 20}
            patience = dask.config.set({f"distributed.{name}": most for name, most in lost.items()})
            stack.enter_context(patience)
            count = workers or os.cpu_count()
            cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
            address = stack.enter_context(cluster).scheduler_address
        client = stack.enter_context(Client(address))
        options = {"pure": False, "retries": 3}
        futures = {client.submit(_play_remotely, design, task, **options): task for task in tasks}
        try:
            for future, results in as_completed(list(futures), with_results=True):
                yield futures.pop(future), results
                future.release()
        finally:
            client.cancel(list(futures))
