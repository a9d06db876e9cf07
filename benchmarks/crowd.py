"""Right under concurrency: eight processes share a study, and together regret no more than one process with the same delays.

`python -m benchmarks.crowd [SEEDS]`, on SQLite and, where it is installed, on PostgreSQL.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator

from tests.studies.postgres import REASON, Postgres, programs

from belman.studies import Kind, Storage, Study, Ticket, open_study
from belman.table import Table

PROCESSES = 8
DECISIONS = 5_000
DELAY = 5  # tickets that a worker has out before it tells the oldest
MEANS = [0.1 + 0.01 * arm for arm in range(30)]


def worker(study: Study, decisions: int) -> Iterator[None]:
    """Ask, and tell each reward some asks later; what the world answers depends on the ticket alone."""
    out: deque[Ticket] = deque()
    seed = study.settings.seed

    def hand_in() -> None:
        ticket = out.popleft()
        number = int(ticket.id.split("-")[0])
        study.tell(ticket.id, float(random.Random(number * 7919 + seed).random() < MEANS[int(str(ticket.arm))]))

    for _ in range(decisions):
        out.append(study.ask())
        if len(out) > DELAY:
            hand_in()
        yield
    while out:
        hand_in()


def crowd(storage: str, name: str) -> None:
    """Every worker a process of its own."""
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for _ in worker(open_study(name, storage=storage), DECISIONS):
                    pass
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * PROCESSES, "a worker failed"


def alone(study: Study) -> None:
    """The same workers, taking turns in one process."""
    turns = [worker(study, DECISIONS) for _ in range(PROCESSES)]
    while turns:
        turns = [turn for turn in turns if next(turn, "done") != "done"]


def regret(study: Study) -> float:
    """What was lost by not playing the best arm, after the counts were found exact."""
    asked = [event.arm for event in study.events() if event.kind == Kind.ASKED]
    told = [event.ticket for event in study.events() if event.kind == Kind.TOLD]
    expected = PROCESSES * DECISIONS
    assert len(asked) == len(told) == len(set(told)) == expected, f"{len(asked)} asks and {len(told)} tells of {expected}"
    study.check()
    return sum(MEANS[-1] - MEANS[arm] for arm in asked if arm is not None)


def ratios(storage: str, seeds: int) -> tuple[list[float], list[float]]:
    """Per seed: the crowd's regret over that of one process, and the crowd's pairs per second."""
    found, rates = [], []
    for seed in range(seeds):
        place = Storage(storage)
        many, one = (open_study(f"{who} {seed}", range(len(MEANS)), seed=seed, storage=place) for who in ("many", "one"))
        alone(one)
        started = time.perf_counter()
        crowd(storage, many.name)
        rates.append(PROCESSES * DECISIONS / (time.perf_counter() - started))
        found.append(regret(many) / regret(one))
        place.close()
    return found, rates


def row(name: str, storage: str, seeds: int) -> tuple[str, float, float, float]:
    found, rates = ratios(storage, seeds)
    error = 1.96 * statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.nan
    return name, statistics.mean(found), error, statistics.mean(rates)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rows.append(row("SQLite", f"sqlite:///{folder}/studies.db?synchronous=normal", seeds))
    if programs() is None:
        print(REASON)
    else:
        server = Postgres()
        try:
            rows.append(row("PostgreSQL", server.url, seeds))
        finally:
            server.close()
    names = ("storage", "regret, crowd over one", "± (95 %)", "pairs per second")
    columns = {name: [line[i] for line in rows] for i, name in enumerate(names)}
    print(Table(columns, f"{PROCESSES} processes x {DECISIONS:,} decisions, every ask and tell there exactly once; limit 1.1"))
    if any(ratio - error > 1.1 for _, ratio, error, _ in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
