"""A transaction of a log, at the level of the database's driver."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from belman.errors import StorageError
from belman.studies.connections import Connections
from belman.studies.session import Session


class LostConnectionError(StorageError):
    """The storage went away in the middle of a transaction."""


class Transaction:
    """A context that gives a Session: committed at its end if it writes, undone if anything goes
    wrong.

    A class, since a generator for each of its concerns costs as much as SQLite's commit.
    """

    def __init__(
        self, connections: Connections, failure: Callable[..., StorageError], write: bool
    ) -> None:
        self._connections, self._failure, self._write = connections, failure, write
        self._connection: Any = None

    def __enter__(self) -> Session:
        dialect = self._connections.engine.dialect
        try:
            self._connection = self._connections.take()
        except (SQLAlchemyError, dialect.loaded_dbapi.Error) as error:
            raise self._failure(error, "reached") from error
        if self._write and dialect.name == "sqlite":
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except dialect.loaded_dbapi.Error as error:
                self._undo(error)
        return Session(self._connection, dialect)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None and self._write:
            try:
                self._connection.commit()
            except self._connections.engine.dialect.loaded_dbapi.Error as failed:
                self._undo(failed)
            self._connections.give_back(self._connection)
        else:
            self._undo(error)

    def _undo(self, error: BaseException | None) -> None:
        """Roll back; an error of the driver is raised as one of ours."""
        lost = self._connections.roll_back(self._connection, error)
        if isinstance(error, self._connections.engine.dialect.loaded_dbapi.Error):
            raise self._failure(error, "written" if self._write else "read", lost) from error
