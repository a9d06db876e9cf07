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

    It may be shared by threads and used from asyncio, since neither `decide` nor `observe` waits;
    after a fork the child begins with the weights, and with none of its parent's outcomes.

    Parameters
    ----------
    url
        The address of the service.
    study
        The name of the study.
    fallback
        The arm for units while there are no valid weights: before the first fetch succeeds, and
        after the last weights have expired.
    key
        A key of the service, where it asks for one.
    segment
        The segment whose weights are used; by default those for all units.
    keys
        Public keys by their ids: then only signed weights are accepted.
    refresh
        Seconds between two fetches of weights.
    flush
        Seconds between two batches of outcomes; a thousand are sent at once.
    hold
        Seconds from a decision until its outcome is sent.
    timeout
        Seconds after which a request has failed.
    clock
        A function that gives the time in seconds since 1970.
    start
        Whether to fetch and send in threads; else call `fetch` and `send`.

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
        """Return the weights by which units are assigned now; None if there are no valid ones."""
        result = self._weights
        if result is None or (
            result.valid_until is not None and self._clock() >= result.valid_until
        ):
            return None
        return result

    def decide(self, unit: Unit, context: Mapping[str, Any] | None = None) -> Decision:
        """Assign a unit: it gets the same arm while the weights are in force.

        Parameters
        ----------
        unit
            The name of the unit.
        context
            Values by name, such as {"country": "fr", "age": 31}, for a study with contexts.

        Returns
        -------
        Decision
            The arm, with its probability and the version of the weights; None for both where the
            fallback arm is used.
        """
        self._check_process()
        now, result = self._clock(), self._weights
        if result is None or (result.valid_until is not None and now >= result.valid_until):
            return Decision(unit, self.fallback, None, None, now, context)
        arm, chance, version = assign(result, unit, context)
        return Decision(unit, arm, chance, version, now, context)

    def observe(
        self, decision: Decision, reward: float, attributes: Mapping[str, Any] | None = None
    ) -> bool:
        """Take the outcome of a decision, to be sent with others. Outcomes of the fallback arm are
        sent too, marked as not drawn.

        Parameters
        ----------
        decision
            What `decide` returned.
        reward
            The reward.
        attributes
            Values of the unit for reports, such as {"device": "phone"}.

        Returns
        -------
        bool
            False if the outcome was dropped, since a million wait for the service.
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
        """Fetch weights now. A failure leaves the present ones in use, and `problem` says what it
        was.

        Returns
        -------
        bool
            Whether there are new weights.
        """
        self._check_process()
        with self._fetching:
            try:
                answer = self._service.weights(self._tag)
                if answer is None:
                    return False
                text, tag = answer
                result = self._trusted(text)
            except BelmanError as error:
                self._say(str(error))
                return False
            is_new = self._weights is None or result.version > self._weights.version
            self._weights, self._tag, self.problem = result, tag, None
            return is_new

    def _trusted(self, text: bytes) -> Weights:
        newest = 0 if self._weights is None else self._weights.version
        now = self._clock()
        if self._keys is not None:
            mine, part = self.study, self.segment
            return verify(text, self._keys, study=mine, segment=part, newest=newest, now=now)
        result = Weights.from_json(text)
        check_current(result, self.study, self.segment, newest, now)
        return result

    def send(self) -> bool:
        """Send the outcomes that wait. A batch whose answer was lost is sent again under its own
        key, and counts once; outcomes that the service refuses for good are logged, counted, and
        returned by `take_refused`.

        Returns
        -------
        bool
            Whether all of them were accepted.
        """
        self._check_process()
        before = self.counts.refused
        return self._outbox.send() and self.counts.refused == before

    def take_refused(self) -> list[Refused]:
        """Return the outcomes that the service refused, each once, with the reason: correct them
        and send them by `RemoteStudy.observe`, or keep them.

        Returns
        -------
        list
            The last 10,000 at most.
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
        """Stop, and send the outcomes that wait.

        Parameters
        ----------
        timeout
            For how many seconds at most.

        Returns
        -------
        bool
            Whether all of them were accepted.
        """
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
