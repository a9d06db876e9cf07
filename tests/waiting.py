"""How tests wait: for what happens, however long that takes on a busy machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Seconds after which a test is held to hang. It ends a run that would never end, and measures
#: nothing: what has to be fast is measured in `benchmarks/`.
HANG = 1_800.0


def wait_until(happened: Callable[[], object]) -> None:
    """Look again and again until it has happened."""
    end = time.monotonic() + HANG
    while not happened():
        assert time.monotonic() < end, f"{HANG:g} s have passed, and it has not happened"
        time.sleep(0.01)


@contextmanager
def process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes for what it says, that is gone when the test is, whatever happened."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, **options) as result:
        try:
            yield result
        finally:
            result.kill()
