"""A transaction at the level of the database's driver: SQLAlchemy writes the SQL once, and is not
in the way after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ClauseElement, Dialect

_POSITIONAL = {"sqlite": "qmark", "postgresql": "format"}


@cache
def _written(statement: Any, dialect: Any) -> tuple[str, list[tuple[str, Any]]]:
    """The SQL of a statement, and its parameters in order, each with its value unless another is
    given.
    """
    compiled = statement.compile(dialect=dialect(paramstyle=_POSITIONAL[dialect.name]))
    return compiled.string, [(name, compiled.params.get(name)) for name in compiled.positiontup]


class Session:
    """What is done on one connection between the beginning and the end of a transaction."""

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect: Any = type(dialect)
        self.backend = dialect.name

    def rows(self, statement: ClauseElement, **values: Any) -> list[Any]:
        """The rows that a query finds."""
        return self._execute(statement, values).fetchall()

    def rows_behind(
        self, lock: ClauseElement, statement: ClauseElement, **values: Any
    ) -> list[Any]:
        """The rows that a query finds once a lock is held, in one journey to the server and back."""
        with self._connection.pipeline():
            self._execute(lock, values)
            found = self._execute(statement, values)
        return found.fetchall()

    def run(self, statement: ClauseElement, **values: Any) -> None:
        """Change something."""
        self._execute(statement, values)

    def insert(self, statement: ClauseElement, rows: Sequence[Iterable[Any]]) -> None:
        """Insert rows whose values come in the order of the table's columns."""
        sql, _ = _written(statement, self._dialect)
        if len(rows) == 1:
            self._connection.execute(sql, rows[0])
        else:
            self._connection.cursor().executemany(sql, rows)

    def _execute(self, statement: ClauseElement, values: dict[str, Any]) -> Any:
        sql, parameters = _written(statement, self._dialect)
        return self._connection.execute(
            sql, [values.get(name, default) for name, default in parameters]
        )
