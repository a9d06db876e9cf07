"""Where studies are kept: URLs, versions of tables, and extras that are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from belman import errors
from belman.studies import Storage, open_study, schema, versions
from tests.waiting import HANG


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("studies.db", errors.SettingError, "is no URL"),
        (None, errors.SettingError, "is no URL"),
        ("mysql://x@y/z", errors.SettingError, "neither sqlite:///… nor postgresql://…"),
        ("sqlite://", errors.SettingError, "names no file"),
        ("sqlite:///:memory:", errors.SettingError, "names no file"),
        ("sqlite:///a.db?synchronous=off", errors.SettingError, "synchronous='off'"),
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
    for found in ("9999", "0000"):
        with storage.writing() as connection:
            connection.exec_driver_sql(f"UPDATE belman_version SET version_num = '{found}'")
        with pytest.raises(
            errors.StorageError, match=f"tables of version {found}.*install a newer belman"
        ):
            Storage(url)
    with storage.writing() as connection:
        connection.exec_driver_sql(f"UPDATE belman_version SET version_num = '{versions.HEAD}'")
    Storage(url).close()
    storage.close()


def test_the_steps_lead_to_the_tables_that_the_code_knows(url):
    storage = Storage(url)
    with storage.reading() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": _is_ours})
        assert compare_metadata(context, schema.metadata) == []
        assert versions.version(connection) == versions.HEAD
    storage.close()


def _is_ours(thing, name, kind, reflected, other) -> bool:
    return kind != "table" or (name.startswith("belman_") and name != versions.VERSION_TABLE)


def test_the_log_stands_even_against_a_program_that_writes_twice(opened):
    study = opened()
    study.tell(study.ask().id, 1)
    with pytest.raises(errors.StorageError), study.storage.writing() as connection:
        connection.exec_driver_sql(
            "INSERT INTO belman_events (study, number, kind, time, ticket) VALUES (1, 99, 3, 0.0, 2)"
        )
    study.check()


def test_a_study_without_its_extra_says_what_to_install():
    script = """
import sys
sys.modules["sqlalchemy"] = None
import belman
try:
    belman.open_study
except belman.BelmanError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert "pip install 'belman[studies]'" in done.stdout, done.stderr


def test_names_with_sql_in_them_are_names(url):
    storage = Storage(url)
    names = ["'; DROP TABLE belman_events; --", "%s %(x)s ? :y", "日本語 🎲"]
    for name in names:
        study = open_study(name, [name, "other"], storage=storage)
        study.pause(name)
        assert open_study(name, storage=storage).arms == (name, "other")
    assert storage.names() == sorted(names) or set(storage.names()) == set(names)
    storage.close()
