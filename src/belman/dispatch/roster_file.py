"""A roster as text: what a state file and a storage keep of a dispatcher."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from belman import codec
from belman.agent import Agent
from belman.codec import Arm, Count, Real
from belman.deciders import IndependentDecider, state_file
from belman.deciders.checks import Size, Words
from belman.dispatch.breaker import Breaker
from belman.dispatch.jobs import Job
from belman.dispatch.roster import LEAST, OBJECTIVES, Roster, Server
from belman.dispatch.slots import Capacity, NewSlots
from belman.errors import StateError
from belman.families.family import LARGEST
from belman.policies import Policy

FORMAT = "belman dispatcher"
Unit = Annotated[float, lambda seconds: seconds >= LEAST]


@dataclass(frozen=True)
class Kept:
    """All that a roster keeps; times are seconds since it was written, and so at most 0."""

    learns: str
    limit: Count | None
    penalty: Real
    time_limit: Real | None
    breaker: Breaker | None
    unit: Unit | None
    spent: Size
    sent: Count
    rng: Words
    agents: dict[Arm, str]
    servers: dict[Arm, Server]
    new_slots: NewSlots
    jobs: list[Any]


def write(roster: Roster, now: float) -> str:
    """The whole roster as text."""
    same = ("learns", "limit", "penalty", "time_limit", "breaker", "unit", "spent", "sent", "rng")
    kept = Kept(
        **{name: getattr(roster, name) for name in same},
        agents={queue: agent.to_json() for queue, agent in roster.agents.items()},
        servers={name: _moved(server, -now) for name, server in roster.servers.items()},
        new_slots=roster.new_slots,
        jobs=[codec.write(replace(job, began=job.began - now)) for job in roster.jobs],
    )
    return state_file.write(codec.write(kept), FORMAT)


def _moved(server: Server, seconds: float) -> Server:
    """Return a server as it is by a clock that is `seconds` ahead."""
    slots = server.slots
    if isinstance(slots, Capacity):
        slots = replace(slots, since=slots.since + seconds)
    return replace(server, slots=slots)


def read(text: str, source: str, policy: Policy | None, now: float) -> Roster:
    """Read the roster of a text that `write` gave, as it is at this time."""
    content = state_file.read(text, source, FORMAT)
    rebuild = partial(_rebuilt, content, source, policy, now)
    return state_file.trusted(rebuild, source, FORMAT)


def _rebuilt(content: dict[str, Any], source: str, policy: Policy | None, now: float) -> Roster:
    kept = codec.read(Kept, content, {})
    same = {name: getattr(kept, name) for name in ("learns", "limit", "penalty", "time_limit")}
    made = Roster(kept.servers, queues=kept.agents, breaker=kept.breaker, **same)
    for queue, text in kept.agents.items():
        made.agents[queue] = Agent.from_json(text, source=source, policy=policy)
    made.unit, made.spent, made.sent, made.rng = kept.unit, kept.spent, kept.sent, kept.rng
    made.new_slots = kept.new_slots
    for name, server in kept.servers.items():
        server.record.under(kept.breaker)
        made.servers[name] = _moved(server, now)
    for one in kept.jobs:
        job = codec.read(Job, one, {"sent": kept.sent})
        if job.number in made.jobs or not -LARGEST <= job.began <= 0.0:
            raise StateError(f"job {job.number} is there twice, or began when none did")
        made.servers[made.known(job.server)].record.probing |= job.probe
        made.jobs.add(replace(job, began=job.began + now))
    _check_agents(made, source)
    return made


def _check_agents(made: Roster, source: str) -> None:
    """Whether the agents of a file play the servers, and wait for the jobs under way."""
    own, servers = OBJECTIVES[made.learns], tuple(made.servers)
    under_way = {queue: Counter[Any]() for queue in made.agents}
    for job in made.jobs:
        if job.queue not in under_way:
            raise StateError(f"{source}: server {job.server!r} serves no queue that there is")
        under_way[job.queue][job.server] += 1
    for queue, agent in made.agents.items():
        if agent.arms != servers or agent.outstanding != under_way[queue]:
            raise StateError(f"{source}: queue {queue!r} has other servers or jobs under way")
        decider = agent._decider
        scale = decider.scale if isinstance(decider, IndependentDecider) else None
        judges = scale and (scale.base.name, scale.minimise, scale.range)
        if judges != (own["family"], own["minimise"], None):
            raise StateError(f"{source}: queue {queue!r} does not learn {made.learns!r}")
