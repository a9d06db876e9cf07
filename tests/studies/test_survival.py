"""A full disk: what was acknowledged is there, once, and the state is the fold of the log.

Kills and restarts are attacks: tests/attack.
"""

from __future__ import annotations

import pytest

from belman import errors
from belman.studies import Storage, open_study
from belman.studies.log.sqlite import SQLite


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
