"""What is shown of a roster: tables for a person, and what Prometheus reads, in its text format."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from belman.dispatch.roster import Roster
from belman.escaping import for_prometheus
from belman.table import Table

_CONDITIONS = {"closed": 0, "half-open": 1, "open": 2}
Sample = tuple[Mapping[str, Any], float]


def beliefs(roster: Roster, queue: Hashable) -> Table:
    """Tabulate what is believed of every server, in seconds where times are learnt."""
    renamed = {"arm": "server", "expected cost": "expected time"}
    columns = dict(roster.agent(queue).beliefs().columns)
    if roster.learns == "time":
        for name in ("expected cost", "low", "high"):
            columns[name] = [value * (roster.unit or 1.0) for value in columns[name]]
    if roster.breaker:
        records = [roster.servers[server].record for server in columns["arm"]]
        columns["failing"] = [record.chance_of_failure for record in records]
    return Table({renamed.get(name, name): values for name, values in columns.items()})


def status(roster: Roster) -> Table:
    """Tabulate what every server does, and how many jobs it has completed and failed."""
    free, servers = set(roster.free()), roster.servers
    columns: dict[str, list[Any]] = {"server": list(servers), "now": []}
    for name, server in servers.items():
        idle = "paused" if server.paused else "failing"
        state = "busy" if roster.jobs.count(name) else idle
        columns["now"].append("free" if name in free else state)
    columns["completed"] = [server.completed for server in servers.values()]
    columns["failed"] = [server.failed for server in servers.values()]
    slots = [server.slots.expected for server in servers.values()]
    if slots != [1] * len(slots):
        columns["under way"] = [roster.jobs.count(name) for name in servers]
        columns["slots"] = slots
    if roster.breaker:
        columns["breaker"] = [one.record.condition(roster.sent) for one in servers.values()]
    return Table(columns)


def summary(roster: Roster) -> str:
    """Describe the roster in a line."""
    servers = roster.servers.values()
    done, lost = sum(one.completed for one in servers), sum(one.failed for one in servers)
    count, under_way = len(servers), len(roster.jobs)
    names, jobs = f"{count} server{'s' * (count != 1)}", f"{done} job{'s' * (done != 1)}"
    now = f"{jobs} completed, {lost} failed, {under_way} under way"
    return f"{names}, learns={roster.learns!r}, {now}"


def metrics(roster: Roster, waiting: int | None) -> str:
    """Write all metrics of a roster, and how many callers wait if that is known."""

    servers = roster.servers.values()

    def each(name: str, kind: str, words: str, values: Iterable[float]) -> str:
        names = ({"server": name} for name in roster.servers)
        return _metric(name, kind, words, zip(names, values, strict=True))

    jobs = [
        ({"server": name, "outcome": outcome}, getattr(server, outcome))
        for outcome in ("completed", "failed")
        for name, server in roster.servers.items()
    ]
    late = (one.expired for one in servers)
    counts = (roster.jobs.count(name) for name in roster.servers)
    parts = [
        _metric("jobs_total", "counter", "Jobs that ended.", jobs),
        each("jobs_expired_total", "counter", "Failed jobs over the time limit.", late),
        each(
            "seconds_total",
            "counter",
            "Seconds of completed jobs.",
            (one.seconds for one in servers),
        ),
        each("under_way", "gauge", "Jobs under way.", counts),
        each("slots", "gauge", "Jobs that fit at once.", (one.slots.expected for one in servers)),
        each("paused", "gauge", "Whether it is paused.", (one.paused for one in servers)),
    ]
    if roster.breaker:
        chances = (one.record.chance_of_failure for one in servers)
        states = (_CONDITIONS[one.record.condition(roster.sent)] for one in servers)
        words = "Its breaker: 0 closed, 1 half-open, 2 open."
        parts.append(each("failing", "gauge", "Expected chance of failure.", chances))
        parts.append(each("breaker", "gauge", words, states))
    if waiting is not None:
        parts.append(_metric("waiting", "gauge", "Callers that wait.", [({}, waiting)]))
    return "".join(parts)


def _metric(name: str, kind: str, words: str, samples: Iterable[Sample]) -> str:
    full = f"belman_dispatch_{name}"
    lines = [f"# HELP {full} {words}", f"# TYPE {full} {kind}"]
    lines += [f"{full}{_labels(labels)} {float(value)!r}" for labels, value in samples]
    return "\n".join([*lines, ""])


def _labels(labels: Mapping[str, Any]) -> str:
    """Labels as the format wants them.

    >>> _labels({"server": "a"})
    '{server="a"}'
    """
    if not labels:
        return ""
    pairs = (f'{name}="{for_prometheus(str(value))}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"
