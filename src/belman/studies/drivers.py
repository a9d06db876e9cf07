"""The two databases behind one protocol: SQLite by `sqlite3`, PostgreSQL by `psycopg`."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

from belman.errors import SettingError, listing, needing

BUSY_SECONDS = 60.0
_SYNCHRONOUS = ("full", "normal")
_URL = re.compile(
    r"(?P<scheme>[\w+]+)://"
    r"(?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?"
    r"(?:\[(?P<ipv6>[^\]/?]+)\]|(?P<host>[^:/?]*))(?::(?P<port>\d*))?"
    r"(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?"
)


class Driver(Protocol):
    """What a database offers. Its connections are those of the DB-API, its SQL is written with `?`
    where a value goes; `str` gives its URL without the password.
    """

    error: type[Exception]  # the root of all that it raises
    serial: str  # the type of an id that counts up by itself
    clustered: str  # ends CREATE TABLE where rows are kept in the order of the primary key
    then_key: str  # ends the columns of an index on events, to find those of one study in order
    find_table: str  # a query for a table of that name
    lock_schema: str  # keeps others from changing the tables until the transaction ends

    def connect(self) -> Any:
        """A new connection."""

    def begin(self, connection: Any) -> None:
        """Begin a transaction that writes."""

    def execute(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        """A cursor on what a statement gives."""

    def execute_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for every row of values."""

    def execute_locked(self, connection: Any, lock: str, sql: str, values: Sequence[Any]) -> Any:
        """The same as `execute`, once a lock on the row that the first value names is held."""

    def is_lost(self, connection: Any) -> bool:
        """Whether a connection is of no use any more."""


class SQLite:
    """A file with a write-ahead log (WAL); whoever writes is alone until the transaction ends."""

    error: type[Exception] = sqlite3.Error
    serial = "INTEGER"
    clustered = "WITHOUT ROWID"
    then_key = ""  # its indices hold the primary key; named again, they are passed over for it
    find_table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    lock_schema = "SELECT 1"  # whoever writes is alone

    def __init__(self, shown: str, path: str, synchronous: str = "full") -> None:
        self._shown, self._path, self._synchronous = shown, os.path.abspath(path), synchronous

    def __str__(self) -> str:
        return self._shown

    def connect(self) -> sqlite3.Connection:
        # without an isolation level, since the driver would begin transactions of its own
        options: Any = {"timeout": BUSY_SECONDS, "isolation_level": None}
        connection = sqlite3.connect(self._path, check_same_thread=False, **options)
        try:
            _turn_to_wal(connection)
            connection.execute(f"PRAGMA synchronous={self._synchronous}")
            connection.execute("PRAGMA foreign_keys=ON")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def begin(self, connection: Any) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def execute(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        return connection.execute(sql, values)

    def execute_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.executemany(sql, rows)

    def execute_locked(self, connection: Any, lock: str, sql: str, values: Sequence[Any]) -> Any:
        return connection.execute(sql, values)

    def is_lost(self, connection: Any) -> bool:
        return False


class PostgreSQL:
    """A server; the writers of one study wait for each other by a lock on its row."""

    serial = "SERIAL"
    clustered = ""
    then_key = ", study, number"
    # not to_regclass, which remembers for the length of a transaction that there was none
    find_table = "SELECT 1 FROM pg_class WHERE relname = ? AND pg_table_is_visible(oid)"
    lock_schema = "SELECT pg_advisory_xact_lock(8)"

    def __init__(self, shown: str, parameters: Mapping[str, str]) -> None:
        with needing(f"a storage at {shown}", "postgresql", "psycopg"):
            import psycopg
            from psycopg.conninfo import make_conninfo
        self.error: type[Exception] = psycopg.Error
        self._shown = shown
        # what libpq knows, and no argument of psycopg's, which could turn off transactions
        self._open = lambda: psycopg.connect(make_conninfo(**parameters))

    def __str__(self) -> str:
        return self._shown

    def connect(self) -> Any:
        return self._open()

    def begin(self, connection: Any) -> None:
        pass  # psycopg does, with the first statement

    def execute(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        return connection.execute(_with_percents(sql), values or None)

    def execute_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.cursor().executemany(_with_percents(sql), rows)

    def execute_locked(self, connection: Any, lock: str, sql: str, values: Sequence[Any]) -> Any:
        with connection.pipeline():  # one journey to the server and back
            self.execute(connection, lock, values[:1])
            return self.execute(connection, sql, values)

    def is_lost(self, connection: Any) -> bool:
        return bool(connection.closed)


@cache
def _with_percents(sql: str) -> str:
    return sql.replace("?", "%s")


def _turn_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite refuses this to all but one of those who open a new file at once: so we wait."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def driver_for(url: str) -> Driver:
    """The driver that a URL names.

    >>> str(driver_for("sqlite:///studies.db?synchronous=normal"))
    'sqlite:///studies.db?synchronous=normal'
    """
    parts = _URL.fullmatch(url) if isinstance(url, str) else None
    if parts is None:
        remedy = "write sqlite:///studies.db or postgresql://user@host/name"
        raise SettingError(f"storage={url!r} is no URL: {remedy}")
    shown = _without_password(url, parts)
    options = dict(parse_qsl(parts["query"] or "", keep_blank_values=True))
    if parts["scheme"] in ("sqlite", "sqlite+pysqlite"):
        return _sqlite(shown, parts, options)
    if parts["scheme"] in ("postgresql", "postgres", "postgresql+psycopg"):
        named = {
            "user": unquote(parts["user"] or ""),
            "password": unquote(parts["password"] or ""),
            "host": parts["ipv6"] or parts["host"],
            "port": parts["port"],
            "dbname": parts["database"],
        }
        given = {name: value for name, value in named.items() if value}
        return PostgreSQL(shown, given | options)
    raise SettingError(f"storage={shown!r} is neither sqlite:///… nor postgresql://…")


def _sqlite(shown: str, parts: re.Match[str], options: dict[str, str]) -> SQLite:
    if parts["host"] or parts["user"] or parts["database"] in (None, "", ":memory:"):
        remedy = "a study has to survive: write sqlite:///studies.db"
        raise SettingError(f"storage={shown!r} names no file, and {remedy}")
    synchronous = options.pop("synchronous", "full")
    if synchronous not in _SYNCHRONOUS:
        ways = f"SQLite's ways here: {listing(_SYNCHRONOUS)}"
        raise SettingError(f"synchronous={synchronous!r} is none of {ways}")
    if options:
        known = "SQLite has 'synchronous' here"
        raise SettingError(f"storage={shown!r} has the option {listing(options)}: {known}")
    return SQLite(shown, parts["database"], synchronous)


def _without_password(url: str, parts: re.Match[str]) -> str:
    shown = re.sub(r"([?&]password=)[^&]*", r"\1***", url)
    start, end = parts.span("password")
    return shown if start < 0 else f"{shown[:start]}***{shown[end:]}"
