"""Processes that may die at any statement: a program with a study, and a service, on one file.

They run the real code over real SQLite. What is simulated is around it: the clock, the moment at
which a statement fails or the process dies, and what others do at that moment.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ClassVar
from unittest import mock

from belman.service.app import create_app
from belman.service.limits import Limits
from belman.service.metrics import Metrics
from belman.studies import Storage, Study, open_study
from belman.studies.log.sqlite import SQLite

NAME = "study"
LIMITS = Limits(rate=1e9)
_ROW = re.compile(r"INSERT INTO belman_events \(([^)]*)\)")


class Killed(SystemExit):
    """The process has ended in the middle of its work; asyncio passes it on at once."""


class SimulatedSQLite(SQLite):
    """SQLite whose statements are moments, at each of which `happens` may do something."""

    def __init__(self, path: str, clock: Callable[[], float], happens: Callable[[str], None]):
        super().__init__(f"sqlite:///{path}", path, "normal", 0.0, False, True)
        self._clock, self._happens = clock, happens
        self.connections: list[Any] = []
        self.inserted: list[dict[str, Any]] = []  # of the transaction that is under way

    def connect(self) -> Any:
        connection: Any = super().connect()
        self.connections.append(connection)
        commit = connection.commit

        def commits() -> None:
            self._happens("commit")
            commit()
            self._happens("committed")

        connection.commit = commits
        return connection

    def begin(self, connection: Any) -> None:
        self._happens("begin")
        connection.has_rivals = False
        self.inserted = []
        super().begin(connection)

    def execute(self, connection: Any, sql: str, values: Any) -> Any:
        self._happens("read" if sql.startswith("SELECT") else "write")
        if result := _ROW.match(sql):
            names = result[1].split(", ")
            rows = [values[i : i + len(names)] for i in range(0, len(values), len(names))]
            self.inserted += [dict(zip(names, row, strict=True)) for row in rows]
        return super().execute(connection, sql, values)

    def execute_locked(self, connection: Any, lock: str, sql: str, values: Any) -> Any:
        return self.execute(connection, sql, values), self._clock()

    def now(self, connection: Any) -> float:
        return self._clock()

    def _patiently(self, work: Callable[[], Any]) -> Any:
        return work()  # whoever would wait is told at once that the file is locked


class SimulatedStorage(Storage):
    """A storage of one process."""

    def __init__(self, driver: SimulatedSQLite) -> None:
        with mock.patch("belman.studies.log.storage.driver_for", return_value=driver):
            super().__init__(str(driver))


class Process:
    """A process with connections of its own; `plan` says at which of its moments what happens."""

    def __init__(self, path: str, clock: Callable[[], float], say: Callable[..., None]) -> None:
        self._clock, self._say = clock, say
        self.plan: dict[int, Any] = {}
        self.moments, self.is_dead, self.is_busy = 0, False, False
        self.driver = SimulatedSQLite(path, clock, self._happens)
        self.storage = SimulatedStorage(self.driver)

    def _happens(self, what: str) -> None:
        if self.is_dead:
            raise sqlite3.OperationalError("this process has ended")
        moment, self.moments = self.moments, self.moments + 1
        fate = self.plan.pop(moment, None)
        if what == "commit":
            fate = self.plan.pop("commit", fate)
        if fate == "die":
            self.is_dead = True
            raise Killed(1)
        if fate == "fail":
            raise sqlite3.OperationalError("disk I/O error")
        if fate is not None:
            self._say(fate)

    def begin(self, plan: dict[int, Any]) -> None:
        """Let the next work go by a plan."""
        self.plan, self.moments = dict(plan), 0

    def end(self) -> None:
        """End as a process does: what was not committed is undone."""
        self.is_dead = True
        for connection in self.driver.connections:
            connection.close()


class Program(Process):
    """A process that has the study itself."""

    def __init__(self, *world: Any, **settings: Any) -> None:
        super().__init__(*world)
        try:
            self.study: Study = open_study(NAME, storage=self.storage, **settings)
        except BaseException:
            self.end()
            raise


class Inline(Executor):
    """Threads of which each does its work at once, so that there is one order of things."""

    def __init__(self, *_: Any) -> None:
        pass

    def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class Service(Process):
    """A process that serves the studies of the storage.

    Routes take a second of the processor to be made. So an application is used once more by a
    service that is started anew, with a registry that is as new: nothing else of it has a state.
    """

    _idle: ClassVar[list[Any]] = []

    def __init__(self, *world: Any) -> None:
        super().__init__(*world)
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(self._heard)
        around = {"limits": LIMITS, "clock": self._clock}
        if not self._idle:
            self._idle.append(create_app(self.storage, **around))  # type: ignore[arg-type]
        self.app = self._idle.pop()
        self.app.state.registry.__init__(self.storage, Metrics(), False, **around)

    def answer(self, requests: list[tuple[str, str, bytes, dict[str, str]]]) -> list[Any]:
        """The (status, header, body) of each of some requests that come at once; raises Killed."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)  # another process may be in the middle of its own
        self.is_busy = True
        try:
            return self.loop.run_until_complete(self._gathered(requests))
        finally:
            self.is_busy = False
            self.begin({})
            asyncio._set_running_loop(outer)

    def _heard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Stop where a callback fails: the request that waits for it would wait for ever. A task
        that died with its process is no fault.
        """
        if "handle" in context:
            loop.stop()

    async def _gathered(self, requests: list[Any]) -> list[Any]:
        return await asyncio.gather(*(self._answered(*request) for request in requests))

    async def _answered(
        self, method: str, target: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        path, _, query = target.partition("?")
        named = {"host": "localhost", "content-length": str(len(body)), **headers}
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode()) for k, v in named.items()],
            "client": ("127.0.0.1", 1), "server": ("localhost", 80), "root_path": "",
        }  # fmt: skip
        sent: list[Any] = []
        bodies = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            return bodies.pop() if bodies else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        result = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        return sent[0]["status"], result, b"".join(one.get("body", b"") for one in sent[1:])

    def end(self) -> None:
        super().end()
        if self.loop.is_closed():
            return
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            outer = asyncio._get_running_loop()
            asyncio._set_running_loop(None)
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            asyncio._set_running_loop(outer)
        self.loop.close()
        self._idle.append(self.app)
