"""Decide here, learn at home: a decider that assigns units by published weights, in this process.

It needs the standard library alone. A thread of its own fetches weights, and another sends outcomes
(`outbox.py`), so that no decision waits for a service, and no weights for outcomes that are slow to
be taken: `decide` is a hash and a look-up.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .assign import Unit, assign
from .documents import Arm, Weights
from .fetching import Service
from .messages import finite
from .outbox import Counts, Outbox, Refused, Row
from .paced_log import PacedLog
from .refusals import BelmanError, WeightsError
from .signatures import check_current, verify


class Decision(NamedTuple):
    """The arm of a unit; `version` and `chance` are None where the fallback arm was played."""

    unit: Unit
    arm: Arm
    chance: float | None
    version: int | None
    time: float
    context: Mapping[str, Any] | None = None


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
        self._fetching, self._closing = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._log = PacedLog("belman.assignment")  # with a lock that no thread of a parent holds
        self._service.close()
        self._outbox = Outbox(self._service, self._say, self._flush, self._clock, self._starts)
        self._process = os.getpid()  # from now on other threads use what is here
        if self._starts:
            self._thread = threading.Thread(target=self._renew, name="belman-weights", daemon=True)
            self._thread.start()

    def _say(self, problem: str) -> None:
        """Keep what went wrong, and log it at a decent pace."""
        self.problem = problem
        playing = "" if self.weights is not None else f"; every unit gets {self.fallback!r}"
        self._log.warn(f"study {self.study!r} of {self._service}: {problem}{playing}")

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

    def decide(self, unit: Unit, context: Mapping[str, Any] | None = None) -> Decision:
        """The arm of a unit, now; the same while the weights stand. A study with contexts decides
        by the `context`, such as {"country": "fr", "age": 31}.
        """
        self._check_process()
        now, found = self._clock(), self._weights
        if found is None or (found.valid_until is not None and now >= found.valid_until):
            return Decision(unit, self.fallback, None, None, now, context)
        arm, chance, version = assign(found, unit, context)
        return Decision(unit, arm, chance, version, now, context)

    def observe(
        self, decision: Decision, reward: float, attributes: Mapping[str, Any] | None = None
    ) -> bool:
        """Take the outcome of a decision, to be sent with others; False if it was dropped, since
        the service has been away for a million of them. Those of the fallback arm are sent too, and
        say that nobody drew lots for them. `attributes` of the unit, such as {"device": "phone"},
        are for reports.
        """
        self._check_process()
        row: Row = {
            "unit": decision.unit,
            "version": decision.version,
            "arm": decision.arm,
            "reward": finite(reward),
            "time": decision.time,
        }
        if attributes is not None:
            row["attributes"] = dict(attributes)
        if decision.context is not None:
            row["context"] = dict(decision.context)
        return self._outbox.put(row, decision.time + self._hold if self._hold else 0.0)

    @property
    def counts(self) -> Counts:
        """What became of the outcomes so far, in this process."""
        return self._outbox.counts

    # Talking to the service

    def fetch(self) -> bool:
        """Fetch weights now: whether there are new ones. What fails leaves those that are there,
        and is said by `problem`.
        """
        self._check_process()
        with self._fetching:
            try:
                answer = self._service.weights(self._tag)
                if answer is None:
                    return False
                text, tag = answer
                found = self._trusted(text)
            except BelmanError as error:
                self._say(str(error))
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
        """Send the outcomes that wait: whether all of them were taken. A batch whose answer was
        lost is sent again under its own key, and counts once; what the service refuses for good is
        logged, counted, and handed back by `take_refused`.
        """
        self._check_process()
        before = self.counts.refused
        return self._outbox.send() and self.counts.refused == before

    def take_refused(self) -> list[Refused]:
        """Hand back the outcomes that the service refused, each once, with the reason: to be put
        right and sent by `RemoteStudy.observe`, or to be kept. The last 10,000 wait for this.
        """
        return self._outbox.take_refused()

    def _renew(self) -> None:
        """Fetch weights until closed."""
        closing = self._closing  # of this process
        while not closing.is_set():
            self.fetch()
            closing.wait(self._refresh)

    # Its life

    def close(self, timeout: float = 10.0) -> bool:
        """Stop, and send what waits, for at most so many seconds: whether all of it was taken."""
        self._check_process()
        self._closing.set()
        until, before = time.monotonic() + timeout, self.counts.refused
        sent = self._outbox.close(timeout) and self.counts.refused == before
        if left := self.counts.waiting:
            self._say(f"{left:,} outcomes were not sent before the end")
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(max(until - time.monotonic(), 0.0))
        self._service.close()
        return sent

    def __enter__(self) -> LocalDecider:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        version = None if self._weights is None else self._weights.version
        return f"LocalDecider({str(self._service)!r}, {self.study!r}, version={version})"
