"""Tables of other versions, and damaged ones, are left as they are."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from belman.errors import BelmanError, StorageError
from belman.studies import Storage, Study, migrate, open_study
from belman.studies.log import schema
from tests.attack.harness import Attack, Trials

#: What a version may be that this belman does not know.
STRANGE = ("9999", "0001x", "", "-1", "none", "0001 ", "1", "0" * 30, "'", "é")
#: What a stranger may have done to tables of our version.
DAMAGE = (
    "DROP TABLE belman_{table}",
    "ALTER TABLE belman_{table} RENAME TO elsewhere",
    "DELETE FROM belman_{table}",
    "INSERT INTO belman_version (version_num) VALUES ('9999')",
    "DELETE FROM belman_version",
)
TABLES = ("studies", "events", "snapshots", "keys", "deletions")


#: What may lead to a version that is yet to come, and what fails.
LATER = (
    "ALTER TABLE belman_studies ADD COLUMN note TEXT",
    "CREATE TABLE belman_notes (number BIGINT NOT NULL PRIMARY KEY)",
    "INSERT INTO belman_notes SELECT DISTINCT number FROM belman_events",
)
FAILING = "INSERT INTO belman_nowhere VALUES (1)"


def run(trials: Trials) -> None:
    """A trial is a database: of the version before, of a version that is none, or damaged."""
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "written.db")
        for number in trials:
            path = Path(folder) / "studies.db"
            shutil.copy(Path(folder) / "written.db", path)
            (_older, _strange, _damaged)[number % 3](trials, path)


def _write(path: Path) -> None:
    storage = Storage(f"sqlite:///{path}")
    for name, settings in (("plain", {}), ("late", {"window": 100.0})):
        study = open_study(name, ["a", "b"], storage=storage, seed=7, **settings)
        for ticket in study.ask(20)[:10]:
            study.tell(ticket, 1)
    storage.close()


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
    """Opening refuses and says how; a step that fails changes nothing; one that does not gives
    whole studies, which this version then refuses.
    """
    before = _content(path)
    steps = LATER[: trials.luck.randint(1, len(LATER))]
    with _next_version("; ".join((*steps, FAILING))):
        try:
            Storage(f"sqlite:///{path}").close()
            trials.expect(False, "tables of the version before were opened as they are")
        except StorageError as error:
            trials.expect("migrate" in str(error), f"no remedy: {error}")
        trials.expect(_content(path) == before, "refusing changed the tables")
        try:
            migrate(f"sqlite:///{path}")
            trials.expect(False, "a step that cannot be taken was taken")
        except StorageError:
            trials.expect(_content(path) == before, "half a migration was kept")
    with _next_version("; ".join(steps)):
        migrate(f"sqlite:///{path}")
        storage = Storage(f"sqlite:///{path}")
        for name in storage.names():
            study = Study(name, storage)
            study.check()
            study.ask()
            study.check()
        storage.close()
    try:
        Storage(f"sqlite:///{path}").close()
        trials.expect(False, "tables of a later version were opened")
    except StorageError as error:
        trials.expect("install a newer belman" in str(error), f"no remedy: {error}")


@contextmanager
def _next_version(step: str) -> Iterator[None]:
    """Let there be one more step."""
    steps, head = schema.STEPS, schema.HEAD
    schema.STEPS, schema.HEAD = {**steps, "0002": step}, "0002"
    try:
        yield
    finally:
        schema.STEPS, schema.HEAD = steps, head


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
    "tables of the version before, of versions that there are not, damaged ones, and migrations "
    "that are broken off",
    "a whole migration, or an error of ours that leaves every row as it was",
    run,
    short=30,
    long=1_500,
    seconds=600.0,
)
