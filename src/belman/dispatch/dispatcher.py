"""Which server gets the next job: an agent per queue chooses a free one, and learns how it went."""

from __future__ import annotations

import asyncio
import os
import threading
import time as clocks
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.agent import Agent, checks, state_file
from belman.dispatch.waiting import WaitingLine, task_waker, thread_waker
from belman.errors import BusyError, ServerError, SettingError, StateError, listing, nearest
from belman.families.family import LARGEST
from belman.policies import Policy, Thompson
from belman.table import Table
from belman.version import __version__

FORMAT = "belman dispatcher"
_LEAST = 1e-9  # seconds that a job takes at least
#: What servers are judged by, as the settings of an agent.
OBJECTIVES: dict[str, dict[str, Any]] = {
    "time": {"family": "exponential", "minimise": True},
    "success": {"family": "bernoulli", "minimise": False},
}


@dataclass
class Job:
    """A job under way: whose it is, and when it began."""

    queue: Hashable
    began: float


class Dispatcher:
    """Sends jobs to the servers that serve them best, which it finds out by sending them.

    `learns='time'` judges servers by how long a job takes (an exponential law of unknown rate),
    `learns='success'` by how often it succeeds. Every one of `queues` has beliefs of its own. At
    most `limit` jobs are under way at once. A free server is never kept idle while a job waits and
    the limit allows it: what is chosen is the best of the free ones, not a busy one that may be
    worth waiting for. `policy` is Thompson sampling by default: its choice among the free servers
    is the same whoever is busy, while evidence against a busy leader would make the free ones take
    turns. A failed job counts as one that took `penalty` times the average. All methods may be
    called from any thread; coroutines await `assign_async` or use `async with dispatcher.job()`.

    >>> dispatcher = Dispatcher(["near", "far"], seed=7)
    >>> server = dispatcher.assign()
    >>> dispatcher.completed(server, time=0.25)
    >>> dispatcher
    Dispatcher(2 servers, learns='time', 1 job completed, 0 failed, 0 under way)
    """

    def __init__(
        self,
        servers: Iterable[Hashable],
        *,
        learns: str = "time",
        queues: Iterable[Hashable] = (None,),
        policy: Policy | None = None,
        limit: int | None = None,
        penalty: float = 10.0,
        prior: ArrayLike | None = None,
        discount: float = 1.0,
        seed: int | None = None,
        clock: Callable[[], float] = clocks.monotonic,
    ) -> None:
        if learns not in OBJECTIVES:
            known = f"there are {listing(OBJECTIVES)}{nearest(learns, OBJECTIVES)}"
            raise SettingError(f"learns={learns!r} is unknown: {known}")
        is_whole = isinstance(limit, (int, np.integer)) and not isinstance(limit, bool)
        if limit is not None and (not is_whole or limit < 1):
            allowed = "it must be a whole number from 1 up, or None"
            raise SettingError(f"limit={limit!r} lets no job through: {allowed}")
        is_number = isinstance(penalty, (int, float)) and not isinstance(penalty, bool)
        if not is_number or not 1.0 <= penalty < float("inf"):
            allowed = "it must be a number from 1 up"
            raise SettingError(f"penalty={penalty!r} makes failing worth while: {allowed}")
        names, lines = list(servers), list(queues)
        if not lines or len(set(lines)) != len(lines):
            remedy = "give at least one queue, each once"
            raise SettingError(f"queues={lines!r} makes no dispatcher: {remedy}")
        who = Thompson() if policy is None else policy
        rest = {**OBJECTIVES[learns], "policy": who, "prior": prior, "discount": discount}
        agents = [Agent(names, **rest, seed=_seed(seed, place)) for place in range(len(lines))]
        self._agents = dict(zip(lines, agents, strict=True))
        self._learns, self._limit, self._penalty, self._clock = learns, limit, float(penalty), clock
        self._jobs: dict[Hashable, Job] = {}
        self._paused: set[Hashable] = set()
        self._completed = dict.fromkeys(names, 0)
        self._failed = dict.fromkeys(names, 0)
        self._unit: float | None = None
        self._spent = 0.0
        self._line = WaitingLine()
        self._lock = threading.RLock()

    # Jobs

    def assign(self, queue: Hashable = None, *, timeout: float | None = 0.0) -> Any:
        """The server for the next job of a queue, which is busy from now on.

        If none is free, wait up to `timeout` seconds (None: for ever) for one, then raise
        BusyError.
        """
        with self._lock:
            self._agent(queue)
            server = self._give(queue) if not len(self._line) else None
            if server is not None:
                return server
            wake, wait = thread_waker()
            waiter = self._line.join(queue, wake)
        if timeout is None or timeout > 0.0:
            wait(timeout)
        with self._lock:
            self._line.leave(waiter)
            if not waiter.served:
                raise BusyError(self._why_busy())
            return waiter.server

    async def assign_async(self, queue: Hashable = None) -> Any:
        """The server for the next job of a queue, once one is free and nobody came before."""
        with self._lock:
            self._agent(queue)
            server = self._give(queue) if not len(self._line) else None
            if server is not None:
                return server
            wake, woken = task_waker()
            waiter = self._line.join(queue, wake)
        try:
            await woken
        except asyncio.CancelledError:
            with self._lock:
                self._line.leave(waiter)
                if waiter.served:
                    self.release(waiter.server)
            raise
        return waiter.server

    def completed(self, server: Hashable, *, time: float | None = None) -> None:
        """A job is done; `time` in seconds is taken from the clock unless it is given."""
        with self._lock:
            job = self._job(server)
            spent = self._duration(job, time)
            unit = self._unit or max(spent, _LEAST)
            self._agents[job.queue].tell(server, spent / unit if self._learns == "time" else 1)
            self._unit, self._spent = unit, self._spent + spent
            self._completed[server] += 1
            self._end(server)

    def failed(self, server: Hashable, *, time: float | None = None) -> None:
        """A failure: where times are learnt, `penalty` average times, or the time given if more."""
        with self._lock:
            job = self._job(server)
            spent = self._duration(job, time)
            done = sum(self._completed.values())
            cost = max(self._penalty * (self._spent / done if done else spent), spent)
            unit = self._unit or max(cost, _LEAST)
            self._agents[job.queue].tell(server, cost / unit if self._learns == "time" else 0)
            self._unit = unit
            self._failed[server] += 1
            self._end(server)

    def release(self, server: Hashable) -> None:
        """A job was taken back: its server is free again, and nothing is learnt."""
        with self._lock:
            self._job(server)
            self._take_back(server)
            self._serve()

    @contextmanager
    def _outcome(self, server: Any) -> Iterator[Any]:
        try:
            yield server
        except asyncio.CancelledError:
            self.release(server)
            raise
        except Exception:
            self.failed(server)
            raise
        else:
            self.completed(server)

    def job(self, queue: Hashable = None) -> AbstractAsyncContextManager[Any]:
        """`async with dispatcher.job() as server:` waits for one; an exception is a failure."""

        @asynccontextmanager
        async def run() -> Any:
            with self._outcome(await self.assign_async(queue)) as server:
                yield server

        return run()

    # Servers

    def add_server(self, server: Hashable, prior: ArrayLike | None = None) -> None:
        """Take a new server into service."""
        with self._lock:
            for agent in self._agents.values():
                agent.add_arm(server, prior)
            self._completed[server] = self._failed[server] = 0
            self._serve()

    def remove_server(self, server: Hashable) -> None:
        """Take a server out of service for ever, with all that was learnt; it must not be busy."""
        with self._lock:
            self._known(server)
            if server in self._jobs:
                remedy = "let its job end, or pause it so that it gets no other"
                raise ServerError(f"server {server!r} is busy: {remedy}")
            for agent in self._agents.values():
                agent.remove_arm(server)
            del self._completed[server], self._failed[server]
            self._paused.discard(server)

    def pause(self, server: Hashable) -> None:
        """Give a server no more jobs; one under way goes on."""
        with self._lock:
            self._paused.add(self._known(server))

    def resume(self, server: Hashable) -> None:
        """Give a paused server jobs again."""
        with self._lock:
            self._paused.discard(self._known(server))
            self._serve()

    # Looking

    @property
    def servers(self) -> tuple[Hashable, ...]:
        """The names of the servers."""
        with self._lock:
            return tuple(self._completed)

    @property
    def free(self) -> tuple[Hashable, ...]:
        """Servers that could take a job now, the limit apart."""
        with self._lock:
            return tuple(self._free())

    @property
    def busy(self) -> dict[Hashable, Hashable]:
        """Servers with a job under way, and the queue it is from."""
        with self._lock:
            return {server: job.queue for server, job in self._jobs.items()}

    @property
    def waiting(self) -> int:
        """How many callers wait for a server."""
        with self._lock:
            return len(self._line)

    def beliefs(self, queue: Hashable = None) -> Table:
        """Per server: jobs, expected seconds (or chance of success) with interval, and P(best)."""
        with self._lock:
            renamed = {"arm": "server", "expected cost": "expected time"}
            columns = dict(self._agent(queue).beliefs().columns)
            if self._learns == "time":
                for name in ("expected cost", "low", "high"):
                    columns[name] = [value * (self._unit or 1.0) for value in columns[name]]
            return Table({renamed.get(name, name): values for name, values in columns.items()})

    def status(self) -> Table:
        """Per server: what it does now, and how many jobs it has completed and failed."""
        with self._lock:
            states = [
                "busy" if s in self._jobs else "paused" if s in self._paused else "free"
                for s in self._completed
            ]
            completed, failed = list(self._completed.values()), list(self._failed.values())
            counts = {"completed": completed, "failed": failed}
            return Table({"server": list(self._completed), "now": states, **counts})

    def __repr__(self) -> str:
        done, lost = sum(self._completed.values()), sum(self._failed.values())
        count = len(self._completed)
        servers, jobs = f"{count} server{'s' * (count != 1)}", f"{done} job{'s' * (done != 1)}"
        now = f"{jobs} completed, {lost} failed, {len(self._jobs)} under way"
        return f"Dispatcher({servers}, learns={self._learns!r}, {now})"

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, atomically, with jobs under way, without waiting callers."""
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """The whole state as text."""
        with self._lock:
            now, encode = self._clock(), state_file.encode_arm
            content = {
                "belman": __version__,
                "learns": self._learns,
                "limit": self._limit,
                "penalty": self._penalty,
                "unit": self._unit,
                "spent": self._spent,
                "queues": [encode(queue) for queue in self._agents],
                "agents": [agent.to_json() for agent in self._agents.values()],
                "servers": [encode(server) for server in self._completed],
                "completed": list(self._completed.values()),
                "failed": list(self._failed.values()),
                "paused": [encode(server) for server in self._completed if server in self._paused],
                "services": [
                    [encode(s), encode(job.queue), now - job.began] for s, job in self._jobs.items()
                ],
            }
            return state_file.write(content, FORMAT)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        clock: Callable[[], float] = clocks.monotonic,
    ) -> Dispatcher:
        """The dispatcher of a state file; jobs that were under way still are, until they end."""
        text, source = state_file.fetch(path), os.fspath(path)
        return cls.from_json(text, source=source, policy=policy, clock=clock)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        source: str = "the state",
        policy: Policy | None = None,
        clock: Callable[[], float] = clocks.monotonic,
    ) -> Dispatcher:
        """The dispatcher of a text that `to_json` gave."""
        content = state_file.read(text, source, FORMAT)
        rebuild = partial(cls._rebuilt, content, source, policy, clock)
        return state_file.trusted(rebuild, source, FORMAT)

    @classmethod
    def _rebuilt(
        cls, content: dict[str, Any], source: str, policy: Policy | None, clock: Callable[[], float]
    ) -> Dispatcher:
        def names(part: Sequence[Any]) -> list[Hashable]:
            if not isinstance(part, list):
                raise StateError(f"{str(part)[:40]!r} is no list of names")
            return [state_file.decode_arm(name, source) for name in part]

        servers, queues = names(content["servers"]), names(content["queues"])
        same = {name: content[name] for name in ("learns", "limit", "penalty")}
        made = cls(servers, queues=queues, clock=clock, **same)
        rebuild = partial(Agent.from_json, source=source, policy=policy)
        made._agents = dict(zip(queues, map(rebuild, content["agents"]), strict=True))
        unit, made._spent = content["unit"], checks.size(content["spent"], "spent")
        if unit is not None and checks.size(unit, "unit") < _LEAST:
            raise StateError(f"unit is {unit}, and {_LEAST:g} is the least")
        made._unit = unit
        for name in ("completed", "failed"):
            counts = checks.wholes(content[name], len(servers), name)
            setattr(made, f"_{name}", dict(zip(servers, counts, strict=True)))
        made._paused = {made._known(server) for server in names(content["paused"])}
        now = clock()
        for server, queue, ago in content["services"]:
            key, whose = names([server, queue])
            if made._known(key) in made._jobs:
                raise StateError(f"server {key!r} has two jobs")
            made._jobs[key] = Job(whose, now - checks.size(ago, "services"))
        made._check_agents(source)
        return made

    def _check_agents(self, source: str) -> None:
        """Whether the agents of a file play the servers, and wait for the jobs under way."""
        own = OBJECTIVES[self._learns]
        for queue, agent in self._agents.items():
            under_way = {server: 1 for server, job in self._jobs.items() if job.queue == queue}
            judges = (agent.scale.base.name, agent.scale.minimise)
            if agent.arms != self.servers or agent.outstanding != under_way:
                raise StateError(f"{source}: queue {queue!r} has other servers or jobs under way")
            if judges != (own["family"], own["minimise"]) or agent.scale.range is not None:
                raise StateError(f"{source}: queue {queue!r} does not learn {self._learns!r}")
        for server, job in self._jobs.items():
            if job.queue not in self._agents:
                raise StateError(f"{source}: server {server!r} serves no queue that there is")

    # Within the lock

    def _free(self) -> list[Hashable]:
        taken = {*self._jobs, *self._paused}
        return [server for server in self._completed if server not in taken]

    def _give(self, queue: Hashable) -> Any:
        """A server for a job of this queue, or None where none is free."""
        free = self._free()
        if not free or (self._limit is not None and len(self._jobs) >= self._limit):
            return None
        server = self._agent(queue).ask(among=free)
        self._jobs[server] = Job(queue, self._clock())
        return server

    def _end(self, server: Hashable) -> None:
        del self._jobs[server]
        self._serve()

    def _serve(self) -> None:
        self._line.serve(self._give, self._take_back)

    def _take_back(self, server: Hashable) -> None:
        self._agents[self._jobs.pop(server).queue].cancel(server)

    def _duration(self, job: Job, given: float | None) -> float:
        value = self._clock() - job.began if given is None else given
        is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not is_number or not 0.0 <= value <= LARGEST:
            allowed = f"it must be seconds from 0 to {LARGEST:g}, or None for the clock's"
            raise ServerError(f"time={given!r} cannot be: {allowed}")
        return float(value)

    def _agent(self, queue: Hashable) -> Agent:
        if queue not in self._agents:
            known = f"this dispatcher has {listing(self._agents)}{nearest(queue, self._agents)}"
            raise ServerError(f"unknown queue {queue!r}: {known}")
        return self._agents[queue]

    def _known(self, server: Hashable) -> Hashable:
        if server not in (servers := self._completed):
            known = f"this dispatcher has {listing(servers)}{nearest(server, servers)}"
            raise ServerError(f"unknown server {server!r}: {known}")
        return server

    def _job(self, server: Hashable) -> Job:
        self._known(server)
        if server not in self._jobs:
            why = "it was never assigned, or its end was told already"
            raise ServerError(f"server {server!r} has no job: {why}")
        return self._jobs[server]

    def _why_busy(self) -> str:
        if self._limit is not None and len(self._jobs) >= self._limit:
            remedy = "wait with timeout=…, or complete one"
            return f"{self._limit} jobs are under way, which is the limit: {remedy}"
        paused = f", {len(self._paused)} paused" if self._paused else ""
        busy = f"{len(self._jobs)} busy{paused} (wait with timeout=…, or complete a job)"
        return f"no server is free: {busy}, {len(self._line)} callers before this one"


def _seed(seed: int | None, place: int) -> int | None:
    """A seed for each queue's agent."""
    if seed is None or place == 0:
        return seed
    return int(chance.generator(seed, place)[0] >> np.uint64(1))
