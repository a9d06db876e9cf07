"""Tables of other versions: old ones are brought up to date whole, others are left as they are."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from pathlib import Path

from belman.errors import BelmanError, StorageError
from belman.studies import Storage, Study, migrate
from belman.studies.log import schema
from tests.attack.harness import Attack, Trials
from tests.studies.samples.write import HERE

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
    """A trial is a database: of the first release, of a version that is none, or damaged."""
    for number in trials:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "studies.db"
            shutil.copy(HERE / "sqlite.db", path)
            (_older, _strange, _damaged)[number % 3](trials, path)


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


def _older(trials: Trials, path: Path) -> None:
    """Opening refuses and says how; bringing it up to date, killed or not, gives whole studies."""
    if trials.luck.random() < 0.5:
        put = "UPDATE belman_version SET version_num = '0001'"
        _change(path, "DROP TABLE belman_keys", put)
    before = _content(path)
    try:
        Storage(f"sqlite:///{path}").close()
        trials.expect(False, "tables of an older version were opened as they are")
    except StorageError as error:
        trials.expect("migrate" in str(error), f"no remedy: {error}")
    trials.expect(_content(path) == before, "refusing changed the tables")
    _interrupt(trials, path, before)
    migrate(f"sqlite:///{path}")
    storage = Storage(f"sqlite:///{path}")
    for name in storage.names():
        study = Study(name, storage)
        study.check()
        if not study.status()["paused"]:
            study.ask()
        study.check()
    storage.close()


def _interrupt(trials: Trials, path: Path, before: str) -> None:
    """The chain of digests fails after some of its rows: nothing has happened."""
    real, left = schema.linked, trials.luck.randint(0, 30)

    def failing(events):
        for number, event in enumerate(real(events)):
            if number == left:
                raise StorageError("the power went")
            yield event

    schema.linked = failing
    try:
        migrate(f"sqlite:///{path}")
    except StorageError:
        trials.expect(_content(path) == before, "half a migration was kept")
    else:
        shutil.copy(HERE / "sqlite.db", path)  # it was through before
    finally:
        schema.linked = real


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
    migrate(f"sqlite:///{path}")
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
    "tables of older versions, of versions that there are not, damaged ones, and migrations that "
    "are broken off",
    "a whole migration, or an error of ours that leaves every row as it was",
    run,
    short=30,
    long=1_500,
    seconds=600.0,
)
