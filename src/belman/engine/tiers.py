"""How an entry is interpreted at first, and compiled while it is.

Interpreted and compiled kernels make the same choices, so an agent whose code is not compiled
answers at once. When half a second was spent interpreting, what is in use is compiled by another
process, into the cache, and loaded from there by a thread: nothing waits for it. What the cache
holds already is loaded sooner. `BELMAN_COMPILE` sets it: `background` (the default), `first` (wait
for compiled code before the first call) or `never`.
"""

from __future__ import annotations

import atexit
import importlib
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from belman.errors import SettingError, listing

if TYPE_CHECKING:
    from belman.engine.entries import Code

_SETTINGS = ("background", "first", "never")
_WARM, _HOT = 0.1, 0.5  # CPU seconds interpreted after which code is loaded, and compiled
_LOOK = 0.05  # seconds between two looks at whether it is worth it
_SWITCH = 1e-5  # seconds after which a thread that decides lets the one go on that loads


def setting() -> str:
    """When code is compiled; `NUMBA_DISABLE_JIT=1` means never."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "never"
    chosen = os.environ.get("BELMAN_COMPILE", "background")
    if chosen not in _SETTINGS:
        raise SettingError(f"BELMAN_COMPILE={chosen!r} is unknown: there are {listing(_SETTINGS)}")
    return chosen


@contextmanager
def interpreted() -> Iterator[None]:
    """Let what begins inside be interpreted, where a place out of bounds is an IndexError."""
    before = os.environ.get("BELMAN_COMPILE")
    os.environ["BELMAN_COMPILE"] = "never"
    try:
        yield
    finally:
        if before is None:
            del os.environ["BELMAN_COMPILE"]
        else:
            os.environ["BELMAN_COMPILE"] = before


@contextmanager
def _hurried() -> Iterator[None]:
    """Loading reads many small files, after each of which it waits for Python's lock."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(min(interval, _SWITCH))
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


class _Background:
    """The thread that has code compiled and loads it, and what it was asked for."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.lock = threading.Lock()
        self.wanted: list[Code] = []
        self.asked: set[Code] = set()
        self.thread: threading.Thread | None = None
        self.child: subprocess.Popen[bytes] | None = None
        self.over = threading.Event()

    def want(self, code: Code) -> None:
        with self.lock:
            self.asked.add(code)
            self.wanted.append(code)
            if self.thread is None:
                name = "belman compiles"
                self.thread = threading.Thread(target=self.work, name=name, daemon=True)
                self.thread.start()

    def work(self) -> None:
        """Load what the cache holds, and have the rest compiled as soon as that is worth it."""
        missing: list[Code] = []
        while not self.over.is_set():
            with self.lock:
                fresh, self.wanted = self.wanted, []
                if not fresh and not missing:
                    self.thread = None
                    return
            with _hurried():
                result = [code for code in fresh if code.generated.kept]
            missing += [code for code in fresh if code not in result]
            if missing and self.spent >= _HOT:
                self.compile([code.generated.path for code in missing if code.generated.path])
                result, missing = result + missing, []
            with _hurried():
                for code in result:
                    self.load(code)
            if missing:
                self.over.wait(_LOOK)

    def compile(self, paths: list[Path]) -> None:
        """Have the modules at these paths compiled by another process."""
        if not paths:
            return
        command = [sys.executable, "-m", "belman.engine.precompile", *map(str, paths)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            self.child = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            with _hurried():
                importlib.import_module("belman.engine.compiler").prepare()
            self.child.wait()
        except OSError:
            return  # it is then compiled here
        finally:
            self.child = None

    def load(self, code: Code) -> None:
        """Load code, or go on without it."""
        try:
            if not self.over.is_set():
                code.function()
        except Exception as error:
            warnings.warn(f"belman goes on interpreted: {error}", RuntimeWarning, stacklevel=2)

    def end(self) -> None:
        """Before the process ends: nothing is left behind, and nothing in the middle of loading."""
        self.over.set()
        with self.lock:
            child, thread = self.child, self.thread
        if child is not None:
            child.terminate()
        if thread is not None:
            thread.join()


_background = _Background()
atexit.register(lambda: _background.end())


def _start_afresh() -> None:
    """A forked process has none of its parent's threads."""
    global _background
    _background = _Background()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def count(seconds: float) -> None:
    """Count CPU time spent on interpreting."""
    _background.spent += seconds


def hasten() -> None:
    """Load and compile from now on what is called once, and import now what that takes: this
    process will live long, and importing holds up whoever decides meanwhile.
    """
    if setting() != "never":
        importlib.import_module("belman.engine.compiler").prepare()
        count(_HOT)


def is_warm() -> bool:
    """Whether so much was interpreted that it is worth to look for compiled code."""
    return _background.spent >= _WARM


def want(code: Code) -> None:
    """Have code loaded if it is in the cache, and compiled if much was interpreted."""
    if code not in _background.asked:
        _background.want(code)
