"""A roster as text: what a state file and a storage keep of a dispatcher."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from belman import codec
from belman.agent import Agent
from belman.deciders import IndependentDecider, checks, state_file
from belman.dispatch import slots
from belman.dispatch.breaker import Breaker, Record
from belman.dispatch.jobs import Job
from belman.dispatch.roster import LEAST, OBJECTIVES, Roster, Server
from belman.errors import StateError
from belman.policies import Policy
from belman.version import __version__

FORMAT = "belman dispatcher"
_COUNTS = ("completed", "failed", "expired")


def write(roster: Roster, now: float) -> str:
    """The whole roster as text; jobs under way by how long ago they began."""
    encode = codec.encode_arm
    content = {
        "belman": __version__,
        "learns": roster.learns,
        "limit": roster.limit,
        "penalty": roster.penalty,
        "time_limit": roster.time_limit,
        "breaker": roster.breaker and asdict(roster.breaker),
        "unit": roster.unit,
        "spent": roster.spent,
        "sent": roster.sent,
        "rng": roster.rng,
        "queues": [encode(queue) for queue in roster.agents],
        "agents": [agent.to_json() for agent in roster.agents.values()],
        "servers": [
            {
                "name": encode(name),
                "slots": slots.to_plain(server.slots, now),
                "record": server.record.to_dict() if roster.breaker else None,
                **{field: getattr(server, field) for field in (*_COUNTS, "seconds", "paused")},
            }
            for name, server in roster.servers.items()
        ],
        "new_slots": slots.to_plain(slots.slots_of(roster.new_slots, None), now),
        "services": [
            [encode(j.server), encode(j.queue), now - j.began, j.number, j.probe]
            for j in roster.jobs
        ],
    }
    return state_file.write(content, FORMAT)


def read(text: str, source: str, policy: Policy | None, now: float) -> Roster:
    """Read the roster of a text that `write` gave, as it is at this time."""
    content = state_file.read(text, source, FORMAT)
    rebuild = partial(_rebuilt, content, source, policy, now)
    return state_file.trusted(rebuild, source, FORMAT)


def _rebuilt(content: dict[str, Any], source: str, policy: Policy | None, now: float) -> Roster:
    def names(part: Sequence[Any]) -> list[Hashable]:
        if not isinstance(part, list):
            raise StateError(f"{str(part)[:40]!r} is not a list of names")
        return [codec.decode_arm(name) for name in part]

    rows = content["servers"]
    servers, queues = names([row["name"] for row in rows]), names(content["queues"])
    same = {name: content[name] for name in ("learns", "limit", "penalty", "time_limit")}
    rules = None if content["breaker"] is None else Breaker(**content["breaker"])
    made = Roster(servers, queues=queues, breaker=rules, **same)
    rebuild = partial(Agent.from_json, source=source, policy=policy)
    made.agents = dict(zip(queues, map(rebuild, content["agents"]), strict=True))
    unit, made.spent = content["unit"], checks.size(content["spent"], "spent")
    if unit is not None and checks.size(unit, "unit") < LEAST:
        raise StateError(f"unit is {unit}, and {LEAST:g} is the least")
    made.unit = unit
    made.sent = checks.whole(content["sent"], "sent")
    made.rng = checks.words(content["rng"])
    later = slots.from_plain(content["new_slots"], now)
    made.new_slots = later.expected if isinstance(later, slots.FixedSlots) else later.rules
    made.servers = {name: _server(row, rules, now) for name, row in zip(servers, rows, strict=True)}
    for server, queue, ago, *rest in content["services"]:
        key, whose = names([server, queue])
        made.jobs.add(_job(made, [key, whose, now - checks.size(ago, "services"), *rest]))
    _check_agents(made, source)
    return made


def _server(row: dict[str, Any], rules: Breaker | None, now: float) -> Server:
    if (row["record"] is None) != (rules is None) or type(row["paused"]) is not bool:
        raise StateError("a server has a record of failures without a breaker, or none with one")
    return Server(
        slots.from_plain(row["slots"], now),
        Record(None) if rules is None else Record.from_dict(rules, row["record"]),
        **{name: checks.whole(row[name], name) for name in _COUNTS},
        seconds=checks.size(row["seconds"], "seconds"),
        paused=row["paused"],
    )


def _job(made: Roster, parts: list[Any]) -> Job:
    server, queue, began, number, probe = parts
    checks.whole(number, "the number of a job", 1, made.sent)
    if number in made.jobs or not isinstance(probe, bool):
        raise StateError(f"job {number} is there twice, or it is not said whether it is a probe")
    made.servers[made.known(server)].record.probing |= probe
    return Job(number, made.known(server), queue, began, probe)


def _check_agents(made: Roster, source: str) -> None:
    """Whether the agents of a file play the servers, and wait for the jobs under way."""
    own, servers = OBJECTIVES[made.learns], tuple(made.servers)
    for job in made.jobs:
        if job.queue not in made.agents:
            raise StateError(f"{source}: server {job.server!r} serves no queue that there is")
    for queue, agent in made.agents.items():
        under_way: dict[Hashable, int] = {}
        for job in made.jobs:
            if job.queue == queue:
                under_way[job.server] = under_way.get(job.server, 0) + 1
        if agent.arms != servers or agent.outstanding != under_way:
            raise StateError(f"{source}: queue {queue!r} has other servers or jobs under way")
        decider = agent._decider
        scale = decider.scale if isinstance(decider, IndependentDecider) else None
        judges = scale and (scale.base.name, scale.minimise, scale.range)
        if judges != (own["family"], own["minimise"], None):
            raise StateError(f"{source}: queue {queue!r} does not learn {made.learns!r}")
