"""Where studies are kept: a connection pool, and short transactions."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from belman.errors import StorageError, StudyError, UnknownStudyError, listing, nearest
from belman.studies.log import schema
from belman.studies.log.drivers import Driver, driver_for

T = TypeVar("T")

# of the process that we were forked from: closing them here would close them there
_inherited: list[Any] = []


class LostConnectionError(StorageError):
    """The storage went away in the middle of a transaction."""


class Pool:
    """A connection pool, as a list of idle ones, for speed; a forked process opens its own."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._begin()

    def _begin(self) -> None:
        self._idle: list[Any] = []
        self._closing = weakref.finalize(self, _close, self._idle, os.getpid())
        self._pid = os.getpid()  # at last: from now on other threads take what is idle

    def close(self) -> None:
        """Close all that are not in use."""
        _close(self._idle, self._pid)

    def take(self) -> Any:
        """A connection that nobody else uses."""
        if self._pid != os.getpid():
            _inherited.extend(self._idle)
            self._closing.detach()
            self._begin()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self.driver.connect()
            if not self.driver.is_lost(connection):
                return connection
            connection.close()

    def give_back(self, connection: Any) -> None:
        """Let others use it."""
        self._idle.append(connection)

    def roll_back(self, connection: Any) -> bool:
        """Undo what was not committed, and keep the connection unless lost: whether it was."""
        lost = self.driver.is_lost(connection)
        if not lost:
            try:
                connection.rollback()
            except self.driver.error:
                lost = True
        if lost:
            connection.close()
            self.close()  # what else is idle was connected to the same server
        else:
            self.give_back(connection)
        return lost


def _close(idle: list[Any], pid: int) -> None:
    if pid == os.getpid():
        while idle:
            idle.pop().close()


class Transaction:
    """A context: committed at its end if it writes, undone if anything goes wrong.

    A class, since a generator for each of its concerns costs as much as SQLite's commit.
    """

    def __init__(self, pool: Pool, write: bool) -> None:
        self.driver = pool.driver
        self.time = 0.0  # when the lock was given, by the clock of the database
        self.committing = False  # whether nobody knows, if it fails now, what has happened
        self._pool, self._write = pool, write
        self._connection: Any = None

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """The rows that a query finds."""
        return self.driver.execute(self._connection, sql, values).fetchall()

    def rows_locked(self, lock: str, sql: str, *values: Any) -> list[Any]:
        """The rows that a query finds once nobody else writes to what its first value names."""
        result, self.time = self.driver.execute_locked(self._connection, lock, sql, values)
        return result.fetchall()

    def now(self) -> float:
        """The time by the clock of the database."""
        return self.driver.now(self._connection)

    def execute(self, sql: str, *values: Any) -> int:
        """Change something: how many rows were."""
        return self.driver.execute(self._connection, sql, values).rowcount

    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Change something, for every row of values."""
        if len(rows) == 1:
            self.driver.execute(self._connection, sql, rows[0])
        else:
            self.driver.execute_many(self._connection, sql, rows)

    def __enter__(self) -> Transaction:
        try:
            self._connection = self._pool.take()
        except self.driver.error as error:
            raise _failure(self.driver, error, "opened") from error
        if self._write:
            try:
                self.driver.begin(self._connection)
            except self.driver.error as error:
                self._undo(error)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None and self._write:
            self.committing = True
            try:
                self._connection.commit()
            except self.driver.error as failed:
                self._undo(failed)
            self._pool.give_back(self._connection)
        else:
            self._undo(error)

    def _undo(self, error: BaseException | None) -> None:
        """Roll back; an error of the driver is raised as one of ours."""
        lost = self._pool.roll_back(self._connection)
        if isinstance(error, self.driver.error):
            done = "written" if self._write else "read"
            raise _failure(self.driver, error, done, lost) from error


class Storage:
    """A database that keeps studies. Threads may share a storage, and so may forked processes.

    Opening creates the tables in an empty database, writes nothing in one that has them, and
    refuses tables of another version. SQLite keeps its log ahead of its pages (WAL) and waits for
    the disk at every commit; `?synchronous=normal` does not wait, so that a power cut (not a crash
    of the program) may take the last moments with it.

    Parameters
    ----------
    url
        The address: `sqlite:///studies.db` or `postgresql://user@host/name`.
    migrating
        Whether to bring the tables of an earlier version up to date, as `migrate` does.
    read_only
        Whether to write nothing ever, and refuse every change: for a copy to look at.
    create
        Whether a SQLite file that is not there is created; else it is an error.

    Raises
    ------
    StorageError
        If the database cannot be opened, or its tables are of another version.
    """

    def __init__(
        self, url: str, *, migrating: bool = False, read_only: bool = False, create: bool = True
    ) -> None:
        self.read_only = read_only
        #: The furthest number and link that anybody saw here of the log of a study, by its id and
        #: secret: those who read it and those who write it are to know of each other.
        self.heads: dict[tuple[int, str], tuple[int, bytes]] = {}
        #: The names of studies, by id and secret, whose log was found to be another one.
        self.out_of_step: dict[tuple[int, str], str] = {}
        self._pool = Pool(driver_for(url, read_only, create))
        (schema.upgrade if migrating else schema.prepare)(self)

    def __str__(self) -> str:
        return str(self._pool.driver)

    def __repr__(self) -> str:
        return f"Storage({str(self)!r})"

    @property
    def address(self) -> str:
        """Where studies are kept: the whole path of a SQLite file, the address of a server."""
        return self._pool.driver.address

    @property
    def key_file(self) -> str | None:
        """The file beside this storage that holds signing keys, if it has a place for one."""
        return self._pool.driver.key_file

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        self._pool.close()

    def transaction(self, *, write: bool = True) -> Transaction:
        """Begin a transaction: a context that commits at its end, and undoes everything if it
        raises. On SQLite only one at a time writes.

        Parameters
        ----------
        write
            Whether it writes; one that reads is undone at its end.

        Returns
        -------
        Transaction
            The context manager.

        Raises
        ------
        StorageError
            If it writes, and the storage was opened to be read only.
        """
        if write and self.read_only:
            raise StorageError(f"{self} was opened with read_only=True: nothing can be changed")
        return Transaction(self._pool, write)

    def run(self, work: Callable[[Transaction], T], *, write: bool = True) -> T:
        """Do some work in one transaction.

        A connection that is lost before the commit has changed nothing: the work is then done once
        more, on a new one.

        Parameters
        ----------
        work
            A function of the transaction. It may be called twice.
        write
            Whether it writes.

        Returns
        -------
        T
            What the work returned.

        Raises
        ------
        StorageError
            If the database fails, or is lost while it commits: nobody knows then whether the work
            is done.
        """
        transaction = self.transaction(write=write)
        try:
            with transaction:
                return work(transaction)
        except LostConnectionError:
            if transaction.committing:
                raise
        with self.transaction(write=write) as transaction:
            return work(transaction)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Read the rows that a query finds.

        Parameters
        ----------
        sql
            The query, with a ? for each value.
        values
            A value for each ?, in order.

        Returns
        -------
        list
            A sequence of values for each row.
        """
        return self.run(lambda transaction: transaction.rows(sql, *values), write=False)

    def execute(self, sql: str, *values: Any) -> int:
        """Run one statement that changes rows, in a transaction of its own.

        Parameters
        ----------
        sql
            The statement, with a ? for each value.
        values
            A value for each ?, in order.

        Returns
        -------
        int
            How many rows it changed.
        """
        return self.run(lambda transaction: transaction.execute(sql, *values))

    def now(self) -> float:
        """Read the clock of the database: PostgreSQL's own; that of this machine for SQLite.

        Returns
        -------
        float
            Seconds since 1970.
        """
        return self.run(Transaction.now, write=False)

    def names(self, archived: bool | None = None) -> list[str]:
        """List the studies that are kept here.

        Parameters
        ----------
        archived
            True for those that are archived, False for those that are not, None for all.

        Returns
        -------
        list of str
            Their names, sorted.
        """
        where = {None: "", True: "WHERE archived IS NOT NULL", False: "WHERE archived IS NULL"}
        sql = f"SELECT name FROM belman_studies {where[archived]} ORDER BY name"
        return [name for (name,) in self.rows(sql)]

    def find(self, name: str) -> tuple[int, str]:
        """Look up a study.

        Parameters
        ----------
        name
            The name of the study.

        Returns
        -------
        tuple of int and str
            Its id in the tables, and the secret by which it checks its tickets.

        Raises
        ------
        UnknownStudyError
            If there is no study of that name.
        """
        result = self.rows("SELECT id, secret FROM belman_studies WHERE name = ?", name)
        if not result:
            raise self.unknown(name)
        return result[0]

    def reopen(self, name: str) -> None:
        """Accept the log of a study as it is now, after a restore: those who open the study from
        here on no longer compare it with what was seen of it before.

        Parameters
        ----------
        name
            The name of the study.

        Raises
        ------
        UnknownStudyError
            If there is no study of that name.
        """
        study = self.find(name)
        self.heads.pop(study, None)
        self.out_of_step.pop(study, None)

    def unknown(self, name: str) -> UnknownStudyError:
        """Make the error for a name that no study has; it lists those that there are.

        Parameters
        ----------
        name
            The name that was asked for.

        Returns
        -------
        UnknownStudyError
            The error, to be raised by the caller.
        """
        names = self.names()
        there = f"are {listing(names)}{nearest(name, names)}" if names else "is none"
        remedy = "(give arms=[…] to create it)"
        return UnknownStudyError(f"no study {name!r} in {self}: there {there} {remedy}")


def migrate(url: str) -> str:
    """Bring the tables of a storage to the version of this belman.

    Parameters
    ----------
    url
        The address of the database.

    Returns
    -------
    str
        The version that the tables have now.
    """
    Storage(url, migrating=True).close()
    return schema.HEAD


def _failure(driver: Driver, error: Exception, done: str, lost: bool = False) -> StorageError:
    """An error of the database as ours, with its words and without our password."""
    words = str(error).strip().replace("\n", " ")
    return (LostConnectionError if lost else StorageError)(f"{driver} could not be {done}: {words}")


#: Seconds from 1970, either way: 30,000 years, on which the grid of the shortest window still fits.
FARTHEST = 1e12


def is_time(value: object) -> bool:
    """Whether it is a number of seconds that a study can reckon with."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and -FARTHEST <= value <= FARTHEST  # type: ignore[operator]


def check_time(now: float) -> float:
    """What a clock said.

    >>> check_time(float("nan"))
    Traceback (most recent call last):
        ...
    belman.errors.StudyError: the clock says nan, which is not a time: give seconds since 1970, at \
most 1e+12
    """
    if not is_time(now):
        allowed = f"give seconds since 1970, at most {FARTHEST:g}"
        raise StudyError(f"the clock says {now!r}, which is not a time: {allowed}")
    return float(now)
