"""Tables of other versions, and damaged ones, are left as they are."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from pathlib import Path

from belman.errors import BelmanError, StorageError
from belman.studies import Storage, Study, migrate, open_study
from tests.attack.harness import Attack, Trials

#: What a version may be that this belman does not know.
STRANGE = ("9999", "0006x", "", "-1", "none", "0003 ", "4", "0" * 30, "'", "é")
#: What a stranger may have done to tables of our version.
DAMAGE = (
    "DROP TABLE belman_{table}",
    "ALTER TABLE belman_{table} RENAME TO elsewhere",
    "DELETE FROM belman_{table}",
    "INSERT INTO belman_version (version_num) VALUES ('9999')",
    "DELETE FROM belman_version",
)
TABLES = ("studies", "events", "snapshots", "keys", "deletions")


def run(trials: Trials) -> None:
    """A trial is a database: of a version that is none, or damaged."""
    for number in trials:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "studies.db"
            storage = Storage(f"sqlite:///{path}")
            study = open_study("study", ["a", "b"], storage=storage)
            study.tell(study.ask().id, 1)
            storage.close()
            (_strange, _damaged)[number % 2](trials, path)


def _change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def _content(path: Path) -> str:
    """A digest of all that a file holds, however it is laid out."""
    connection = sqlite3.connect(path)
    text = "\n".join(connection.iterdump())
    connection.close()
    return hashlib.sha256(text.encode()).hexdigest()


def _strange(trials: Trials, path: Path) -> None:
    """A version that is none of ours: an error that names it, and nothing is changed."""
    version = trials.luck.choice(STRANGE)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE belman_version SET version_num = ?", (version,))
    connection.commit()
    connection.close()
    before = _content(path)
    for open_it in (lambda: Storage(f"sqlite:///{path}"), lambda: migrate(f"sqlite:///{path}")):
        try:
            open_it()
            trials.expect(False, f"version {version!r} was opened")
        except StorageError as error:
            trials.expect(f"version {version}" in str(error), f"{version!r}: {error}")
    trials.expect(_content(path) == before, f"version {version!r}: the tables were changed")


def _damaged(trials: Trials, path: Path) -> None:
    """Tables that are missing, empty or of two versions: an error of ours, or whole studies."""
    _change(path, trials.luck.choice(DAMAGE).format(table=trials.luck.choice(TABLES)))
    try:
        storage = Storage(f"sqlite:///{path}")
        for name in storage.names():
            Study(name, storage).check()
        storage.close()
    except BelmanError:
        pass


ATTACK = Attack(
    "schema versions",
    "tables of versions that there are not, and damaged ones",
    "an error of ours that leaves every row as it was",
    run,
    short=30,
    long=1_500,
    seconds=600.0,
)
