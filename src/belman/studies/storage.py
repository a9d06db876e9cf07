"""Where studies are kept: SQLite or PostgreSQL, behind short transactions that one writer of a
study holds at a time.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from belman.errors import (
    SettingError,
    StorageError,
    UnknownStudyError,
    listing,
    nearest,
    needing,
)
from belman.studies import schema
from belman.studies.connections import Connections
from belman.studies.transaction import LostConnectionError, Transaction
from belman.studies.versions import HEAD, prepare, upgrade

BUSY_SECONDS = 60.0
_DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "sqlite": "sqlite+pysqlite",
}
_SYNCHRONOUS = ("full", "normal")


class Storage:
    """A database that keeps studies, opened by its URL: `sqlite:///studies.db` or
    `postgresql://user@host/name`.

    Opening creates the tables in an empty database and refuses one whose tables are of another
    version (`migrate` brings old ones up to date). SQLite keeps its log ahead of its pages (WAL)
    and waits for the disk at every commit; `?synchronous=normal` does not wait, so that a power cut
    (not a crash of the program) may take the last moments with it. A storage may be shared by
    threads, and by processes that are forked.
    """

    def __init__(self, url: str, *, migrating: bool = False) -> None:
        self.url = _parse(url)
        self._connections = Connections(lambda: _engine(self.url))
        with self._failures("opened"), self.engine.connect() as connection:
            if migrating:
                upgrade(connection)
            else:
                prepare(connection, str(self))

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)

    def __repr__(self) -> str:
        return f"Storage({str(self)!r})"

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's engine of this process."""
        return self._connections.engine

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        self._connections.close()

    def transaction(self, *, write: bool = True) -> Transaction:
        """A transaction of a log, committed at the end; on SQLite it is the only one that writes."""
        return Transaction(self._connections, self._failure, write)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction with all of SQLAlchemy, committed at the end."""
        with self._failures("written"), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection with all of SQLAlchemy that sees everything that is committed."""
        with self._failures("read"), self.engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    def names(self) -> list[str]:
        """The names of the studies kept here."""
        with self.reading() as connection:
            return list(
                connection.scalars(select(schema.studies.c.name).order_by(schema.studies.c.name))
            )

    def find(self, name: str) -> tuple[int, str]:
        """The id and the secret of a study."""
        studies = schema.studies
        with self.reading() as connection:
            row = connection.execute(
                select(studies.c.id, studies.c.secret).where(studies.c.name == name)
            ).first()
        if row is None:
            names = self.names()
            there = (
                f"there are {listing(names)}{nearest(name, names)}" if names else "there is none"
            )
            raise UnknownStudyError(
                f"no study {name!r} in {self}: {there} (give arms=[…] to create it)"
            )
        return row.id, row.secret

    @contextmanager
    def _failures(self, done: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise self._failure(error, done) from error

    def _failure(self, error: Exception, done: str, lost: bool = False) -> StorageError:
        """An error of the database as ours, with its words and without our password."""
        words = (
            str(error.orig if isinstance(error, DBAPIError) else error).strip().replace("\n", " ")
        )
        return (LostConnectionError if lost else StorageError)(
            f"{self} could not be {done}: {words}"
        )


def migrate(url: str) -> str:
    """Bring the tables of a storage to the version of this belman, which it gives back; those up to
    date are left alone.
    """
    Storage(url, migrating=True).close()
    return HEAD


def _parse(given: str) -> URL:
    try:
        url = make_url(given)
    except (ArgumentError, TypeError):
        raise SettingError(
            f"storage={given!r} is no URL: write sqlite:///studies.db or postgresql://user@host/name"
        ) from None
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    if url.drivername not in _DRIVERS.values():
        raise SettingError(f"storage={str(url)!r} is neither sqlite:///… nor postgresql://…")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise SettingError(
            f"storage={given!r} names no file, and a study has to survive: write sqlite:///studies.db"
        )
    chosen = url.query.get("synchronous", "full")
    if url.get_backend_name() == "sqlite" and chosen not in _SYNCHRONOUS:
        raise SettingError(
            f"synchronous={chosen!r} is none of SQLite's ways here: {listing(_SYNCHRONOUS)}"
        )
    return url


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        bare = url.difference_update_query(["synchronous"])
        engine = create_engine(
            bare, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}
        )
        _as_wal(engine, str(url.query.get("synchronous", "full")))
        return engine
    with needing(f"a storage at {url.drivername}", "postgresql", "psycopg"):
        return create_engine(url, pool_pre_ping=True)


def _turn_to_wal(connection: Any) -> None:
    """Where several open a new file at once, SQLite refuses this step to all but one without
    waiting: so we wait.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _as_wal(engine: Engine, synchronous: str) -> None:
    @event.listens_for(engine, "connect")
    def connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver would begin transactions of its own
        _turn_to_wal(connection)
        for pragma in (f"synchronous={synchronous}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def began(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
