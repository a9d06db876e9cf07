"""The connections of a process to its storage."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine

_inherited: list[object] = []  # of the process that we were forked from: closing them here would close them there


class LostError(Exception):
    """A connection broke in use; its argument is the driver's error."""


class Connections:
    """An engine, and a stack of connections beside its pool, whose bookkeeping would cost as much as a transaction.

    A process that was forked makes its own.
    """

    def __init__(self, make_engine: Callable[[], Engine]) -> None:
        self._make = make_engine
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._engine = self._make()
        self._idle: list[Any] = []
        self._closing = weakref.finalize(self, _close, self._engine, self._idle, self._pid)

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        if self._pid != os.getpid():
            _inherited.extend((self._engine, *self._idle))
            self._closing.detach()
            self._begin()
        return self._engine

    def close(self) -> None:
        """Close all that are not in use."""
        _close(self.engine, self._idle, self._pid)

    @contextmanager
    def taken(self) -> Iterator[Any]:
        """A connection of the driver, rolled back if anything goes wrong, and given up if it is broken."""
        engine = self.engine
        try:
            connection = self._idle.pop()
        except IndexError:
            pooled = engine.raw_connection()
            connection = pooled.dbapi_connection
            pooled.detach()
        try:
            yield connection
        except BaseException as error:
            if self._broken(connection, error):
                connection.close()
                self.close()  # what else is idle was connected to the same server
                if isinstance(error, self._failure):
                    raise LostError(error) from error
            else:
                self._idle.append(connection)
            raise
        self._idle.append(connection)

    def _broken(self, connection: Any, error: BaseException) -> bool:
        if isinstance(error, self._failure) and self._engine.dialect.is_disconnect(error, connection, None):
            return True
        try:
            connection.rollback()
        except self._failure:
            return True
        return False

    @property
    def _failure(self) -> Any:
        return self._engine.dialect.loaded_dbapi.Error


def _close(engine: Engine, idle: list[Any], pid: int) -> None:
    if pid == os.getpid():
        while idle:
            idle.pop().close()
        engine.dispose()
