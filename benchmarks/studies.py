"""Durable decisions: their rate beside bare SQLite commits, the opening of a long log, decisions
with many tickets out, and what idempotency keys add to what is written.
"""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from belman.assignment.transport import own_key
from belman.studies import Ask, Storage, Study, Tell, open_study
from belman.studies.unit_of_work import SNAPSHOT_EVERY
from benchmarks.claim import Claim, report

ARMS = 20
EVENTS = 1_000_000
OUT = 100_000
KEYED, TOGETHER = 60_000, 32  # asks with keys, and how many of a commit


def seconds_per_pair(study: Study, pairs: int) -> float:
    """Wall time of one ask and its tell."""
    started = time.perf_counter()
    for turn in range(pairs):
        study.tell(study.ask().id, float(turn % 3 == 0))
    return (time.perf_counter() - started) / pairs


def bare_seconds_per_pair(connection: sqlite3.Connection, pairs: int) -> float:
    """Wall time of two transactions that insert one row each, and do nothing else."""
    started = time.perf_counter()
    for _ in range(2 * pairs):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO bare (x) VALUES (0.5)")
        connection.commit()
    return (time.perf_counter() - started) / pairs


def share_of_bare_rate(
    folder: str, synchronous: str, pairs: int, repeats: int = 9
) -> tuple[float, float]:
    """Our rate over the bare one, the median of blocks that alternate (a disk has moods), and our
    pairs per second.
    """
    study = open_study(
        "rate",
        range(ARMS),
        storage=f"sqlite:///{folder}/{synchronous}.db?synchronous={synchronous}",
    )
    connection = sqlite3.connect(f"{folder}/bare-{synchronous}.db", isolation_level=None)
    for pragma in ("journal_mode=WAL", f"synchronous={synchronous}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, x REAL)")
    seconds_per_pair(study, 100)
    blocks = [
        (seconds_per_pair(study, pairs), bare_seconds_per_pair(connection, pairs))
        for _ in range(repeats)
    ]
    connection.close()
    study.storage.close()
    return statistics.median(bare / ours for ours, bare in blocks), 1.0 / statistics.median(
        ours for ours, _ in blocks
    )


def seconds_to_open(folder: str) -> float:
    """Wall time of opening a study of a million events, almost as far from its last snapshot as can
    be; the median of five.
    """
    storage = Storage(f"sqlite:///{folder}/long.db?synchronous=normal")
    study = open_study("long", range(ARMS), storage=storage, seed=1)
    luck = random.Random(1)
    while study.number < EVENTS:
        tickets = [ticket for answer in study.together([Ask(10)] * 250) for ticket in answer]  # type: ignore[union-attr]
        study.together([Tell(ticket, float(luck.random() < 0.3)) for ticket in tickets])
    while study.number % SNAPSHOT_EVERY < 0.99 * SNAPSHOT_EVERY:
        study.together([Tell(ticket, 1.0) for ticket in study.ask(10)])
    times = []
    for _ in range(5):
        storage.close()
        started = time.perf_counter()
        open_study("long", storage=f"sqlite:///{folder}/long.db")
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def slowdown_with_tickets_out(folder: str) -> float:
    """The time of a decision with 100,000 tickets out over that with none, without waits for the
    disk; blocks alternate.
    """
    storage = Storage(f"sqlite:///{folder}/out.db?synchronous=normal")
    none, many = (
        open_study(name, range(ARMS), storage=storage, seed=1) for name in ("none", "many")
    )
    past = [
        (turn % ARMS, float(random.Random(turn).random() < 0.1 + 0.02 * (turn % ARMS)))
        for turn in range(5000)
    ]
    for study in (none, many):
        study.record(past)
        seconds_per_pair(study, 100)
    for _ in range(OUT // 10_000):
        many.ask(10_000)
    ratios = [seconds_per_pair(many, 300) / seconds_per_pair(none, 300) for _ in range(9)]
    storage.close()
    return statistics.median(ratios)


def seconds_for_many(folder: str) -> float:
    """Wall time of one ask for as many tickets, the best of three, which waits for the disk."""
    storage = Storage(f"sqlite:///{folder}/asks.db")
    times = []
    for turn in range(3):
        study = open_study(f"asks {turn}", range(ARMS), storage=storage, seed=1)
        seconds_per_pair(study, 100)
        started = time.perf_counter()
        assert len(study.ask(OUT)) == OUT
        times.append(time.perf_counter() - started)
    storage.close()
    return min(times)


def written_by_asks(folder: str, name: str, make_key: Callable[[], str]) -> int:
    """Bytes that asks with such idempotency keys write, to the log and into the file."""
    storage = Storage(f"sqlite:///{folder}/{name}.db?synchronous=normal")
    study = open_study(name, range(ARMS), storage=storage, seed=1)
    before = _written()
    for _ in range(KEYED // TOGETHER):
        study.together([Ask(key=make_key()) for _ in range(TOGETHER)])
    storage.close()
    return _written() - before


def _written() -> int:
    """Bytes that this process has written so far (Linux)."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        durable, rate = share_of_bare_rate(folder, "full", 50)
        quick, quick_rate = share_of_bare_rate(folder, "normal", 1000)
        claims = [
            Claim(
                "ask + tell, rate over two bare commits",
                durable,
                0.5,
                "of the bare rate",
                more=True,
            ),
            Claim(
                f"a decision with {OUT:,} tickets out, over one with none",
                slowdown_with_tickets_out(folder),
                1.5,
                "times",
            ),
            Claim(f"ask({OUT:_}) of a study", seconds_for_many(folder), 1.0, "s"),
            Claim(f"opening a study of {EVENTS:,} events", seconds_to_open(folder), 1.0, "s"),
            Claim(
                "bytes written with keys of the client, over random keys",
                written_by_asks(folder, "timed", own_key)
                / written_by_asks(folder, "random", lambda: os.urandom(16).hex()),
                0.5,
                "times",
            ),
        ]
        size = Path(folder, "long.db").stat().st_size / EVENTS
    notes = {
        "pairs per second": f"{rate:.0f}, waiting for the disk at every commit, as the bare loop "
        "does",
        "with synchronous=normal": f"{quick_rate:.0f} pairs per second, {quick:.2f} of the bare "
        "rate: nobody waits for the disk",
        "bytes per event": f"{size:.0f}",
    }
    report(f"durable studies on SQLite, {ARMS} arms, default policy", claims, notes)


if __name__ == "__main__":
    main()
