"""A study that has lived for long: opening it, asking it, and archiving what is old.

`python -m benchmarks.long_life [TICKETS]`, a million unless they are given, on SQLite and, where it
is installed, on PostgreSQL. The study was asked and told so many tickets, learnt ten times as many
outcomes in sums, and has a tenth as many tickets out. It is opened as far from its last snapshot as
can be, in seconds of a clock, and asked in turn with a young one.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from tests.studies.postgres import Postgres, programs

from belman.studies import Ask, Storage, Study, Tell, open_study
from belman.studies.unit_of_work import SNAPSHOT_EVERY
from benchmarks.claim import Claim, report

ARMS = 20
TOGETHER, SUMS = 2_500, 100
PAIRS, BLOCKS = 20, 100
OPEN, SLOWER = 2.0, 1.2  # seconds, and times


def lived(study: Study, tickets: int) -> None:
    """Ask and tell so many tickets, learn ten times as many outcomes in sums, leave some out."""
    rewards = {"n": tickets // SUMS * 10 // ARMS, "sum": tickets // SUMS * 3 // ARMS}
    for batch in range(SUMS):
        lines = [
            {"version": None, "arm": arm, **rewards, "squares": rewards["sum"]}
            for arm in range(ARMS)
        ]
        study.observe(lines, key=f"batch {batch}")
    for _ in range(tickets // TOGETHER):
        result = study.together([Ask(10)] * (TOGETHER // 10))
        told = [ticket for answer in result for ticket in answer]  # type: ignore[union-attr]
        study.together([Tell(ticket, float(i % 3 == 0)) for i, ticket in enumerate(told)])
    for _ in range(10):
        study.ask(tickets // 100)
    while study.number % SNAPSHOT_EVERY < 0.99 * SNAPSHOT_EVERY:
        study.together([Tell(ticket, 1.0) for ticket in study.ask(20)])


def seconds_to_open(url: str, name: str) -> tuple[float, float]:
    """Seconds until a study can be asked, with a storage of its own, by the clock and of the
    processor; the least of five.
    """
    times = []
    for _ in range(5):
        clock, processor = time.perf_counter(), time.process_time()
        study = open_study(name, storage=url)
        assert study.number
        times.append((time.perf_counter() - clock, time.process_time() - processor))
        study.storage.close()
    return min(clock for clock, _ in times), min(processor for _, processor in times)


def slowdown(old: Study, young: Study) -> tuple[float, float]:
    """The time of the processor of asks and tells of the old study over that of the young one, and
    the ratio of the medians by the clock: short blocks of each in turn, so that what else the
    machine does befalls both.
    """

    def seconds(study: Study) -> tuple[float, float]:
        clock, processor = time.perf_counter(), time.process_time()
        for turn in range(PAIRS):
            study.tell(study.ask(), float(turn % 3 == 0))
        return time.perf_counter() - clock, time.process_time() - processor

    for study in (old, young) * 10:
        seconds(study)
    blocks = [(seconds(old), seconds(young)) for _ in range(BLOCKS)]
    used = sum(first[1] for first, _ in blocks) / sum(second[1] for _, second in blocks)
    clock = median(first[0] for first, _ in blocks) / median(second[0] for _, second in blocks)
    return used, clock


def measured(
    title: str, url: str, tickets: int, folder: str, size: Callable[[Storage], int]
) -> tuple[list[Claim], dict[str, str]]:
    """The claims on one database, and what else was seen."""
    storage = Storage(url)
    began = time.perf_counter()
    old = open_study("old", range(ARMS), storage=storage, seed=1)
    lived(old, tickets)
    young = open_study("young", range(ARMS), storage=storage, seed=1)
    young.record([(arm, float(arm % 2)) for arm in range(ARMS)])
    # so that both have their events before another's: at the end of a tree they are appended faster
    open_study("another", range(ARMS), storage=storage).record([(0, 1.0)])
    made, large, events = time.perf_counter() - began, size(storage), old.number
    notes: dict[str, str] = {}

    def looked_at(what: str) -> list[Claim]:
        opening, slower = seconds_to_open(url, "old"), slowdown(old, young)
        notes[f"{title}, {what}"] = (
            f"{opening[1]:.2f} s of this processor to open; "
            f"ask and tell by the clock {slower[1]:.2f} of a young study"
        )
        return [
            Claim(f"{title}: opening, {what}", opening[0], OPEN, "s"),
            Claim(f"{title}: ask and tell over a young one's, {what}", slower[0], SLOWER, "times"),
        ]

    claims = looked_at("whole")
    began = time.perf_counter()
    moved = old.archive_events(Path(folder, f"{title}.parquet"), keep=None)
    taken, small = time.perf_counter() - began, size(storage)
    claims += looked_at("archived")
    file = Path(folder, f"{title}.parquet").stat().st_size
    notes |= {
        f"{title}, made": f"{events:,} events in {made:.0f} s",
        f"{title}, moved": f"{moved:,} events in {taken:.0f} s: the database went from "
        f"{large / 1e6:,.0f} to {small / 1e6:,.0f} MB, and the file has {file / 1e6:,.0f} MB",
    }
    storage.close()
    return claims, notes


def size_of_file(storage: Storage) -> int:
    """Bytes of a SQLite file once it gave back its room."""
    path = str(storage).removeprefix("sqlite:///").partition("?")[0]
    storage.close()
    connection = sqlite3.connect(path)
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return Path(path).stat().st_size


def size_of_tables(storage: Storage) -> int:
    """Bytes of the tables of a PostgreSQL database once they gave back their room."""
    import psycopg

    with psycopg.connect(str(storage), autocommit=True) as connection:
        connection.execute("VACUUM FULL")
        result = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(result[0]) if result else 0


def main() -> None:
    tickets = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        ways = {"SQLite": (f"sqlite:///{folder}/long.db?synchronous=normal", size_of_file)}
        if programs() is not None:
            server = Postgres()
            stack.callback(server.close)
            ways["PostgreSQL"] = server.url, size_of_tables
        for title, (url, size) in ways.items():
            result, more = measured(title, url, tickets, folder, size)
            claims += result
            notes |= more
    outcomes = f"{tickets:,} tickets, {10 * tickets:,} outcomes in sums, {tickets // 10:,} out"
    report(f"a study of {outcomes}", claims, notes)


if __name__ == "__main__":
    main()
