"""A roster as text: what a state file and a storage keep of a dispatcher."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

from belman.agent import Agent
from belman.deciders import IndependentDecider, checks, state_file
from belman.dispatch import slots
from belman.dispatch.breaker import Breaker, Record
from belman.dispatch.jobs import Job
from belman.dispatch.roster import LEAST, OBJECTIVES, Roster
from belman.errors import StateError
from belman.policies import Policy
from belman.version import __version__

FORMAT = "belman dispatcher"
_COUNTS = ("completed", "failed", "expired")


def write(roster: Roster, now: float) -> str:
    """The whole roster as text; jobs under way by how long ago they began."""
    encode, servers = state_file.encode_arm, list(roster.completed)
    content = {
        "belman": __version__,
        "learns": roster.learns,
        "limit": roster.limit,
        "penalty": roster.penalty,
        "time_limit": roster.time_limit,
        "breaker": roster.breaker and roster.breaker.to_dict(),
        "unit": roster.unit,
        "spent": roster.spent,
        "sent": roster.sent,
        "mind": roster.mind,
        "queues": [encode(queue) for queue in roster.agents],
        "agents": [agent.to_json() for agent in roster.agents.values()],
        "servers": [encode(server) for server in servers],
        **{name: list(getattr(roster, name).values()) for name in _COUNTS},
        "seconds": list(roster.seconds.values()),
        "slots": [slots.to_plain(roster.slots[server], now) for server in servers],
        "new_slots": slots.to_plain(slots.slots_of(roster.new_slots, None), now),
        "records": [record.to_dict() for record in roster.records.values()],
        "paused": [encode(server) for server in servers if server in roster.paused],
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
        return [state_file.decode_arm(name, source) for name in part]

    servers, queues = names(content["servers"]), names(content["queues"])
    same = {name: content[name] for name in ("learns", "limit", "penalty", "time_limit")}
    rules = None if content["breaker"] is None else Breaker(**content["breaker"])
    made = Roster(servers, queues=queues, breaker=rules, **same)
    rebuild = partial(Agent.from_json, source=source, policy=policy)
    made.agents = dict(zip(queues, map(rebuild, content["agents"]), strict=True))
    unit, made.spent = content["unit"], checks.size(content["spent"], "spent")
    if unit is not None and checks.size(unit, "unit") < LEAST:
        raise StateError(f"unit is {unit}, and {LEAST:g} is the least")
    made.unit = unit
    _read_counts(made, content, servers)
    _read_servers(made, content, servers, now)
    made.paused = {made.known(server) for server in names(content["paused"])}
    for server, queue, ago, *rest in content["services"]:
        key, whose = names([server, queue])
        made.jobs.add(_job(made, [key, whose, now - checks.size(ago, "services"), *rest]))
    _check_agents(made, source)
    return made


def _read_counts(made: Roster, content: dict[str, Any], servers: list[Hashable]) -> None:
    for name in _COUNTS:
        counts = checks.wholes(content[name], len(servers), name)
        setattr(made, name, dict(zip(servers, counts, strict=True)))


def _read_servers(
    made: Roster, content: dict[str, Any], servers: list[Hashable], now: float
) -> None:
    """Read the times, slots and records of failures of the servers."""
    made.sent = checks.whole(content["sent"], "sent")
    made.mind = checks.words(content["mind"])
    seconds = [checks.size(value, "seconds") for value in content["seconds"]]
    made.seconds = dict(zip(servers, seconds, strict=True))
    found = [slots.from_plain(part, now) for part in content["slots"]]
    made.slots = dict(zip(servers, found, strict=True))
    later = slots.from_plain(content["new_slots"], now)
    made.new_slots = later.expected if isinstance(later, slots.FixedSlots) else later.rules
    rules = made.breaker
    if rules is None and content["records"] != []:
        raise StateError("there are records of failures and no breaker that keeps them")
    records = [] if rules is None else [Record.from_dict(rules, r) for r in content["records"]]
    made.records = dict(zip(servers, records, strict=True)) if rules else {}


def _job(made: Roster, parts: list[Any]) -> Job:
    server, queue, began, number, probe = parts
    checks.whole(number, "the number of a job", 1, made.sent)
    if number in made.jobs or not isinstance(probe, bool):
        raise StateError(f"job {number} is there twice, or it is not said whether it is a probe")
    if made.records and probe:
        made.records[made.known(server)].probing = True
    return Job(number, made.known(server), queue, began, probe)


def _check_agents(made: Roster, source: str) -> None:
    """Whether the agents of a file play the servers, and wait for the jobs under way."""
    own, servers = OBJECTIVES[made.learns], tuple(made.completed)
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
        decider, judges = agent._decider, None
        if isinstance(decider, IndependentDecider):
            judges = (decider.scale.base.name, decider.scale.minimise, decider.scale.range)
        if judges != (own["family"], own["minimise"], None):
            raise StateError(f"{source}: queue {queue!r} does not learn {made.learns!r}")
