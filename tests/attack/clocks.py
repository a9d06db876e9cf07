"""Callers with wrong clocks: a study's time never goes back, and no ticket closes before its time.

On SQLite the callers' clocks are all there is: the study goes by the latest that was seen. On
PostgreSQL the clock of the server decides, whatever a caller's machine says.
"""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from belman.errors import StudyError, TicketError
from belman.studies import Storage, Study, open_study
from tests.attack.harness import Attack, Trials
from tests.studies.postgres import Postgres, programs

YEAR = 365.25 * 86400.0
WINDOW = 100.0
CALLS = 40
ERRORS = (0.0, 0.0, 1.0, -1.0, 3600.0, -3600.0, YEAR, -YEAR, -60.0 * YEAR)
NO_TIMES = (math.nan, math.inf, -math.inf, 1e300, None, "now", True)


class Clock:
    """Of one caller: right but for an error, which changes now and then."""

    def __init__(self, luck: random.Random) -> None:
        self.luck, self.truth, self.error = luck, 1e9, luck.choice(ERRORS)
        self.latest = -math.inf  # that it ever said

    def __call__(self) -> float:
        if self.luck.random() < 0.1:
            self.error = self.luck.choice(ERRORS)
        said = self.truth + self.error
        self.latest = max(self.latest, said)
        return said


def run(trials: Trials) -> None:
    """A trial is a study with some callers; every tenth on PostgreSQL, where it is installed."""
    server = None
    try:
        for number in trials:
            if number % 10 == 9 and programs() is not None:
                server = server or Postgres()
                _on_postgresql(trials, server.url, f"clock {number}")
            else:
                _on_sqlite(trials)
    finally:
        if server is not None:
            server.close()


def _on_sqlite(trials: Trials) -> None:
    luck = trials.luck
    with tempfile.TemporaryDirectory() as folder:
        url, clocks = f"sqlite:///{folder}/studies.db?synchronous=normal", []
        storages, callers = [], []
        for _ in range(3):
            clocks.append(Clock(luck))
            storages.append(Storage(url))
            chosen = {"storage": storages[-1], "clock": clocks[-1], "window": WINDOW, "seed": 1}
            callers.append(open_study("study", ["a", "b"], **chosen))
        asked: dict[str, float] = {}
        for _ in range(CALLS):
            for clock in clocks:
                clock.truth += 5.0
            _call(trials, luck.choice(callers), asked, clocks)
        for wrong in NO_TIMES:
            study = Study("study", storages[0], clock=lambda wrong=wrong: wrong)  # type: ignore
            _refuses(trials, study, wrong)
        _compare(trials, callers[0])
        for storage in storages:
            storage.close()


def _call(trials: Trials, study: Study, asked: dict[str, float], clocks: list[Clock]) -> None:
    """Ask or tell; a ticket is refused only if somebody's clock has passed its window."""
    if trials.luck.random() < 0.5 or not asked:
        ticket = study.ask()
        asked[ticket.id] = ticket.time
        return
    ticket_id = trials.luck.choice(list(asked))
    ends = asked.pop(ticket_id) + WINDOW
    try:
        study.tell(ticket_id, 1)
    except TicketError:
        latest = max(clock.latest for clock in clocks)
        is_over = latest >= ends
        trials.expect(is_over, f"at {latest} a ticket was closed that is open until {ends}")


def _refuses(trials: Trials, study: Study, wrong: object) -> None:
    before = study.storage.rows("SELECT count(*) FROM belman_events")
    try:
        study.ask()
        trials.expect(False, f"a clock that says {wrong!r} was believed")
    except StudyError:
        pass
    after = study.storage.rows("SELECT count(*) FROM belman_events")
    trials.expect(before == after, f"a clock that says {wrong!r} changed the log")


def _compare(trials: Trials, study: Study) -> None:
    times = [event.time for event in study.events()]
    trials.expect(times == sorted(times), "time went back")
    study.check()


@contextmanager
def _machine_at(error: float) -> Iterator[None]:
    """A machine whose clock is wrong."""
    real = time.time
    time.time = lambda: real() + error  # type: ignore[assignment]
    try:
        yield
    finally:
        time.time = real  # type: ignore[assignment]


def _on_postgresql(trials: Trials, url: str, name: str) -> None:
    storage = Storage(url)
    began = time.time()
    study = open_study(name, ["a", "b"], storage=storage, seed=1, window=3600.0)
    for _ in range(CALLS // 4):
        with _machine_at(trials.luck.choice(ERRORS)):
            caller = Study(name, storage)
            tickets = caller.ask(2)
            news = caller.tell(tickets[0].id, 1)
            trials.expect(news, "a ticket was closed by a caller's clock")
        near = all(abs(ticket.time - began) < 1800.0 for ticket in tickets)
        trials.expect(near, f"a ticket has a caller's time: {tickets}")
    expired = study.status()["expired"]
    trials.expect(expired == 0, f"{expired} tickets expired by a caller's clock")
    _compare(trials, study)
    storage.close()


ATTACK = Attack(
    "clocks",
    "callers whose clocks are wrong by up to 60 years, change, or give no time at all",
    "time never goes back in a log, no ticket closes before its time, on PostgreSQL by the clock "
    "of the server; what is not a time is refused and changes nothing",
    run,
    short=20,
    long=1_000,
    seconds=600.0,
)
