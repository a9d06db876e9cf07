"""Warnings that repeat at a decent pace: the first at once, and then one a minute with a count."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

#: Seconds between two lines that say the same.
PACE = 60.0
#: Different lines that are remembered; the oldest are forgotten.
MOST_REMEMBERED = 100


class PacedLog:
    """A logger for what goes wrong again and again.

    >>> log = PacedLog("belman.assignment", clock=lambda: 0.0)
    >>> log.warn("no answer"), log.warn("no answer"), log.warn("no such study")
    (True, False, True)
    """

    def __init__(self, name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = logging.getLogger(name), clock
        self._lock = threading.Lock()
        self._said: dict[str, tuple[float, int]] = {}  # when it was logged last, and how often not

    def warn(self, words: str, about: str | None = None) -> bool:
        """Log a warning, unless the same (or another about the same) was logged within the pace:
        whether it was.
        """
        now, known = self._clock(), about or words
        with self._lock:
            last, held = self._said.pop(known, (-PACE, 0))
            is_due = now >= last + PACE
            self._said[known] = (now, 0) if is_due else (last, held + 1)
            if len(self._said) > MOST_REMEMBERED:
                del self._said[next(iter(self._said))]
        if is_due:
            more = f" ({held:,} times more since it was last said)" if held else ""
            self._log.warning("%s%s", words, more)
        return is_due
