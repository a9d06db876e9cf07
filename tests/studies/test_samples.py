"""Databases that an earlier release wrote open, and their studies go on as they would have there."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import Any, NamedTuple

import pytest

from belman import errors
from belman.service.keys import Keys
from belman.studies import Storage, migrate, open_study
from tests.studies.samples.write import HERE, continued, seen


class Sample(NamedTuple):
    url: str
    known: dict[str, Any]

    def change(self, *statements: str) -> None:
        """Change the tables behind the back of any belman."""
        if self.url.startswith("sqlite"):
            connection: Any = sqlite3.connect(self.url.removeprefix("sqlite:///"))
        else:
            connection = pytest.importorskip("psycopg").connect(self.url)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def sample(request, tmp_path) -> Sample:
    known = json.loads((HERE / f"{request.param}.json").read_text(encoding="utf-8"))
    if request.param == "sqlite":
        shutil.copy(HERE / "sqlite.db", tmp_path / "studies.db")
        return Sample(f"sqlite:///{tmp_path}/studies.db", known)
    server = request.getfixturevalue("postgres")
    found = Sample(server.database(f"sample_{tmp_path.name}"), known)
    found.change((HERE / "postgresql.sql").read_text(encoding="utf-8"))
    return found


def test_studies_know_what_they_knew_and_go_on_as_they_would_have(sample):
    storage = Storage(sample.url)
    for name, known in sample.known["studies"].items():
        assert json.loads(json.dumps(seen(open_study(name, storage=storage)))) == known
    assert json.loads(json.dumps(continued(storage))) == sample.known["continued"]
    open_study("one more", ["a", "b"], storage=storage).ask()
    storage.close()


def test_keys_open_what_they_opened(sample):
    storage = Storage(sample.url)
    valid, revoked = sample.known["keys"]
    found = Keys(storage).find(valid)
    assert found is not None
    assert (found.name, found.role.word) == ("old friend", "play")
    assert Keys(storage).find(revoked) is None
    assert [key.name for key in Keys(storage).all()] == ["old friend", "revoked"]
    storage.close()


def test_the_first_tables_are_brought_up_to_date_on_request(sample):
    sample.change("DROP TABLE belman_keys", "UPDATE belman_version SET version_num = '0001'")
    with pytest.raises(errors.StorageError, match=r"version 0001.*belman study migrate --storage"):
        Storage(sample.url)
    assert migrate(sample.url) == migrate(sample.url) == "0002"
    storage = Storage(sample.url)
    assert Keys(storage).all() == []
    assert json.loads(json.dumps(continued(storage))) == sample.known["continued"]
    storage.close()


def test_an_export_is_the_one_that_was_written(tmp_path):
    shutil.copy(HERE / "sqlite.db", tmp_path / "studies.db")
    study = open_study("thompson", storage=f"sqlite:///{tmp_path}/studies.db")
    study.export(tmp_path / "thompson.csv")
    assert (tmp_path / "thompson.csv").read_text() == (HERE / "thompson.csv").read_text()
    rewards = study.status()["told"]
    assert study.record(HERE / "thompson.csv") == rewards
    study.storage.close()
