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

from tests.studies.postgres import Postgres, programs

from belman.studies import Ask, Storage, Study, Tell, open_study
from belman.studies.unit_of_work import SNAPSHOT_EVERY
from benchmarks.claim import Claim, report

ARMS = 20
TOGETHER, SUMS, PAIRS = 2_500, 100, 200
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
        found = study.together([Ask(10)] * (TOGETHER // 10))
        told = [ticket for answer in found for ticket in answer]  # type: ignore[union-attr]
        study.together([Tell(ticket, float(i % 3 == 0)) for i, ticket in enumerate(told)])
    for _ in range(10):
        study.ask(tickets // 100)
    while study.number % SNAPSHOT_EVERY < 0.99 * SNAPSHOT_EVERY:
        study.together([Tell(ticket, 1.0) for ticket in study.ask(20)])


def seconds_to_open(url: str, name: str) -> float:
    """Seconds until a study can be asked, with a storage of its own; the least of five."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        study = open_study(name, storage=url)
        assert study.number
        times.append(time.perf_counter() - started)
        study.storage.close()
    return min(times)


def slowdown(old: Study, young: Study) -> float:
    """The time of an ask and a tell of the old study over that of the young one: the least of nine
    blocks of each, in turn.
    """

    def seconds(study: Study) -> float:
        started = time.perf_counter()
        for turn in range(PAIRS):
            study.tell(study.ask(), float(turn % 3 == 0))
        return time.perf_counter() - started

    for study in (old, young):
        seconds(study)
    blocks = [(seconds(old), seconds(young)) for _ in range(9)]
    return min(first for first, _ in blocks) / min(second for _, second in blocks)


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
    made, large, events = time.perf_counter() - began, size(storage), old.number
    claims = [
        Claim(f"{title}: opening", seconds_to_open(url, "old"), OPEN, "s"),
        Claim(f"{title}: ask and tell, over a young one", slowdown(old, young), SLOWER, "times"),
    ]
    began = time.perf_counter()
    moved = old.archive_events(Path(folder, f"{title}.parquet"), keep=None)
    archived, small = time.perf_counter() - began, size(storage)
    claims += [
        Claim(f"{title}: opening, archived", seconds_to_open(url, "old"), OPEN, "s"),
        Claim(f"{title}: the same, archived", slowdown(old, young), SLOWER, "times"),
    ]
    file = Path(folder, f"{title}.parquet").stat().st_size
    notes = {
        f"{title}, made": f"{events:,} events in {made:.0f} s",
        f"{title}, archived": f"{moved:,} events in {archived:.0f} s: the database went from "
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
        found = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(found[0]) if found else 0


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
            found, more = measured(title, url, tickets, folder, size)
            claims += found
            notes |= more
    outcomes = f"{tickets:,} tickets, {10 * tickets:,} outcomes in sums, {tickets // 10:,} out"
    report(f"a study of {outcomes}", claims, notes)


if __name__ == "__main__":
    main()
