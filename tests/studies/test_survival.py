"""Crashes, full disks and servers that go away: what was acknowledged is there, once, and the state
is the fold of the log.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import pytest

from belman import errors
from belman.studies import Kind, Storage, open_study
from belman.studies.sqlite import SQLite
from tests.waiting import HANG, wait_until

ROUNDS = 6  # 200 in benchmarks/survival.py


@pytest.mark.parametrize("window", ["0", "0.05"], ids=["at once", "window"])
def test_writers_that_are_killed_lose_nothing(url, window):
    command = [sys.executable, "-m", "benchmarks.survival", str(ROUNDS), url, window]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    toll = json.loads(done.stdout)
    assert toll["rounds"] == ROUNDS
    assert toll["asks_noted"] > 0
    assert toll["tells_noted"] > 0
    assert toll["corrections_noted"] > 0


def test_a_full_disk_refuses_and_loses_nothing(tmp_path, monkeypatch):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    study = open_study("study", ["a", "b"], storage=storage, seed=1)
    pages = 60

    connect = SQLite.connect

    def limited(driver):
        connection = connect(driver)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(SQLite, "connect", limited)
    storage.close()
    tickets = []

    def fill() -> None:
        while True:
            tickets.append(study.ask(10))

    with pytest.raises(errors.StorageError, match="full"):
        fill()
    with pytest.raises(errors.StorageError, match="full"):
        study.ask(1000)
    assert study.outstanding == 10 * len(tickets) > 0
    digest = study.check()
    assert open_study("study", storage=storage).check() == digest
    pages = 10_000
    storage.close()
    assert study.tell(tickets[0][0].id, 1) is True
    assert study.ask().arm in ("a", "b")
    study.check()
    storage.close()


def one_more(things):
    """Wait until there is one more of them."""
    before = len(things)
    wait_until(lambda: len(things) > before)


def test_a_server_that_restarts_is_found_again_and_nothing_is_lost(postgres):
    """Writers retry with the same key until they are answered; each key then has exactly one
    ticket, told once.
    """
    storage = Storage(postgres.url)
    study = open_study("restart", ["a", "b", "c"], storage=storage, seed=1)
    study.tell(study.ask().id, 1)
    failures: list[errors.StorageError] = []
    answered: dict[str, str] = {}
    done = threading.Event()

    def insist(call):
        while True:
            try:
                return call()
            except errors.StorageError as error:
                failures.append(error)
                time.sleep(0.02)

    def write(number: int) -> None:
        turn = 0
        while not done.is_set():
            key = f"{number}:{turn}"
            ticket = insist(lambda key=key: study.ask(key=key))
            answered[key] = ticket.id
            insist(lambda ticket=ticket: study.tell(ticket.id, 1))
            turn += 1

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(3):
            one_more(answered)
            postgres.stop("immediate")
            one_more(failures)
            postgres.start()
        one_more(answered)
    finally:
        done.set()
        for writer in writers:
            writer.join()
    keyed = {event.key: event for event in study.events() if event.key}
    assert {key.removesuffix("/0") for key in keyed} == set(answered)
    assert all(
        answered[key.removesuffix("/0")].startswith(f"{event.number}-")
        for key, event in keyed.items()
    )
    assert sum(event.kind == Kind.TOLD for event in study.events()) == len(answered) + 1
    assert study.outstanding == 0
    study.check()
    storage.close()
