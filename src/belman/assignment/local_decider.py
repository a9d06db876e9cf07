"""Decide here, learn at home: a decider that assigns units by published weights, in this process.

It needs the standard library alone. A thread of its own fetches weights and sends outcomes, so that
no decision waits for a service: `decide` is a hash and a look-up.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from .assign import assign
from .documents import Arm, Weights
from .fetching import Service
from .hashing import Unit
from .messages import finite
from .refusals import BelmanError, ServiceError, WeightsError
from .signatures import check_current, verify

#: Rows of one request, and rows that wait for a service that is away before new ones are dropped.
BATCH, MOST_WAITING = 1_000, 1_000_000

Row = dict[str, Any]
Batch = tuple[str, list[Row]]  # under an idempotency key


class Decision(NamedTuple):
    """The arm of a unit; `version` and `chance` are None where the fallback arm was played."""

    unit: Unit
    arm: Arm
    chance: float | None
    version: int | None
    time: float


class Counts(NamedTuple):
    """What became of the outcomes: waiting here, sent and acknowledged, refused, dropped."""

    waiting: int
    sent: int
    refused: int
    dropped: int


class LocalDecider:
    """Assigns units by the weights that a service publishes, and sends it their outcomes.

    `fallback` is the arm for units while there are no weights that are valid: before the first
    fetch succeeded, and once those that were fetched last have expired. With `keys`, public keys by
    their ids, only signed weights are believed. Weights are fetched every `refresh` seconds and
    outcomes sent every `flush` seconds, or as soon as there are a thousand, and none before `hold`
    seconds after its decision. It may be shared by threads and used from asyncio, since neither
    `decide` nor `observe` waits for anything; after a fork the child begins with the weights, and
    with none of its parent's outcomes.

    >>> decider = LocalDecider("http://127.0.0.1:9", "checkout", fallback="blue", start=False)
    >>> decider.decide("user-1").arm
    'blue'
    >>> decider.close()
    True
    """

    def __init__(
        self,
        url: str,
        study: str,
        *,
        fallback: Arm,
        key: str | None = None,
        segment: str | None = None,
        keys: Mapping[str, bytes] | None = None,
        refresh: float = 5.0,
        flush: float = 1.0,
        hold: float = 0.0,
        timeout: float = 10.0,
        clock: Callable[[], float] = time.time,
        start: bool = True,
    ) -> None:
        if not refresh > 0.0 or not flush > 0.0 or not hold >= 0.0:
            given = f"refresh={refresh!r}, flush={flush!r} and hold={hold!r}"
            raise WeightsError(f"{given}: give seconds, for the first two above 0")
        self.study, self.segment, self.fallback = study, segment, fallback
        self.problem: str | None = None  # what went wrong last, with weights or outcomes
        self._service = Service(url, study, segment, key, timeout, keys is not None)
        self._keys, self._clock, self._starts = keys, clock, start
        self._refresh, self._flush, self._hold = refresh, flush, hold
        self._weights: Weights | None = None
        self._tag: str | None = None
        self._begin()

    def _begin(self) -> None:
        """What belongs to this process alone."""
        self._process = os.getpid()
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._working = threading.Lock()  # held by whoever fetches or sends
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Row]] = []  # a heap, by when each may be sent
        self._batches: deque[Batch] = deque()  # of which the first is on its way
        self._sent = self._refused = self._dropped = 0
        self._closing = False
        self._thread: threading.Thread | None = None
        self._service.close()
        if self._starts:
            self._thread = threading.Thread(target=self._work, name="belman-decider", daemon=True)
            self._thread.start()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            self._begin()

    # Deciding

    @property
    def weights(self) -> Weights | None:
        """The weights by which units are assigned now; None where there are none that are valid."""
        found = self._weights
        if found is None or (found.valid_until is not None and self._clock() >= found.valid_until):
            return None
        return found

    def decide(self, unit: Unit) -> Decision:
        """The arm of a unit, now; the same while the weights stand."""
        if self._process != os.getpid():
            self._begin()
        now, found = self._clock(), self._weights
        if found is None or (found.valid_until is not None and now >= found.valid_until):
            return Decision(unit, self.fallback, None, None, now)
        arm, chance, version = assign(found, unit)
        return Decision(unit, arm, chance, version, now)

    def observe(self, decision: Decision, reward: float) -> bool:
        """Take the outcome of a decision, to be sent with others; False if it was dropped, since
        the service has been away for a million of them. Those of the fallback arm are sent too, and
        say that nobody drew lots for them.
        """
        self._check_process()
        row = {
            "unit": decision.unit,
            "version": decision.version,
            "arm": decision.arm,
            "reward": finite(reward),
            "time": decision.time,
        }
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                self._dropped += 1
                return False
            due = decision.time + self._hold if self._hold else 0.0
            heapq.heappush(self._waiting, (due, next(self._order), row))
            full = len(self._waiting) % BATCH == 0
        if full:
            self._wake.set()
        return True

    @property
    def counts(self) -> Counts:
        """What became of the outcomes so far, in this process."""
        with self._lock:
            waiting = len(self._waiting) + sum(len(rows) for _, rows in self._batches)
            return Counts(waiting, self._sent, self._refused, self._dropped)

    # Talking to the service

    def fetch(self) -> bool:
        """Fetch weights now: whether there are new ones. What fails leaves those that are there,
        and is said by `problem`.
        """
        self._check_process()
        with self._working:
            try:
                answer = self._service.weights(self._tag)
                if answer is None:
                    return False
                text, tag = answer
                found = self._trusted(text)
            except BelmanError as error:
                self.problem = str(error)
                return False
            is_new = self._weights is None or found.version > self._weights.version
            self._weights, self._tag, self.problem = found, tag, None
            return is_new

    def _trusted(self, text: bytes) -> Weights:
        newest = 0 if self._weights is None else self._weights.version
        now = self._clock()
        if self._keys is not None:
            mine, part = self.study, self.segment
            return verify(text, self._keys, study=mine, segment=part, newest=newest, now=now)
        found = Weights.from_json(text)
        check_current(found, self.study, self.segment, newest, now)
        return found

    def send(self) -> bool:
        """Send the outcomes that wait: whether all of them were acknowledged. A batch whose answer
        was lost is sent again under its own key, and counts once.
        """
        self._check_process()
        sent: bool | None = True
        while sent:
            sent = self._send_batch()
        return sent is None

    def _send_batch(self) -> bool | None:
        """Whether a batch was settled, of which the service is the judge; None if none waits."""
        with self._working:
            batch = self._next_batch()
            if batch is None:
                return None
            try:
                self._service.observe(*batch)
            except ServiceError as error:
                self.problem = str(error)
                return False
            except BelmanError as error:
                self.problem = str(error)
                self._is_refused(batch)
            else:
                with self._lock:
                    self._batches.popleft()
                    self._sent += len(batch[1])
            return True

    def _next_batch(self) -> Batch | None:
        with self._lock:
            if not self._batches:
                now, rows = self._clock(), list[Row]()
                while self._waiting and len(rows) < BATCH and self._waiting[0][0] <= now:
                    rows.append(heapq.heappop(self._waiting)[2])
                if rows:
                    self._batches.append((os.urandom(16).hex(), rows))
            return self._batches[0] if self._batches else None

    def _is_full(self) -> bool:
        """Whether the next batch need not wait for more."""
        with self._lock:
            due = bool(self._waiting) and self._waiting[0][0] <= self._clock()
            return bool(self._batches) or (due and len(self._waiting) >= BATCH)

    def _is_refused(self, batch: Batch) -> None:
        """A batch counts as a whole or not at all: halve it until what is wrong is alone."""
        rows = batch[1]
        half = len(rows) // 2
        with self._lock:
            self._batches.popleft()
            if half:
                self._batches.appendleft((os.urandom(16).hex(), rows[half:]))
                self._batches.appendleft((os.urandom(16).hex(), rows[:half]))
            else:
                self._refused += 1

    def _work(self) -> None:
        """Fetch and send until closed."""
        next_fetch = 0.0
        while not self._closing:
            if time.monotonic() >= next_fetch:
                self.fetch()
                next_fetch = time.monotonic() + self._refresh
            self._wake.clear()
            sent = self._send_batch()
            if (
                sent and self._is_full()
            ):  # and perhaps weights are to be fetched before the next one
                continue
            left = next_fetch - time.monotonic()
            if not self._closing:
                self._wake.wait(self._flush if sent is False else min(self._flush, max(left, 0.0)))

    # Its life

    def close(self, timeout: float = 10.0) -> bool:
        """Stop, and send what waits, for at most so many seconds: whether all of it was sent."""
        self._check_process()
        self._closing = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        until, sent = time.monotonic() + timeout, not self.counts.waiting
        while not sent and time.monotonic() < until:
            sent = self.send()
            if not sent:
                self._wake.clear()
                self._wake.wait(min(0.1, timeout))
        self._service.close()
        return sent

    def __enter__(self) -> LocalDecider:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        version = None if self._weights is None else self._weights.version
        return f"LocalDecider({str(self._service)!r}, {self.study!r}, version={version})"
