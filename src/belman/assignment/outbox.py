"""Outcomes on their way to a service: gathered, sent in batches, and counted once.

A batch keeps its idempotency key until the service has judged it, so that one whose answer was lost
is sent again and changes nothing. What waits here is lost with the process.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from .fetching import Service
from .refusals import BelmanError, ServiceError

#: Rows of one request, and rows that wait for a service that is away before new ones are dropped.
BATCH, MOST_WAITING = 1_000, 1_000_000
#: Rows that were refused and are kept to be handed back; older ones are dropped.
MOST_REFUSED = 10_000

Row = dict[str, Any]
Batch = tuple[str, list[Row]]  # under an idempotency key


class Counts(NamedTuple):
    """What became of the outcomes: waiting here, sent and acknowledged, refused, dropped."""

    waiting: int
    sent: int
    refused: int
    dropped: int


class Refused(NamedTuple):
    """An outcome that the service will never take, as a row that `observe` takes, and why."""

    row: Row
    why: str


class Outbox:
    """Rows that wait, and the thread that sends them every `flush` seconds, or as soon as there are
    a thousand; none before it is due. `say` is told what goes wrong.
    """

    def __init__(
        self,
        service: Service,
        say: Callable[[str], None],
        flush: float,
        clock: Callable[[], float],
        start: bool,
    ) -> None:
        self._service, self._say, self._flush, self._clock = service, say, flush, clock
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._sending = threading.Lock()
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Row]] = []  # a heap, by when each may be sent
        self._batches: deque[Batch] = deque()  # of which the first is on its way
        self._sent = self._refused = self._dropped = 0
        self._kept: deque[Refused] = deque()
        self._closing = False
        self._thread: threading.Thread | None = None
        if start:
            self._thread = threading.Thread(target=self._work, name="belman-outcomes", daemon=True)
            self._thread.start()

    def put(self, row: Row, due: float) -> bool:
        """Take a row, to be sent when it is due; False where too many wait."""
        with self._lock:
            is_room = len(self._waiting) < MOST_WAITING
            self._dropped += not is_room
            if is_room:
                heapq.heappush(self._waiting, (due, next(self._order), row))
            full = len(self._waiting) % BATCH == 0
        if not is_room:
            self._say(f"{MOST_WAITING:,} outcomes wait for the service: new ones are dropped")
        elif full:
            self._wake.set()
        return is_room

    @property
    def counts(self) -> Counts:
        """What became of the rows so far."""
        with self._lock:
            waiting = len(self._waiting) + sum(len(rows) for _, rows in self._batches)
            return Counts(waiting, self._sent, self._refused, self._dropped)

    def send(self) -> bool:
        """Send what is due: whether all of it was judged by the service, be it refused."""
        sent: bool | None = True
        while sent:
            sent = self._send_batch()
        return sent is None

    def _send_batch(self) -> bool | None:
        """Whether the service settled a batch; None if none is due."""
        with self._sending:
            batch = self._next_batch()
            if batch is None:
                return None
            try:
                self._service.observe(*batch)
            except ServiceError as error:
                self._say(str(error))
                return False
            except BelmanError as error:
                self._is_refused(batch, str(error))
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

    def _is_refused(self, batch: Batch, why: str) -> None:
        """A batch counts as a whole or not at all: halve it until what is wrong is alone, which is
        kept to be handed back.
        """
        rows = batch[1]
        half = len(rows) // 2
        with self._lock:
            self._batches.popleft()
            if half:
                self._batches.appendleft((os.urandom(16).hex(), rows[half:]))
                self._batches.appendleft((os.urandom(16).hex(), rows[:half]))
                return
            self._refused += 1
            self._kept.append(Refused(rows[0], why))
            if len(self._kept) > MOST_REFUSED:
                self._kept.popleft()
                self._dropped += 1
        self._say(f"an outcome was refused: {why}")

    def take_refused(self) -> list[Refused]:
        """Hand back the rows that were refused, each once."""
        with self._lock:
            result = list(self._kept)
            self._kept.clear()
            return result

    def _work(self) -> None:
        """Send until closed."""
        while not self._closing:
            self._wake.clear()
            sent = self._send_batch()
            if not self._closing and not (sent and self._is_full()):
                self._wake.wait(self._flush)

    def close(self, timeout: float) -> bool:
        """Stop, and send what is due, for at most `timeout` seconds: whether all of it was sent."""
        self._closing = True
        self._wake.set()
        until = time.monotonic() + timeout
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        sent = not self.counts.waiting
        while not sent and time.monotonic() < until:
            sent = self.send()
            if not sent:
                time.sleep(min(0.1, timeout))
        return sent
