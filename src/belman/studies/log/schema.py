"""The tables of a storage as numbered steps: studies, their events and snapshots, keys.

An event is never changed, and removed only once a file has it (archives.py). Two indices make
promises that no program can break: of two writers who saw the same log only one can go on with it,
since both would give their events the same numbers, and a request that carries an idempotency key
is answered once.
"""

from __future__ import annotations

from typing import Any

from belman.errors import StorageError

#: Every version of the tables, as the statements that lead to it from the one before.
STEPS = {
    "0001": """
        CREATE TABLE belman_studies (
            id {driver.serial} NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            secret TEXT NOT NULL,
            created FLOAT NOT NULL,
            last BIGINT NOT NULL,
            link {driver.bytes} NOT NULL,
            archived FLOAT
        );
        CREATE TABLE belman_events (
            study INTEGER NOT NULL REFERENCES belman_studies (id),
            number BIGINT NOT NULL,
            kind SMALLINT NOT NULL,
            time FLOAT NOT NULL,
            arm INTEGER,
            draw SMALLINT,
            probability FLOAT,
            ticket BIGINT,
            reward FLOAT,
            key TEXT,
            body TEXT,
            link {driver.bytes} NOT NULL,
            PRIMARY KEY (study, number)
        ) {driver.clustered};
        CREATE INDEX belman_events_ticket ON belman_events (ticket{driver.then_key})
            WHERE ticket IS NOT NULL;
        CREATE UNIQUE INDEX belman_events_keyed ON belman_events (study, key)
            WHERE key IS NOT NULL;
        CREATE TABLE belman_snapshots (
            study INTEGER NOT NULL REFERENCES belman_studies (id),
            number BIGINT NOT NULL,
            content TEXT NOT NULL,
            link {driver.bytes} NOT NULL,
            PRIMARY KEY (study, number)
        ) {driver.clustered};
        CREATE TABLE belman_keys (
            id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            role TEXT NOT NULL,
            hash TEXT NOT NULL,
            created FLOAT NOT NULL,
            revoked FLOAT
        );
        CREATE TABLE belman_deletions (
            request TEXT NOT NULL PRIMARY KEY,
            time FLOAT NOT NULL,
            events BIGINT NOT NULL
        )""",
}
#: The version of the tables that this code reads and writes.
HEAD = max(STEPS)


def version(transaction: Any) -> str | None:
    """The version of the tables, or None where there are none."""
    if not transaction.rows(transaction.driver.find_table, "belman_version"):
        return None
    result = transaction.rows("SELECT version_num FROM belman_version")
    return str(result[0][0]) if result else "unknown"


def prepare(storage: Any) -> None:
    """Create the tables in a database that has none; refuse tables of another version."""
    result = storage.run(version, write=False)
    if result is None and storage.read_only:
        raise StorageError(f"{storage} holds no studies, and was opened with read_only=True")
    if result is None:
        upgrade(storage)
    elif result != HEAD:
        remedy = f"run: belman study migrate --storage {storage}" if result in STEPS else _NEWER
        raise _unfit(storage, result, remedy)


def upgrade(storage: Any) -> None:
    """Bring the tables to `HEAD`, one process at a time; those up to date are left alone."""

    def work(transaction: Any) -> None:
        transaction.execute(transaction.driver.lock_schema)
        result = version(transaction)
        if result == HEAD:
            return
        if result is None:
            columns = "version_num VARCHAR(32) NOT NULL PRIMARY KEY"
            transaction.execute(f"CREATE TABLE belman_version ({columns})")
            transaction.execute("INSERT INTO belman_version (version_num) VALUES ('')")
        elif result not in STEPS:
            raise _unfit(storage, result, _NEWER)
        for number, step in sorted(STEPS.items()):
            if number > (result or ""):
                for statement in step.format(driver=transaction.driver).split(";"):
                    transaction.execute(statement)
        transaction.execute("UPDATE belman_version SET version_num = ?", HEAD)

    storage.run(work)


_NEWER = "install a newer belman"


def _unfit(storage: Any, result: str, remedy: str) -> StorageError:
    ours = f"this belman works with {HEAD}"
    return StorageError(f"{storage} has tables of version {result}, and {ours}: {remedy}")
