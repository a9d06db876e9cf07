"""What a test leaves behind: threads, child processes, connections, open files.

Garbage that still holds something open is found by whichever test the collector happens to run in,
which is then blamed for it. So every test is looked at when it ends.
"""

from __future__ import annotations

import gc
import os
import re
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 60.0  # seconds for what is ending already
# Libraries keep these for the whole process, from their first use on: pools of threads of asyncio,
# Zarr and Dask, and the process in which multiprocessing keeps count.
_KEPT_THREADS = ("asyncio_", "zarr", "Dask-", "TCP-Executor", "ThreadPoolExecutor-", "litellm-")
_KEPT_FILES = re.compile("^/dev/|/site-packages/|/fonts/")  # Matplotlib's fonts stay open
_KEPT_PROCESSES = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def _threads() -> set[str]:
    """Threads that would keep the process from ending."""
    return {
        f"thread {thread.name}, number {thread.ident}"
        for thread in threading.enumerate()
        if not thread.daemon and not thread.name.startswith(_KEPT_THREADS)
    }


def _command(process: str) -> str:
    """What a process was called with; nothing where it has ended, and for a moment as it begins."""
    while True:
        command = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ").strip()
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        if command or state in ("Z", "X"):
            return command


def _processes() -> set[str]:
    """Child processes, with their command."""
    result = set()
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                command = _command(child)
                if not any(kept in command for kept in _KEPT_PROCESSES):
                    result.add(f"process {child}, {command[:200] or 'ended, never waited for'}")
        except OSError:  # it has ended meanwhile
            continue
    return result


def _descriptors() -> dict[str, str]:
    """What is open, by the number of its descriptor."""
    result = {}
    for number in os.listdir("/proc/self/fd") if Path("/proc/self/fd").exists() else ():
        try:
            result[number] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:  # the listing itself, closed by now
            continue
    return result


def _connections() -> set[str]:
    """TCP sockets of this machine, by the name that descriptors have for them."""
    tables = [Path(f"/proc/self/net/{name}") for name in ("tcp", "tcp6")]
    lines = [line for table in tables if table.exists() for line in table.read_text().splitlines()]
    return {f"socket:[{line.split()[9]}]" for line in lines[1:]}


def _opened(before: dict[str, str]) -> set[str]:
    """Files and connections that are open and were not."""
    new = {
        position for number, position in _descriptors().items() if before.get(number) != position
    }
    files = {
        position
        for position in new
        if position.startswith("/") and not _KEPT_FILES.search(position)
    }
    sockets = {position for position in new if position.startswith("socket:")}
    return files | (sockets & _connections() if sockets else set())


def _resources(grown: bool) -> set[str]:
    """What garbage says that still holds something open, where more is open than was."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ResourceWarning)
        if grown:
            gc.collect()
    return {str(one.message) for one in heard if issubclass(one.category, ResourceWarning)}


@contextmanager
def nothing_left_behind(in_use: bool = False) -> Iterator[None]:
    """Fail if what is done in between leaves anything behind.

    Files and connections that are still held by somebody count unless they are `in_use`: by a
    service of the whole module, say. Processes are counted and not named, since a pool may have
    replaced one of its own.
    """
    threads, processes, descriptors = _threads(), _processes(), _descriptors()
    if not in_use:  # what is older than a module is not looked through: that takes seconds
        gc.freeze()
    try:
        yield
    finally:
        left = _resources(len(_descriptors()) > len(descriptors))
        if not in_use:
            gc.unfreeze()
    end = time.monotonic() + _PATIENCE
    while True:
        now = _processes()
        alive = (
            (_threads() - threads)
            | (now - processes if len(now) > len(processes) else set())
            | (set() if in_use else _opened(descriptors))
        )
        if not alive or time.monotonic() > end:
            break
        time.sleep(0.02)
    left |= alive
    assert not left, "left behind: " + "; ".join(sorted(left))
