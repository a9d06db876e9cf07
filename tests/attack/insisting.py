"""Callers that insist: each request bears a key, and is sent until it is answered.

However often whoever answers goes away meanwhile, every key then has one ticket, told once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from belman.errors import ServiceError, StorageError
from belman.studies import Kind, Study
from tests.attack.harness import Trials
from tests.waiting import wait_until


class Insisting:
    """Threads that ask and tell for as long as it is entered; what they were answered."""

    def __init__(
        self, ask: Callable[[str], Any], tell: Callable[[str], object], callers: int = 3
    ) -> None:
        self._ask, self._tell = ask, tell
        self.answered: dict[str, str] = {}  # the ticket of every key
        self.failures: list[Exception] = []
        self.broken: list[BaseException] = []  # errors that are no failure of a line
        self._done = threading.Event()
        self._threads = [
            threading.Thread(target=self._call, args=(number,)) for number in range(callers)
        ]

    def __enter__(self) -> Insisting:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def wait_for_answers(self) -> None:
        """Until somebody is answered once more, or broke down."""
        before = len(self.answered)
        wait_until(lambda: len(self.answered) > before or self.broken)

    def wait_for_failures(self) -> None:
        """Until somebody was not answered once more, or broke down."""
        before = len(self.failures)
        wait_until(lambda: len(self.failures) > before or self.broken)

    def _call(self, number: int) -> None:
        turn = 0
        try:
            while not self._done.is_set():
                key = f"{number}:{turn}"
                ticket = self._insist(lambda key=key: self._ask(key)).id  # type: ignore[misc]
                self.answered[key] = ticket
                self._insist(lambda ticket=ticket: self._tell(ticket))  # type: ignore[misc]
                turn += 1
        except BaseException as error:
            self.broken.append(error)

    def _insist(self, call: Callable[[], Any]) -> Any:
        while True:
            try:
                return call()
            except (ServiceError, StorageError) as error:
                self.failures.append(error)
                time.sleep(0.02)

    def compare(self, trials: Trials, study: Study) -> None:
        """Every key has one ticket in the log, told once, and there are no others."""
        trials.result += [f"a caller broke down: {error!r}" for error in self.broken]
        study.check()
        events = list(study.events())
        asked = sorted(event.number for event in events if event.kind == Kind.ASKED)
        told = sorted(event.ticket or 0 for event in events if event.kind == Kind.TOLD)
        noted = sorted(int(ticket.partition("-")[0]) for ticket in self.answered.values())
        trials.expect(asked == noted, f"asked {_apart(asked, noted)}")
        trials.expect(told == noted, f"told {_apart(told, noted)}")
        trials.expect(study.outstanding == 0, f"{study.outstanding} are out")


def _apart(result: list[int], noted: list[int]) -> str:
    lost, others = sorted(set(noted) - set(result)), sorted(set(result) - set(noted))
    twice = len(result) - len(set(result))
    return f"lost: {lost[:5]}, of nobody: {others[:5]}, twice: {twice}"
