"""The connections of a process to its storage."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine

_inherited: list[
    object
] = []  # of the process that we were forked from: closing them here would close them there


class Connections:
    """An engine, and a stack of connections beside its pool, whose bookkeeping would cost as much
    as a transaction.

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

    def take(self) -> Any:
        """A connection of the driver that nobody else uses."""
        engine = self.engine
        try:
            return self._idle.pop()
        except IndexError:
            pooled = engine.raw_connection()
            connection = pooled.dbapi_connection
            pooled.detach()
            return connection

    def give_back(self, connection: Any) -> None:
        """Let others use it."""
        self._idle.append(connection)

    def roll_back(self, connection: Any, error: BaseException | None) -> bool:
        """Undo what was not committed, and give the connection back, or up if it is broken: whether
        it was.
        """
        failure = self._engine.dialect.loaded_dbapi.Error
        broken = isinstance(error, failure) and self._engine.dialect.is_disconnect(
            error, connection, None
        )
        if not broken:
            try:
                connection.rollback()
            except failure:
                broken = True
        if broken:
            connection.close()
            self.close()  # what else is idle was connected to the same server
        else:
            self.give_back(connection)
        return broken


def _close(engine: Engine, idle: list[Any], pid: int) -> None:
    if pid == os.getpid():
        while idle:
            idle.pop().close()
        engine.dispose()
