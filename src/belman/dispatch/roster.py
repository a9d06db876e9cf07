"""Who serves, who is believed to serve best, and what is under way: a dispatcher without its door.

Nothing here waits, locks or looks at a clock: the time is handed in. A `Dispatcher` keeps a roster
in memory, a `SharedDispatcher` keeps one in a storage, and a simulation lets its own time pass.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.agent import Agent
from belman.codec import Count
from belman.deciders.checks import Size
from belman.dispatch.breaker import Breaker, Record
from belman.dispatch.jobs import Job, JobBook
from belman.dispatch.slots import Capacity, Slots, slots_of
from belman.errors import ServerError, SettingError, unknown
from belman.families.family import LARGEST
from belman.policies import Policy, Thompson
from belman.validate import is_between, require_number, require_one_of, require_whole

LEAST = 1e-9  # seconds that a job takes at least
#: What servers are judged by, as the settings of an agent.
OBJECTIVES: dict[str, dict[str, Any]] = {
    "time": {"family": "exponential", "minimise": True},
    "success": {"family": "bernoulli", "minimise": False},
}


@dataclass(slots=True)
class Server:
    """Hold the slots of a server, the record of its failures, and the counts of its jobs."""

    slots: Slots
    record: Record  # of its failures
    completed: Count = 0
    failed: Count = 0
    expired: Count = 0  # of the failed ones
    seconds: Size = 0.0  # that completed jobs took
    paused: bool = False


class Roster:
    """The servers with what is believed of them, and the jobs under way.

    >>> roster = Roster(["near", "far"], seed=7)
    >>> job = roster.give(None, now=0.0)
    >>> roster.complete(job, 0.25, now=0.25)
    >>> roster.servers[job.server].completed, len(roster.jobs)
    (1, 0)
    """

    def __init__(
        self,
        servers: Iterable[Hashable],
        *,
        learns: str = "time",
        queues: Iterable[Hashable] = (None,),
        policy: str | Policy | None = None,
        limit: int | None = None,
        penalty: float = 10.0,
        prior: ArrayLike | None = None,
        discount: float = 1.0,
        slots: Any = 1,
        time_limit: float | None = None,
        breaker: Breaker | None = None,
        seed: int | None = None,
    ) -> None:
        _check_settings(learns, limit, penalty, time_limit, breaker)
        names, lines = list(servers), list(queues)
        if not lines or len(set(lines)) != len(lines):
            remedy = "give at least one queue, each once"
            raise SettingError(f"queues={lines!r} is not valid: {remedy}")
        who = Thompson() if policy is None else policy
        rest = {**OBJECTIVES[learns], "policy": who, "prior": prior, "discount": discount}
        agents = [
            Agent(names, **rest, seed=_seed(seed, position)) for position in range(len(lines))
        ]
        self.agents = dict(zip(lines, agents, strict=True))
        self.learns, self.limit, self.penalty = learns, limit, float(penalty)
        self.time_limit, self.breaker = time_limit, breaker
        if isinstance(slots, Mapping):
            for server in slots:
                _one_of(server, names, "server")
        later = slots_of(1 if isinstance(slots, Mapping) else slots, None)  # of new servers
        self.new_slots = later.rules if isinstance(later, Capacity) else later.expected
        self.servers = {name: Server(slots_of(slots, name), Record(breaker)) for name in names}
        self.rng = chance.generator(seed, 0, 1)
        self.jobs = JobBook()
        self.sent = 0
        self.unit: float | None = None
        self.spent = 0.0

    # Jobs

    def give(self, queue: Hashable, now: float) -> Job | None:
        """A job of this queue at a server, or None where none is free."""
        agent = self.agent(queue)
        if self.limit is not None and len(self.jobs) >= self.limit:
            return None
        free = self.free(draw=True)
        if not free:
            return None
        server = agent.ask(among=free)
        self.sent += 1
        chosen = self.servers[server]
        chosen.slots.changes(now, self.jobs.count(server))
        job = Job(self.sent, server, queue, now, chosen.record.begun())
        self.jobs.add(job)
        return job

    def complete(self, job: Job, spent: float, now: float) -> None:
        """A job was done in `spent` seconds."""
        unit = self.unit or max(spent, LEAST)
        reward = spent / unit if self.learns == "time" else 1
        self.agents[job.queue].tell(job.server, reward)
        self.unit, self.spent = unit, self.spent + spent
        server = self.servers[job.server]
        server.completed += 1
        server.seconds += spent
        self._end(job, now, True)

    def fail(self, job: Job, spent: float, now: float) -> None:
        """A job has failed after `spent` seconds."""
        agent = self.agents[job.queue]
        if self.learns == "success":
            agent.tell(job.server, 0)
        elif self.breaker:
            agent.cancel(job.server)  # of its speed nothing is known
        else:
            done = sum(server.completed for server in self.servers.values())
            cost = max(self.penalty * (self.spent / done if done else spent), spent)
            self.unit = self.unit or max(cost, LEAST)
            agent.tell(job.server, cost / self.unit)
        self.servers[job.server].failed += 1
        self._end(job, now, False)

    def take_back(self, job: Job, now: float) -> None:
        """A job that is not done after all: nothing is learnt."""
        server = self.servers[job.server]
        server.slots.changes(now, self.jobs.count(job.server))
        self.agents[job.queue].cancel(job.server)
        server.record.taken_back(job.probe)
        self.jobs.remove(job)

    def expire(self, now: float) -> None:
        """Jobs over the time limit have failed."""
        if self.time_limit is not None:
            for job in self.jobs.begun_before(now - self.time_limit):
                self.servers[job.server].expired += 1
                self.fail(job, self.time_limit, now)

    def next_expiry(self) -> float | None:
        """When the next job will be over the time limit."""
        first = self.jobs.first
        return None if first is None or self.time_limit is None else first.began + self.time_limit

    def _end(self, job: Job, now: float, success: bool) -> None:
        server = self.servers[job.server]
        server.slots.changes(now, self.jobs.count(job.server), completed=success)
        server.record.ended(success, job.probe, self.sent)
        self.jobs.remove(job)

    def job(self, named: Any) -> Job:
        """A job by itself, or the oldest one of a server by the server's name."""
        if isinstance(named, Job):
            if (own := self.jobs.same(named)) is not None:
                return own
            raise ServerError(f"job {named.number} is not under way: its end was told already")
        server = self.known(named)
        if (job := self.jobs.oldest(server)) is None:
            why = "it was never assigned, or its end was told already"
            raise ServerError(f"server {server!r} has no job: {why}")
        return job

    # Servers

    def free(self, draw: bool = False) -> list[Hashable]:
        """Servers that could take a job now, the limit apart; learnt slots may be drawn."""
        able = {name: server for name, server in self.servers.items() if not server.paused}
        return [name for name in self._admitted(able) if self._has_room(name, draw)]

    def _has_room(self, name: Hashable, draw: bool) -> bool:
        slots, count = self.servers[name].slots, self.jobs.count(name)
        return count == 0 or count < (slots.in_use(self.rng) if draw else slots.expected)

    def _admitted(self, able: Mapping[Hashable, Server]) -> list[Hashable]:
        """Those whose breakers admit a job; were there none, the one that has rested most."""
        good = [name for name, one in able.items() if one.record.admits(self.sent)]
        if able and not good and not any(one.record.probing for one in able.values()):
            good = [min(able, key=lambda name: able[name].record.due)]
        return good

    def add_server(self, server: Hashable, prior: ArrayLike | None = None) -> None:
        """A new one."""
        for agent in self.agents.values():
            agent.add_arm(server, prior)
        self.servers[server] = Server(slots_of(self.new_slots, server), Record(self.breaker))

    def remove_server(self, server: Hashable) -> None:
        """One less, with all that was learnt."""
        self.known(server)
        if self.jobs.count(server):
            remedy = "let its job end, or pause it so that it gets no other"
            raise ServerError(f"server {server!r} is busy: {remedy}")
        for agent in self.agents.values():
            agent.retire_arm(server, forget=True)
        del self.servers[server]

    def pause(self, server: Hashable, paused: bool) -> None:
        """Give a server no more jobs, or jobs again."""
        self.servers[self.known(server)].paused = paused

    # What is asked for by name

    def agent(self, queue: Hashable) -> Agent:
        """The agent of a queue."""
        return self.agents[_one_of(queue, self.agents, "queue")]

    def known(self, server: Hashable) -> Hashable:
        """A server that there is."""
        return _one_of(server, self.servers, "server")

    def duration(self, job: Job, given: float | None, now: float) -> float:
        """The seconds of a job: those given, or those that passed."""
        value = now - job.began if given is None else given
        if not is_between(value, 0.0, LARGEST):
            allowed = f"it must be seconds from 0 to {LARGEST:g}, or None for the clock's"
            raise ServerError(f"time={given!r} is not allowed: {allowed}")
        return float(value)

    def why_busy(self, waiting: int) -> str:
        """Why no job can begin."""
        if self.limit is not None and len(self.jobs) >= self.limit:
            remedy = "wait with timeout=…, or complete one"
            return f"{self.limit} jobs are under way, which is the limit: {remedy}"
        every = self.servers.values()
        counts = {
            "busy": sum(self.jobs.count(name) > 0 for name in self.servers),
            "paused": sum(one.paused for one in every),
            "failing": sum(not one.record.admits(self.sent) for one in every),
        }
        told = [f"{count} {word}" for word, count in counts.items() if count or word == "busy"]
        busy = f"{', '.join(told)} (wait with timeout=…, or complete a job)"
        return f"no server is free: {busy}, {waiting} callers before this one"


def _one_of(name: Hashable, known: Collection[Hashable], what: str) -> Hashable:
    if name not in known:
        raise ServerError(unknown(what, name, known, "this dispatcher has"))
    return name


def _check_settings(learns: Any, limit: Any, penalty: Any, time_limit: Any, breaker: Any) -> None:
    require_one_of("learns", learns, OBJECTIVES)
    require_whole("limit", limit, optional=True)
    require_number("penalty", penalty, 1.0)
    require_number("time_limit", time_limit, LEAST, LARGEST, optional=True)
    if breaker is not None and not isinstance(breaker, Breaker):
        raise SettingError(
            f"breaker={breaker!r} is not valid: give belman.dispatch.Breaker(…), or None"
        )


def _seed(seed: int | None, position: int) -> int | None:
    """A seed for each queue's agent."""
    if seed is None or position == 0:
        return seed
    return int(chance.generator(seed, position)[0] >> np.uint64(1))
