"""What a decision and an outcome cost at three scales: processor time, and bytes that are stored.

`python -m benchmarks.scale` prints, for a hundred, ten thousand and a million decisions a second,
what one of each takes here and at home, how many cores that is, and what a day stores. Times are of
the processor, so that they hold on a busy machine; SQLite on this disk, without a network. Then
`benchmarks.scale_out`: one, two and four services on one PostgreSQL.
"""

from __future__ import annotations

import os

os.environ["BELMAN_COMPILE"] = "first"

import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from belman.assignment import Weights, assign
from belman.studies import Storage, Study, open_study
from belman.table import Table
from benchmarks import scale_out

ARMS = [f"arm-{i}" for i in range(20)]
PAIRS, BATCHES, ROWS, SUMS, UNITS = 2_000, 50, 1_000, 100, 100_000
DAY = 86_400.0
FILE = "studies.db"


class Cost(NamedTuple):
    """Seconds of the processor, and bytes that are stored."""

    seconds: float
    stored: float


def measured(folder: Path, work: Callable[[], object], times: int) -> Cost:
    """What one of so many times costs."""
    before, started = size(folder), time.process_time()
    work()
    return Cost((time.process_time() - started) / times, (size(folder) - before) / times)


def size(folder: Path) -> int:
    """Bytes of the file, with what was written ahead of it brought in."""
    with contextlib.closing(sqlite3.connect(folder / FILE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / FILE).stat().st_size


def by_tickets(study: Study, folder: Path) -> Cost:
    """A decision and its outcome, a transaction each."""

    def pairs() -> None:
        for i in range(PAIRS):
            study.tell(study.ask(), float(i % 7 == 0))

    study.tell(study.ask(), 1.0)
    return measured(folder, pairs, PAIRS)


def by_rows(study: Study, folder: Path) -> Cost:
    """An outcome of a unit that was assigned by weights, in batches."""
    weights = study.publish(1_000)

    def rows(batch: int) -> list[tuple[str, int, object, float]]:
        units = [f"user-{batch}-{i}" for i in range(ROWS)]
        return [(unit, weights.version, assign(weights, unit).arm, 1.0) for unit in units]

    study.observe(rows(-1))
    batches = [rows(batch) for batch in range(BATCHES)]
    return measured(folder, lambda: [study.observe(batch) for batch in batches], BATCHES * ROWS)


def by_sums(study: Study, folder: Path) -> Cost:
    """A batch of sums, one a minute, whatever the number of outcomes in it."""
    weights = study.publish(1_000)
    lines = [
        {"version": weights.version, "arm": arm, "n": 3_000_000, "sum": 90_000.0, "squares": 9e4}
        for arm, share in zip(weights.arms, weights.weights, strict=True)
        if share
    ]
    study.observe(lines, key="first")
    return measured(folder, lambda: [study.observe(lines, key=str(i)) for i in range(SUMS)], SUMS)


def versions(study: Study, folder: Path) -> Cost:
    """A new version of the weights, signed anew by whoever serves it."""
    rng = np.random.default_rng(1)

    def publish() -> None:
        for _ in range(SUMS):
            study.record([(ARMS[rng.integers(20)], 1.0)])
            study.publish(1_000_000)

    return measured(folder, publish, SUMS)


def seconds_to_assign(weights: Weights) -> float:
    """A decision where the users are."""
    units = [f"user-{i}" for i in range(UNITS)]
    started = time.process_time()
    for unit in units:
        assign(weights, unit)
    return (time.process_time() - started) / UNITS


def main() -> None:
    result = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        storage = Storage(f"sqlite:///{folder / FILE}")
        for i, work in enumerate((by_tickets, by_rows, by_sums, versions)):
            study = open_study(f"study {i}", ARMS, storage=storage, seed=1, floor=0.001)
            result.append(work(study, folder))
            deciding = seconds_to_assign(study.weights()) if i else 0.0
        document = len(study.weights().to_json())
        storage.close()
    tickets, rows, sums, version = result
    scales = {
        "100 a second, tickets": (0.0, 100 * tickets.seconds, 100 * tickets.stored),
        "10,000 a second, rows": (
            1e4 * deciding,
            1e4 * rows.seconds + version.seconds / 5.0,
            1e4 * rows.stored + version.stored / 5.0,
        ),
        "1,000,000 a second, sums": (
            1e6 * deciding,
            (sums.seconds + version.seconds) / 60.0,
            (sums.stored + version.stored) / 60.0,
        ),
    }
    each = {
        "a ticket, asked and told": tickets,
        "an outcome as a row": rows,
        "sums of a minute, 20 arms": sums,
        "a version of the weights": version,
    }
    titles = ("microseconds", "bytes stored")
    cost = [(f"{1e6 * one.seconds:,.1f}", f"{one.stored:,.1f}") for one in each.values()]
    columns = dict(zip(titles, map(list, zip(*cost, strict=True)), strict=True))
    print(Table({"what": list(each), **columns}, "What each costs at home"))
    print(f"  a decision by weights: {1e6 * deciding:.2f} microseconds, where the users are")
    print(f"  a weights document of 20 arms: {document:,} bytes\n")
    print(
        Table(
            {
                "scale": list(scales),
                "cores at the edge": [f"{edge:.2f}" for edge, _, _ in scales.values()],
                "cores at home": [f"{home:.5f}" for _, home, _ in scales.values()],
                "stored a day": [f"{DAY * kept / 1e6:,.1f} MB" for _, _, kept in scales.values()],
            },
            "Every outcome is learnt, and weights are new every 5 s (rows) or 60 s (sums)",
        )
    )
    print()
    scale_out.main(10.0)


if __name__ == "__main__":
    main()
