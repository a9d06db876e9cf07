"""Studies on a server: PostgreSQL, by `psycopg`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from belman.errors import needing

_NOW = "SELECT EXTRACT(EPOCH FROM clock_timestamp())::float8"


class PostgreSQL:
    """A server; the writers of one study wait for each other by a lock on its row.

    Every statement sees what was committed before it (READ COMMITTED, whatever the server's default
    is), so that what follows the lock sees all that the last holder of the lock wrote. Time is the
    server's.
    """

    key_file: str | None = None
    serial = "SERIAL"
    bytes = "BYTEA"
    clustered = ""
    then_key = ", study, number"
    # not to_regclass, which remembers for the length of a transaction that there was none
    find_table = "SELECT 1 FROM pg_class WHERE relname = ? AND pg_table_is_visible(oid)"
    # and a migration may take longer than any other statement
    lock_schema = "SELECT pg_advisory_xact_lock(8), set_config('statement_timeout', '0', true)"

    def __init__(
        self,
        shown: str,
        parameters: Mapping[str, str],
        lock_timeout: float,
        statement_timeout: float,
        read_only: bool,
    ) -> None:
        with needing(f"a storage at {shown}", "postgresql", "psycopg"):
            import psycopg
            from psycopg.conninfo import make_conninfo
        self.error: type[Exception] = psycopg.Error
        self._shown, self.address, self._read_only = shown, shown, read_only
        self._level = psycopg.IsolationLevel.READ_COMMITTED
        timeouts = {"lock_timeout": lock_timeout, "statement_timeout": statement_timeout}
        settings = (
            f"set_config('{name}', '{s * 1000:.0f}', false)" for name, s in timeouts.items()
        )
        self._set_timeouts = f"SELECT {', '.join(settings)}"
        # what libpq knows, and no argument of psycopg's, which could turn off transactions
        self._open = lambda: psycopg.connect(make_conninfo(**parameters))

    def __str__(self) -> str:
        return self._shown

    def connect(self) -> Any:
        connection = self._open()
        try:
            connection.isolation_level, connection.read_only = self._level, self._read_only
            connection.execute(self._set_timeouts)
            connection.commit()
        except self.error:
            connection.close()
            raise
        return connection

    def begin(self, connection: Any) -> None:
        pass  # psycopg does, with the first statement

    def execute(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        return connection.execute(_with_percents(sql), values or None)

    def execute_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.cursor().executemany(_with_percents(sql), rows)

    def execute_locked(
        self, connection: Any, lock: str, sql: str, values: Sequence[Any]
    ) -> tuple[Any, float]:
        with connection.pipeline():  # one journey to the server and back
            self.execute(connection, lock, values[:1])
            now = connection.execute(_NOW)
            result = self.execute(connection, sql, values)
        return result, now.fetchone()[0]

    def now(self, connection: Any) -> float:
        return float(connection.execute(_NOW).fetchone()[0])

    def is_lost(self, connection: Any) -> bool:
        return bool(connection.closed)


@cache
def _with_percents(sql: str) -> str:
    return sql.replace("?", "%s")
