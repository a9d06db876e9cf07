"""The two databases behind one protocol, and the URLs that name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

from belman.errors import SettingError, listing
from belman.studies.log.postgresql import PostgreSQL
from belman.studies.log.sqlite import SQLite

#: Seconds after which a transaction that waits for its turn gives up.
LOCK_TIMEOUT = 60.0
#: Seconds after which PostgreSQL gives up a statement, its wait for a lock included.
STATEMENT_TIMEOUT = 120.0
_SYNCHRONOUS = ("full", "normal")
_URL = re.compile(
    r"(?P<scheme>[\w+]+)://"
    r"(?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?"
    r"(?:\[(?P<ipv6>[^\]/?]+)\]|(?P<host>[^:/?@]*))(?::(?P<port>\d*))?"
    r"(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?"
)


class Driver(Protocol):
    """What a database offers. Its connections are those of the DB-API, its SQL is written with `?`
    where a value goes; `str` gives its URL without the password.
    """

    error: type[Exception]  # the root of all that it raises
    bytes: str  # the type of a string of bytes
    serial: str  # the type of an id that counts up by itself
    clustered: str  # ends CREATE TABLE where rows are kept in the order of the primary key
    then_key: str  # ends the columns of an index on events, to find those of one study in order
    find_table: str  # a query for a table of that name
    lock_schema: str  # keeps others from changing the tables until the transaction ends
    address: str  # the whole path of a file, or the address of a server without its password
    key_file: str | None  # a file beside the data and apart from it, for keys that sign

    def connect(self) -> Any:
        """A new connection."""

    def begin(self, connection: Any) -> None:
        """Begin a transaction that writes."""

    def execute(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        """A cursor on what a statement gives."""

    def execute_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for every row of values."""

    def execute_locked(
        self, connection: Any, lock: str, sql: str, values: Sequence[Any]
    ) -> tuple[Any, float]:
        """The same as `execute`, once a lock on the row that the first value names is held; and
        the time then.
        """

    def now(self, connection: Any) -> float:
        """The time, in seconds since 1970."""

    def is_lost(self, connection: Any) -> bool:
        """Whether a connection is of no use any more."""


def driver_for(url: str, read_only: bool = False, create: bool = True) -> Driver:
    """The driver that a URL names.

    >>> str(driver_for("sqlite:///studies.db?synchronous=normal"))
    'sqlite:///studies.db?synchronous=normal'
    """
    parts = _URL.fullmatch(url) if isinstance(url, str) else None
    if parts is None:
        remedy = "write sqlite:///studies.db or postgresql://user@host/name"
        written = without_password(url) if isinstance(url, str) else url
        raise SettingError(
            f"storage={written!r} is not a URL: {remedy} (and %40 for @ in a password)"
        )
    shown = without_password(url)
    options = dict(parse_qsl(parts["query"] or "", keep_blank_values=True))
    lock_timeout = _seconds(options, "lock_timeout", LOCK_TIMEOUT)
    if parts["scheme"] in ("sqlite", "sqlite+pysqlite"):
        return _sqlite(shown, parts, options, lock_timeout, read_only, create)
    if parts["scheme"] in ("postgresql", "postgres", "postgresql+psycopg"):
        named = {
            "user": unquote(parts["user"] or ""),
            "password": unquote(parts["password"] or ""),
            "host": parts["ipv6"] or parts["host"],
            "port": parts["port"],
            "dbname": parts["database"],
        }
        given = {name: value for name, value in named.items() if value}
        longest = _seconds(options, "statement_timeout", STATEMENT_TIMEOUT)
        return PostgreSQL(shown, given | options, lock_timeout, longest, read_only)
    raise SettingError(f"storage={shown!r} is neither sqlite:///… nor postgresql://…")


def _seconds(options: dict[str, str], name: str, default: float) -> float:
    """An option that is a time, taken out of the others."""
    given = options.pop(name, str(default))
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0.001 <= seconds <= 1e6:
        raise SettingError(f"{name}={given!r} is not a time: give seconds from 0.001 to 1,000,000")
    return seconds


def _sqlite(
    shown: str,
    parts: re.Match[str],
    options: dict[str, str],
    lock_timeout: float,
    read_only: bool,
    create: bool,
) -> SQLite:
    if parts["host"] or parts["user"] or parts["database"] in (None, "", ":memory:"):
        remedy = "a study has to survive: write sqlite:///studies.db"
        raise SettingError(f"storage={shown!r} names no file, and {remedy}")
    synchronous = options.pop("synchronous", "full")
    if synchronous not in _SYNCHRONOUS:
        ways = f"SQLite's ways here: {listing(_SYNCHRONOUS)}"
        raise SettingError(f"synchronous={synchronous!r} is not one of {ways}")
    if options:
        known = "SQLite has 'synchronous' and 'lock_timeout' here"
        raise SettingError(f"storage={shown!r} has the option {listing(options)}: {known}")
    return SQLite(shown, parts["database"], synchronous, lock_timeout, read_only, create)


def without_password(url: str) -> str:
    """A URL, or what was meant as one, as it may be shown.

    >>> without_password("postgresql://me:secret@host:port/db?sslpassword=other")
    'postgresql://me:***@host:port/db?sslpassword=***'
    """
    shown = re.sub(r"(?i)([?&][^=&]*pass[^=&]*=)[^&]*", r"\1***", url)
    return re.sub(r"(?s)(//[^:/@]*|^[^:/@]*):(?!//).*@", r"\1:***@", shown)
