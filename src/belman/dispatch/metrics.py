"""What Prometheus reads of a roster, in its text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from belman.dispatch.roster import Roster

_CONDITIONS = {"closed": 0, "half-open": 1, "open": 2}
Sample = tuple[Mapping[str, Any], float]


def text(roster: Roster, waiting: int | None) -> str:
    """All metrics of a roster, and how many callers wait if that is known."""
    servers = list(roster.completed)
    outcomes = {"completed": roster.completed, "failed": roster.failed}
    jobs = [
        ({"server": server, "outcome": outcome}, counts[server])
        for outcome, counts in outcomes.items()
        for server in servers
    ]
    parts = [
        _metric("jobs_total", "counter", "Jobs that ended.", jobs),
        _each("jobs_expired_total", "counter", "Failed jobs over the time limit.", roster.expired),
        _each("seconds_total", "counter", "Seconds of completed jobs.", roster.seconds),
        _each("under_way", "gauge", "Jobs under way.", {s: roster.jobs.count(s) for s in servers}),
        _each("slots", "gauge", "Jobs that fit at once.", _expected_slots(roster)),
        _each("paused", "gauge", "Whether it is paused.", {s: s in roster.paused for s in servers}),
    ]
    if roster.records:
        chances = {s: record.chance_of_failure for s, record in roster.records.items()}
        parts.append(_each("failing", "gauge", "Expected chance of failure.", chances))
        states = {s: _CONDITIONS[r.condition(roster.sent)] for s, r in roster.records.items()}
        words = "Its breaker: 0 closed, 1 half-open, 2 open."
        parts.append(_each("breaker", "gauge", words, states))
    if waiting is not None:
        parts.append(_metric("waiting", "gauge", "Callers that wait.", [({}, waiting)]))
    return "".join(parts)


def _expected_slots(roster: Roster) -> dict[Any, int]:
    return {server: slots.expected for server, slots in roster.slots.items()}


def _each(name: str, kind: str, words: str, values: Mapping[Any, float]) -> str:
    return _metric(name, kind, words, (({"server": s}, value) for s, value in values.items()))


def _metric(name: str, kind: str, words: str, samples: Iterable[Sample]) -> str:
    full = f"belman_dispatch_{name}"
    lines = [f"# HELP {full} {words}", f"# TYPE {full} {kind}"]
    lines += [f"{full}{_labels(labels)} {float(value)!r}" for labels, value in samples]
    return "\n".join([*lines, ""])


def _labels(labels: Mapping[str, Any]) -> str:
    """Labels as the format wants them.

    >>> _labels({"server": 'a "quoted" name'})
    '{server="a \\\\"quoted\\\\" name"}'
    """
    if not labels:
        return ""
    escapes = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
    pairs = (f'{name}="{str(value).translate(escapes)}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"
