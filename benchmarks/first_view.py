"""The first view of a long study: how long a page waits for its sentence, numbers and charts.

`python -m benchmarks.first_view [EVENTS]`. A study of a million events is written as its log and a
snapshot almost as old as one can be. A service is started that has never seen it, with nothing
compiled; the system forgets the pages of the file; then a page opens its stream. What is timed is
the request until the first view has been read, with the service warm and with it cold.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from belman.deciders import Draw
from belman.studies import Event, Kind, Storage, open_study, saving
from belman.studies.folding import fold
from belman.studies.log.chain import Head
from belman.studies.unit_of_work import SNAPSHOT_EVERY
from benchmarks.claim import Claim, report
from benchmarks.service import process

EVENTS, ARMS, DAYS = 1_000_000, 20, 30
CHUNK = 10_000


def written(storage: Storage, name: str, events: int) -> None:
    """Write a study of so many events: asks and tells in pairs, over thirty days until now."""
    study = open_study(name, [f"arm {i}" for i in range(ARMS)], storage=storage, control="arm 0")
    state, now = study.copied()
    log = study._replica.log
    luck = np.random.default_rng(1)
    arms = luck.integers(0, ARMS, events)
    won = luck.random(events) < 0.05 + 0.002 * arms
    first = now - DAYS * 86_400.0

    def lines() -> Iterator[Event]:
        for number in range(2, events, 2):
            arm, at = int(arms[number]), first + DAYS * 86_400.0 * number / events
            ask = Event(number, int(Kind.ASKED), at, arm, int(Draw.POLICY), 1.0)
            yield ask
            reward = float(won[number])
            yield Event(number + 1, int(Kind.TOLD), at, arm, ticket=number, reward=reward)

    last = events // SNAPSHOT_EVERY * SNAPSHOT_EVERY - SNAPSHOT_EVERY + 10
    with storage.transaction() as transaction:
        created = log.find(transaction, "number", 1)
        assert created is not None
        head, chunk = Head().follow(created, name), []
        for line in lines():
            event, head = head.joined(line)
            chunk.append(event)
            fold(state, event)
            if event.number == last:
                log.append(transaction, chunk)
                log.keep_snapshot(transaction, event, saving.to_text(state))
                chunk = []
            elif len(chunk) == CHUNK:
                log.append(transaction, chunk)
                chunk = []
        log.append(transaction, chunk)


def forget(file: Path) -> None:
    """Let the system forget what it keeps of a file in memory."""
    os.sync()
    for path in file.parent.glob(f"{file.name}*"):
        with path.open("rb") as open_file:
            os.posix_fadvise(open_file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def busy(server: int) -> float:
    """Seconds for which a process has kept a core busy, compilers that it started aside."""
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Seen(NamedTuple):
    """Seconds until the first view was read, how long the service worked for it, seconds until a
    view had a verdict, and that view.
    """

    first: float
    worked: float
    judged: float
    view: dict[str, Any]


async def first_view(port: int, study: str, server: int) -> Seen:
    """Open a stream and read it until a view has a verdict."""
    before, started = busy(server), time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    writer.write(f"GET /api/studies/{study}/live HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    seen = []
    while True:
        line = await reader.readline()
        assert line, "the stream ended"
        if line.startswith(b"data: "):
            seen.append((time.perf_counter() - started, busy(server) - before))
            view = json.loads(line[6:])
            if view["report"] is not None:
                writer.close()
                return Seen(*seen[0], seen[-1][0], view)


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "studies.db")
        url = f"sqlite:///{file}"
        with closing(Storage(f"{url}?synchronous=normal")) as storage:
            written(storage, "long", events)
        os.environ["BELMAN_CACHE"] = str(Path(folder, "cache"))  # nothing is compiled
        os.environ["BELMAN_COMPILE"] = "background"  # as for everybody who serves
        with process("-m", "belman", "serve", "--storage", url, "--port", "0") as server:
            port = int(server.address.rpartition(":")[2])
            forget(file)
            cold = asyncio.run(first_view(port, "long", server.pid))
            warm = min(asyncio.run(first_view(port, "long", server.pid)).first for _ in range(3))
    assert cold.view["number"] >= events - 2
    shown = cold.view["report"]["sentence"]
    claims = [
        Claim(f"first view of {events:,} events, cold", cold.first, 1.0, "s"),
        Claim("its sentence", cold.judged, 1.0, "s"),
        Claim("for which the service worked", cold.worked, 1.0, "s"),
        Claim("a view after it", warm, 1.0, "s"),
    ]
    load = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    report("the first view of a long study", claims, {"it says": shown, "machine": load})


if __name__ == "__main__":
    main()
