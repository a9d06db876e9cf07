"""How a design is run: task by task on an executor, with a bar to watch, a store to resume from.

Executors are threads here (kernels release the lock), or workers of a Dask cluster. One yields
(task, results) in any order; numbers depend on the task alone, so every executor gives the same.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from belman.errors import ArmError, SettingError, listing, needing
from belman.lab.design import Design, Task
from belman.lab.store import Store
from belman.problems.problem import Problem
from belman.validate import require_whole

_PATIENCE = 1.0  # seconds of compiling, after which a person who sees no bar is told


StorePath = str | os.PathLike[str] | None
Done = tuple[Task, Any]


def run(
    design: Design, executor: str, workers: int | None, store: StorePath, progress: bool | None
) -> Any:
    """The results of the whole design: a NamedTuple of arrays, player and run first."""
    with needing("a simulation", "lab", "xarray"):  # before it is played, and not after
        import xarray  # noqa: F401
    _check_executor(executor, workers)
    kept = None if store is None else Store(os.fspath(store), design)
    todo = list(design.tasks())
    blank = design.blank(0)
    shape = (len(design.players), design.runs)
    whole = type(blank)(*(np.empty((*shape, *array.shape[1:]), array.dtype) for array in blank))

    def enter(task: Task, results: Any) -> None:
        for array, part in zip(whole, results, strict=True):
            array[task.player, task.first : task.first + task.runs] = part

    with progress_bar(len(design.players) * design.runs * design.horizon, progress) as screen:
        if kept is not None:
            screen.say("reading the store")
            result = set()
            for task, results in kept.read(todo):
                enter(task, results)
                result.add(task)
                screen.advance(task.runs * design.horizon)
            todo = [task for task in todo if task not in result]
        for task, results in _done(design, todo, executor, workers, screen):
            enter(task, results)
            if kept is not None:
                kept.write(task, results)
            screen.advance(task.runs * design.horizon)
    return whole


def _done(
    design: Design, todo: list[Task], executor: str, workers: int | None, screen: Screen
) -> Iterator[Done]:
    if not todo:
        return
    if executor == "threads":
        _compile(design, screen)
        screen.say("playing")
        yield from in_threads(design, todo, workers)
    else:
        screen.say("starting Dask" if executor == "dask" else f"asking {executor}")
        yield from on_dask(design, todo, workers, None if executor == "dask" else executor)


def _compile(design: Design, screen: Screen) -> None:
    """Compile the players, one by one: Numba compiles under a lock anyway."""
    names = list(design.players)
    who = names[0] if len(names) == 1 else f"{len(names)} players"
    words = f"compiling {who}, which is done once: the code is kept on disk"
    late = threading.Timer(_PATIENCE, screen.print_without_bar, [words])
    late.start()
    try:
        for name, player in design.players.items():
            screen.say(f"compiling {name}")
            design.play(player, 0, 0, np.zeros(1, dtype=np.int64))
    finally:
        late.cancel()
        late.join()


class Screen(NamedTuple):
    """What a person sees: words beside the bar, the bar, and a line where no bar is shown."""

    say: Callable[[str], None]
    advance: Callable[[int], None]
    print_without_bar: Callable[[str], None]


class _TurnsPerSecond(ProgressColumn):
    def render(self, task: Any) -> Text:
        speed = task.finished_speed or task.speed
        words = "" if speed is None else f"{speed / 1e6:.2f} M turns/s"
        return Text(words, style="progress.data.speed")


@contextlib.contextmanager
def progress_bar(total: int, show: bool | None, console: Console | None = None) -> Iterator[Screen]:
    """A bar with turns per second and time left; `show` None: lines where no terminal is."""
    console = console or Console(stderr=True)
    visible = console.is_terminal if show is None else show
    words, percent = TextColumn("{task.description}"), TextColumn("{task.percentage:>3.0f} %")
    columns = (words, BarColumn(), percent, _TurnsPerSecond(), TimeRemainingColumn())

    def print_without_bar(words: str) -> None:
        if show is None and not visible:
            console.print(words, highlight=False, markup=False, soft_wrap=True)

    with Progress(*columns, console=console, disable=not visible, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield Screen(
            lambda words: bar.update(task, description=words),
            lambda turns: bar.advance(task, turns),
            print_without_bar,
        )


def check_sizes(problem: Problem, **sizes: tuple[Any, int]) -> None:
    """Check a problem, and that whole numbers given as name=(number, least) are large enough."""
    for name, (value, least) in sizes.items():
        require_whole(name, value, least)
    if not isinstance(problem, Problem):
        remedy = "write, for instance, belman.problems.bernoulli([0.8, 0.9])"
        raise SettingError(f"problem={problem!r} is not a problem: {remedy}")


def _check_executor(executor: str, workers: int | None) -> None:
    if executor not in ("threads", "dask") and "://" not in executor:
        known = f"there are {listing(['threads', 'dask'])}, or a scheduler's address tcp://…"
        raise SettingError(f"executor={executor!r} is unknown: {known}")
    require_whole("workers", workers, optional=True)


def _play(design: Design, task: Task, stop: Any) -> Any:
    name, player = list(design.players.items())[task.player]
    try:
        return design.play(player, task.first, task.runs, stop)
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
