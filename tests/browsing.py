"""A browser for tests of pages, in which nothing can hang for ever."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Test = TypeVar("Test")
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


def browsed(test: Test) -> Test:
    """Mark a test that looks at pages in Chromium: it is slow, and skipped where there is none."""
    missing = pytest.mark.skipif(
        CHROMIUM is None,
        reason="there is no Chromium here: `make browser` installs it on Debian and Ubuntu",
    )
    return missing(pytest.mark.slow(test))


#: Seconds after which a page is held to hang, and after which a whole test of pages is.
PAGE_HANG, TEST_HANG = 120.0, 600.0


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser, gone when the context is."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        result = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield result
        finally:
            with limited(PAGE_HANG):
                result.close()


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End this process's browsers after so many seconds. A call to one that has no limit of its own
    (a script, a picture, its closing) fails then, where it would wait for ever.
    """
    timer = threading.Timer(seconds, _end_browsers)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _children(process: int) -> set[int]:
    result: set[int] = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended meanwhile
            result |= {int(child) for child in task.read_text().split()}
    return result


def _end_browsers() -> None:
    for driver in _children(os.getpid()):
        for one in _children(driver):
            with suppress(OSError):
                if "chrom" in Path(f"/proc/{one}/cmdline").read_text():
                    os.kill(one, signal.SIGKILL)
