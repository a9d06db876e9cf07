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
        self.requests = Counter("belman_requests", words, labels, registry=known)
        name, words, buckets = "belman_request_seconds", "Seconds to an answer.", _SECONDS
        self.seconds = Histogram(name, words, ("route",), buckets=buckets, registry=known)
        words, sizes = "Asks and tells in one transaction.", (1, 2, 4, 8, 16, 32, 64, 128, 256)
        self.batch_size = Histogram("belman_together", words, buckets=sizes, registry=known)
        self.tickets = Counter("belman_tickets", "Tickets given.", registry=known)
        self.rewards = Counter("belman_rewards", "Rewards told that were news.", registry=known)
        words = "Changes over time that studies noticed."
        self.changes = Counter("belman_changes", words, registry=known)
        self.watchers = Gauge("belman_watchers", "Pages that watch a study.", registry=known)

    def text(self) -> bytes:
        """All of them, in the form that Prometheus reads."""
        return generate_latest(self._registry)
