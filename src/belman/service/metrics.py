"""What Prometheus reads: requests by route and status, their duration, how many a transaction."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The counters of one service; names of studies and keys are never labels."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        known = self._registry
        labels, words = ("method", "route", "status"), "Requests answered."
        self._requests = Counter("belman_requests", words, labels, registry=known)
        name, words, buckets = "belman_request_seconds", "Seconds to an answer.", _SECONDS
        self._seconds = Histogram(name, words, ("route",), buckets=buckets, registry=known)
        self._by_kind: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        words, sizes = "Asks and tells in one transaction.", (1, 2, 4, 8, 16, 32, 64, 128, 256)
        self.batch_size = Histogram("belman_together", words, buckets=sizes, registry=known)
        self.tickets = Counter("belman_tickets", "Tickets given.", registry=known)
        self.rewards = Counter("belman_rewards", "Rewards told that were news.", registry=known)
        words = "Requests with outcomes that were refused, and outcomes refused in a batch."
        self.refused = Counter("belman_refused_outcomes", words, registry=known)
        words = "Changes over time that studies noticed."
        self.changes = Counter("belman_changes", words, registry=known)
        self.watchers = Gauge("belman_watchers", "Pages that watch a study.", registry=known)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request got this answer after so long."""
        kind = (method, route, status)
        if kind not in self._by_kind:
            self._by_kind[kind] = self._requests.labels(*kind), self._seconds.labels(route)
        requests, waits = self._by_kind[kind]
        requests.inc()
        waits.observe(seconds)

    def text(self) -> bytes:
        """All of them, in the form that Prometheus reads."""
        return generate_latest(self._registry)
