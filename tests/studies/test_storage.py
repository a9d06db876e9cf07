"""Where studies are kept: URLs, versions of tables, and extras that are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from belman import errors
from belman.studies import Storage, migrate, open_study
from belman.studies.log import schema
from belman.studies.log.event_log import EventLog
from belman.studies.log.storage import Transaction
from tests.waiting import HANG


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("studies.db", errors.SettingError, "is not a URL"),
        (None, errors.SettingError, "is not a URL"),
        ("mysql://x@y/z", errors.SettingError, "neither sqlite:///… nor postgresql://…"),
        ("sqlite://", errors.SettingError, "names no file"),
        ("sqlite:///:memory:", errors.SettingError, "names no file"),
        ("sqlite://host/a.db", errors.SettingError, "names no file"),
        ("sqlite:///a.db?synchronous=off", errors.SettingError, "synchronous='off'"),
        ("sqlite:///a.db?mode=ro", errors.SettingError, "option 'mode'"),
        ("postgresql://user@host:high/none", errors.SettingError, "is not a URL"),
        (
            "sqlite:////no/such/folder/studies.db",
            errors.StorageError,
            "unable to open database file",
        ),
        (
            "postgresql://user:secret@127.0.0.1:1/none",
            errors.StorageError,
            r"user:\*\*\*@127.* could not be opened",
        ),
        (
            "postgresql://user@127.0.0.1:1/none?autocommit=1",
            errors.StorageError,
            'invalid connection option "autocommit"',
        ),
        (
            "postgresql://127.0.0.1:1/none?user=me&password=secret",
            errors.StorageError,
            r"password=\*\*\* could not be opened",
        ),
    ],
)
def test_a_storage_that_cannot_be_is_refused(url, error, words):
    with pytest.raises(error, match=words) as caught:
        Storage(url)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "studies.db").write_text("dear diary, " * 100)
    with pytest.raises(errors.StorageError, match="not a database"):
        Storage(f"sqlite:///{tmp_path}/studies.db")


def test_tables_of_another_version_are_refused(url):
    storage = Storage(url)
    for result in ("9999", "0000"):
        storage.execute("UPDATE belman_version SET version_num = ?", result)
        with pytest.raises(
            errors.StorageError, match=f"tables of version {result}.*install a newer belman"
        ):
            Storage(url)
    storage.execute("UPDATE belman_version SET version_num = ?", schema.HEAD)
    Storage(url).close()
    storage.close()


def test_a_step_to_a_later_version_is_taken_whole_or_not_at_all(url, monkeypatch):
    """Steps of a version that is yet to come: one that fails halfway, then one that does not."""
    study = open_study("study", ["a", "b"], storage=url)
    study.ask()
    before = study.check()
    study.storage.close()
    half = "ALTER TABLE belman_studies ADD COLUMN note TEXT; INSERT INTO belman_nowhere VALUES (1)"
    for step in (half, half.partition(";")[0]):
        monkeypatch.setattr(schema, "STEPS", {**schema.STEPS, "0002": step})
        monkeypatch.setattr(schema, "HEAD", "0002")
        with pytest.raises(
            errors.StorageError, match=r"version 0001.*belman study migrate --storage"
        ):
            Storage(url)
        if step is half:
            with pytest.raises(errors.StorageError, match="belman_nowhere"):
                migrate(url)
    assert migrate(url) == migrate(url) == "0002"
    study = open_study("study", storage=url)
    assert study.check() == before
    assert study.storage.rows("SELECT note FROM belman_studies") == [(None,)]
    study.storage.execute("ALTER TABLE belman_studies DROP COLUMN note")  # others use them too
    study.storage.execute("UPDATE belman_version SET version_num = '0001'")
    study.storage.close()


def test_the_log_stands_even_against_a_program_that_writes_twice(opened):
    study = opened()
    study.tell(study.ask().id, 1)
    with pytest.raises(errors.StorageError, match="could not be written"):
        study.storage.execute(
            "INSERT INTO belman_events (study, number, kind, time, ticket) VALUES (1, 3, 3, 0.0, 2)"
        )
    study.check()


def test_what_was_told_of_a_ticket_is_found_without_reading_the_log(tmp_path, monkeypatch):
    study = open_study("study", ["a", "b"], storage=f"sqlite:///{tmp_path}/studies.db")
    queries = []
    monkeypatch.setattr(Transaction, "rows", lambda self, sql, *_: queries.append(sql) or [])
    with study.storage.transaction(write=False) as transaction:
        EventLog(1).of_ticket(transaction, 2)
    monkeypatch.undo()
    plan = study.storage.rows(f"EXPLAIN QUERY PLAN {queries[0]}", 1, 2)
    assert "USING INDEX belman_events_ticket (ticket=? AND study=?)" in str(plan)
    assert len(plan) == 1  # and nothing is sorted
    study.storage.close()


def test_studies_in_sqlite_need_no_extra_and_those_in_postgresql_say_which(tmp_path):
    script = """
import sys
sys.modules["psycopg"] = None
import belman
study = belman.open_study("study", ["a", "b"], storage=sys.argv[1])
print(study.ask().arm in study.arms)
try:
    belman.open_study("study", storage="postgresql://user:secret@127.0.0.1/none")
except belman.BelmanError as error:
    print(error)
"""
    url = f"sqlite:///{tmp_path}/studies.db"
    done = subprocess.run(
        [sys.executable, "-c", script, url],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.stdout.startswith("True\n"), done.stderr
    assert "pip install 'belman[postgresql]'" in done.stdout
    assert "secret" not in done.stdout


def test_an_error_inside_the_extra_is_its_own(tmp_path, monkeypatch):
    (tmp_path / "psycopg.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "psycopg", raising=False)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        Storage("postgresql://user@127.0.0.1/none")


def test_connections_that_were_lost_while_idle_are_replaced(postgres):
    storage = Storage(postgres.url)
    study = open_study("idle", ["a", "b"], storage=storage)
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    calls = (
        storage.names,
        study.ask,
        lambda: study.number,
        lambda: list(study.events()),
        lambda: storage.execute("DELETE FROM belman_keys"),
        lambda: Storage(postgres.url).close(),
    )
    for call in calls:
        with storage.transaction(write=False), storage.transaction(write=False) as second:
            second.rows("SELECT 1")  # two connections are idle afterwards
        killer = Storage(postgres.url)
        killer.rows(others)
        killer.close()
        call()
    study.check()
    storage.close()


def test_names_with_sql_in_them_are_names(url):
    storage = Storage(url)
    names = ["'; DROP TABLE belman_events; --", "%s %(x)s ? :y", "日本語 🎲"]
    for name in names:
        study = open_study(name, [name, "other"], storage=storage)
        study.pause(name)
        assert open_study(name, storage=storage).arms == (name, "other")
    assert storage.names() == sorted(names) or set(storage.names()) == set(names)
    storage.close()
