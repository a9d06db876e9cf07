"""How many pages may watch at once: of one caller, and in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from belman.service.limits import Limits
from belman.service.metrics import Metrics
from belman.service.problems import RefusedError

RETRY_SECONDS = "10"


class Streams:
    """The streams that are open, by caller."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_more(self, caller: str) -> Iterator[None]:
        """One stream more, as long as the context lasts; a problem where there are too many."""
        own, most = self._open[caller], self._limits.max_streams_per_key
        if own >= most:
            detail = f"{own:,} streams are open with this key, and {most:,} may be: close one"
            raise RefusedError(429, detail, {"Retry-After": RETRY_SECONDS})
        if self._open.total() >= self._limits.max_streams:
            detail = f"{self._limits.max_streams:,} streams are open here: try again later"
            raise RefusedError(503, detail, {"Retry-After": RETRY_SECONDS})
        self._open[caller] += 1
        self._metrics.watchers.inc()
        try:
            yield
        finally:
            self._metrics.watchers.dec()
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]
