"""Right under concurrency: eight processes share a study, and regret no more than one process with
the same delays.

The counts must be exact in every run. Regret differs by a sixth from run to run, so the mean over
some crowds is held against the mean over many agents of one process whose workers take turns.
`python -m benchmarks.crowd [CROWDS]`, on SQLite and, where it is installed, on PostgreSQL.
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

from belman.agent import Agent
from belman.studies import Kind, Storage, Study, Ticket, open_study
from belman.table import Table

PROCESSES = 8
DECISIONS = 5_000
ALONE = 32  # runs of one process
DELAY = 5  # tickets that a worker has out before it tells the oldest
MEANS = [0.1 + 0.01 * arm for arm in range(30)]


def worker(study: Study, decisions: int) -> Iterator[None]:
    """Ask, and tell each reward some asks later; what the world answers depends on the ticket
    alone.
    """
    out: deque[Ticket] = deque()
    seed = study.settings.seed

    def hand_in() -> None:
        ticket = out.popleft()
        number = int(ticket.id.split("-")[0])
        study.tell(
            ticket.id,
            float(random.Random(number * 7919 + seed).random() < MEANS[int(str(ticket.arm))]),
        )

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


def alone(seed: int) -> float:
    """The regret of the same workers, taking turns in one process."""
    agent, luck, lost = Agent(range(len(MEANS)), seed=seed), random.Random(seed), 0.0
    out: list[deque[int]] = [deque() for _ in range(PROCESSES)]
    for turn in range(PROCESSES * DECISIONS):
        mine, arm = out[turn % PROCESSES], agent.ask()
        lost += MEANS[-1] - MEANS[arm]
        mine.append(arm)
        if len(mine) > DELAY:
            told = mine.popleft()
            agent.tell(told, float(luck.random() < MEANS[told]))
    return lost


def regret(study: Study) -> float:
    """What was lost by not playing the best arm, after the counts were found exact."""
    asked = [event.arm for event in study.events() if event.kind == Kind.ASKED]
    told = [event.ticket for event in study.events() if event.kind == Kind.TOLD]
    expected = PROCESSES * DECISIONS
    assert len(asked) == len(told) == len(set(told)) == expected, (
        f"{len(asked)} asks and {len(told)} tells of {expected}"
    )
    study.check()
    return sum(MEANS[-1] - MEANS[arm] for arm in asked if arm is not None)


def crowds(storage: str, count: int) -> tuple[list[float], float]:
    """The regret of every crowd, and their pairs per second."""
    result, started = [], time.perf_counter()
    position = Storage(storage)
    for seed in range(count):
        study = open_study(f"crowd {seed}", range(len(MEANS)), seed=seed, storage=position)
        crowd(storage, study.name)
        result.append(regret(study))
    rate = count * PROCESSES * DECISIONS / (time.perf_counter() - started)
    position.close()
    return result, rate


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    one = [alone(seed) for seed in range(ALONE)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rows.append(("SQLite", *crowds(f"sqlite:///{folder}/studies.db?synchronous=normal", count)))
    if programs() is None:
        print(REASON)
    else:
        server = Postgres()
        try:
            rows.append(("PostgreSQL", *crowds(server.url, count)))
        finally:
            server.close()
    ratios = [statistics.mean(result) / statistics.mean(one) for _, result, _ in rows]
    # the spread of one process stands for that of a crowd, of which there are few
    error = (
        1.96 * statistics.stdev(one) / statistics.mean(one) * math.sqrt(1.0 / count + 1.0 / ALONE)
    )
    columns = {
        "storage": [name for name, *_ in rows],
        "regret, crowd over one": ratios,
        "± (95 %)": [error] * len(rows),
        "pairs per second": [rate for *_, rate in rows],
    }
    print(
        Table(
            columns,
            f"{count} crowds of {PROCESSES} processes x {DECISIONS:,} decisions, all counts "
            "exact; at most 1.1",
        )
    )
    if any(ratio - error > 1.1 for ratio in ratios):
        sys.exit(1)


if __name__ == "__main__":
    main()
