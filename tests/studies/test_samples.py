"""Databases that an earlier release wrote open, and their studies go on as they would have."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import Any, NamedTuple

import pytest

from belman import errors
from belman.service.keys import Keys
from belman.studies import Storage, migrate, open_study
from belman.studies.log import schema
from tests.studies.samples.write import HERE, continued, seen


class Sample(NamedTuple):
    url: str
    empty: str  # a database of the same kind, without tables
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
        return Sample(f"sqlite:///{tmp_path}/studies.db", f"sqlite:///{tmp_path}/empty.db", known)
    server = request.getfixturevalue("postgres")
    names = (f"sample_{tmp_path.name}", f"empty_{tmp_path.name}")
    found = Sample(*map(server.database, names), known)
    found.change((HERE / "postgresql.sql").read_text(encoding="utf-8"))
    return found


def brought_up_to_date(sample: Sample) -> Storage:
    assert migrate(sample.url) == schema.HEAD
    return Storage(sample.url)


def as_ever(going_on: dict[str, Any]) -> dict[str, Any]:
    """How studies go on, but for the marks of the tickets that they give."""
    for study in (plain := json.loads(json.dumps(going_on))).values():
        for ticket in study["afterwards"]["tickets"]:
            ticket[0] = ticket[0].partition("-")[0]
    return plain


def test_studies_know_what_they_knew_and_go_on_as_they_would_have(sample):
    storage = brought_up_to_date(sample)
    for name, known in sample.known["studies"].items():
        assert json.loads(json.dumps(seen(open_study(name, storage=storage)))) == known
    assert as_ever(continued(storage)) == as_ever(sample.known["continued"])
    open_study("one more", ["a", "b"], storage=storage).ask()
    storage.close()


def test_keys_open_what_they_opened(sample):
    storage = brought_up_to_date(sample)
    valid, revoked = sample.known["keys"]
    found = Keys(storage).find(valid)
    assert found is not None
    assert (found.name, found.role.word) == ("old friend", "play")
    assert Keys(storage).find(revoked) is None
    assert [key.name for key in Keys(storage).all()] == ["old friend", "revoked"]
    storage.close()


def test_the_first_tables_are_brought_up_to_date_on_request(sample):
    with pytest.raises(errors.StorageError, match=r"version 0002.*belman study migrate --storage"):
        Storage(sample.url)
    sample.change("DROP TABLE belman_keys", "UPDATE belman_version SET version_num = '0001'")
    with pytest.raises(errors.StorageError, match=r"version 0001.*belman study migrate --storage"):
        Storage(sample.url)
    assert migrate(sample.url) == migrate(sample.url) == schema.HEAD
    storage = Storage(sample.url)
    assert Keys(storage).all() == []
    assert as_ever(continued(storage)) == as_ever(sample.known["continued"])
    storage.close()


def test_new_tables_are_those_that_were_released(sample):
    found = []
    brought_up_to_date(sample).close()
    for url in (sample.url, sample.empty):
        storage = Storage(url)
        found.append({name: storage.rows(query) for name, query in LAYOUT[url[:6]].items()})
        assert storage.run(schema.version, write=False) == schema.HEAD
        storage.close()
    assert found[0] == found[1]
    assert all(found[0].values())


LAYOUT = {
    "sqlite": {
        "columns": """SELECT tables.name, wr, columns.name, columns.type, "notnull", pk
            FROM pragma_table_list AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.name LIKE 'belman_%' AND tables.type = 'table' ORDER BY 1, columns.cid""",
        "indices": """SELECT tables.name, "unique", origin, partial, columns.name
            FROM pragma_table_list AS tables, pragma_index_list(tables.name) AS indices,
            pragma_index_info(indices.name) AS columns
            WHERE tables.name LIKE 'belman_%' ORDER BY 1, 3, indices.name, columns.seqno""",
        "references": """SELECT tables.name, "table", "from", "to"
            FROM pragma_table_list AS tables, pragma_foreign_key_list(tables.name)
            WHERE tables.name LIKE 'belman_%' ORDER BY 1""",
    },
    "postgr": {
        "columns": """SELECT table_name, column_name, data_type, is_nullable, column_default
            FROM information_schema.columns WHERE table_schema = 'public'
            ORDER BY 1, ordinal_position""",
        "indices": """SELECT indexdef FROM pg_indexes WHERE tablename IN
            ('belman_studies', 'belman_events', 'belman_snapshots', 'belman_keys',
             'belman_deletions') ORDER BY 1""",
        "references": """SELECT pg_get_constraintdef(oid) FROM pg_constraint
            WHERE contype IN ('f', 'p', 'u') AND connamespace = 'public'::regnamespace
            ORDER BY 1""",
    },
}


def test_an_export_is_the_one_that_was_written(tmp_path):
    shutil.copy(HERE / "sqlite.db", tmp_path / "studies.db")
    migrate(f"sqlite:///{tmp_path}/studies.db")
    study = open_study("thompson", storage=f"sqlite:///{tmp_path}/studies.db")
    study.export(tmp_path / "thompson.csv")
    assert (tmp_path / "thompson.csv").read_text() == (HERE / "thompson.csv").read_text()
    rewards = study.status()["told"]
    assert study.record(HERE / "thompson.csv") == rewards
    study.storage.close()
