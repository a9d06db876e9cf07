"""Studies in a file: SQLite, by Python's own `sqlite3`."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

LONGEST_NAP = 0.002  # seconds between two tries to be the one that writes
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class _Queue:
    """Threads of one process that want to write: first come, first served."""

    def __init__(self) -> None:
        self.join_process()

    def join_process(self) -> None:
        """Be empty: whoever wrote when this process was forked is not in it."""
        self.lock = threading.RLock()
        self.turns: deque[threading.Lock] = deque()  # the first is that of whoever writes
        self.pid = os.getpid()


class _Turn:
    """A place in a queue, which is left at the end, or when this is dropped."""

    def __init__(self, queue: _Queue) -> None:
        if queue.pid != os.getpid():
            queue.join_process()
        self._queue, self._came = queue, threading.Lock()
        with queue.lock:
            queue.turns.append(self._came)
            if queue.turns[0] is not self._came:
                self._came.acquire()

    def comes(self, seconds: float) -> bool:
        """Whether it comes within so many seconds."""
        return self._came.acquire(timeout=seconds)

    def end(self) -> None:
        """Let the next one write, unless that was done before."""
        if self._queue.pid != os.getpid():
            return
        with self._queue.lock:
            turns = self._queue.turns
            if self._came not in turns:
                return
            was_first = turns[0] is self._came
            turns.remove(self._came)
            if was_first and turns:
                turns[0].release()

    __del__ = end


class _Connection(sqlite3.Connection):
    """A connection that knows whether the file has a write-ahead log by now, whether other
    processes wanted to write when it last began, which files it has open, as it left them, and its
    turn to write.
    """

    has_wal = False
    has_rivals = False
    path = ""
    file: tuple[int, ...] | None = None
    log: tuple[int, ...] | None = None
    turn: _Turn | None = None

    def commit(self) -> None:
        super().commit()
        self.file = _identity(self.path)  # into which it may have moved the log
        self._end_turn()

    def rollback(self) -> None:
        super().rollback()
        self._end_turn()

    def close(self) -> None:
        super().close()
        self._end_turn()

    def _end_turn(self) -> None:
        turn, self.turn = self.turn, None
        if turn is not None:  # an error that somebody keeps may know of it
            turn.end()


class SQLite:
    """A file with a write-ahead log (WAL); whoever writes is alone until the transaction ends.

    Readers wait for nobody. The writers of a process stand in a queue; of those of several
    processes each tries again after short naps of random length: SQLite's own naps grow longer with
    every try, so that whoever waited longest would go on waiting.
    """

    error: type[Exception] = sqlite3.Error
    serial = "INTEGER"
    bytes = "BLOB"
    clustered = "WITHOUT ROWID"
    then_key = ""  # its indices hold the primary key; named again, they are passed over for it
    find_table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    lock_schema = "SELECT 1"  # whoever writes is alone

    def __init__(
        self,
        shown: str,
        path: str,
        synchronous: str,
        lock_timeout: float,
        read_only: bool,
        create: bool,
    ) -> None:
        self._shown, self._path, self._synchronous = shown, os.path.abspath(path), synchronous
        self._lock_timeout, self._read_only, self._creates = lock_timeout, read_only, create
        self._connected = False  # whether there was a file
        self._queue = _Queue()
        self.key_file: str | None = f"{self._path}.key"
        self.address = self._path

    def __str__(self) -> str:
        return self._shown

    def connect(self) -> sqlite3.Connection:
        if self._connected and _identity(self._path) is None:
            raise sqlite3.OperationalError("it is gone: was it moved, or deleted?")
        if not self._creates and _identity(self._path) is None:
            raise sqlite3.OperationalError("there is no such file")
        # without an isolation level, since the driver would begin transactions of its own
        options: Any = {"timeout": 0.0, "isolation_level": None, "factory": _Connection}
        target = self._uri() if self._read_only else self._path
        if not self._read_only:
            _create(self._path)
        connection = sqlite3.connect(
            target, check_same_thread=False, uri=self._read_only, **options
        )
        try:
            # the first of them reads the file, for which it may have to wait
            set_up = f"PRAGMA synchronous={self._synchronous}"
            self._patiently(lambda: connection.execute(set_up))
            connection.execute("PRAGMA foreign_keys=ON")
        except sqlite3.Error:
            connection.close()
            raise
        connection.path, connection.file = self._path, _identity(self._path)
        self._connected = True
        return connection

    def _uri(self) -> str:
        """The file as one that is only read; where its folder cannot be written and there is no
        write-ahead log beside it, also as one that nobody changes, since it is then a copy.
        """
        address = f"{Path(self._path).as_uri()}?mode=ro"
        is_copy = not os.path.exists(f"{self._path}-wal")
        writable = os.access(os.path.dirname(self._path), os.W_OK)
        return f"{address}&immutable=1" if is_copy and not writable else address

    def begin(self, connection: Any) -> None:
        if not connection.has_wal:
            self._patiently(lambda: connection.execute("PRAGMA journal_mode=WAL").close())
            connection.has_wal = True
        connection.turn = _Turn(self._queue)
        if not connection.turn.comes(self._lock_timeout):
            raise sqlite3.OperationalError("database is locked")
        if connection.has_rivals:  # who wrote just now is no sooner back than who waits
            time.sleep(random.uniform(0.0, LONGEST_NAP))
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.has_rivals = False
        except sqlite3.OperationalError:
            connection.has_rivals = True
            self._patiently(lambda: connection.execute("BEGIN IMMEDIATE"))

    def execute(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        if connection.in_transaction:
            return connection.execute(sql, values)
        # a reader waits only while somebody mends, or ends, the write-ahead log
        return self._patiently(lambda: connection.execute(sql, values))

    def execute_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.executemany(sql, rows)

    def execute_locked(
        self, connection: Any, lock: str, sql: str, values: Sequence[Any]
    ) -> tuple[Any, float]:
        return connection.execute(sql, values), time.time()

    def now(self, connection: Any) -> float:
        return time.time()

    def is_lost(self, connection: Any) -> bool:
        """Whether its files are others now, or the file was written by somebody else: another
        connection moved the log into it, or a backup was put back, of which SQLite would not know.
        """
        log = _identity(f"{self._path}-wal")
        log = None if log is None else log[:2]  # it is written all the time
        if connection.log is None:
            connection.log = log
        return _identity(self._path) != connection.file or log != connection.log

    def _patiently(self, work: Callable[[], T]) -> T:
        """What a statement gives once the file is free for it."""
        until = None
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                until = until or time.monotonic() + self._lock_timeout
                if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > until:
                    raise
            time.sleep(random.uniform(0.0, LONGEST_NAP))


def _create(path: str) -> None:
    """Make a file for its owner alone, unless there is one; those beside it take after it."""
    with suppress(OSError):  # SQLite says what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _identity(path: str) -> tuple[int, ...] | None:
    """Which file it is that a path leads to, if any, its size, and when it was written."""
    try:
        result = os.stat(path)
    except FileNotFoundError:
        return None
    return result.st_dev, result.st_ino, result.st_size, result.st_mtime_ns
