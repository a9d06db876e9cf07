"""Watching beside deciding: pairs of ask and tell a second with a hundred pages that watch, over
the same without them.

`python -m benchmarks.watchers [SECONDS]`, of a phase. Phases with and without pages take turns in
one run, so that whatever else the machine does is in both; server, clients and pages share it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import belman
from benchmarks.claim import Claim, report
from benchmarks.service import Caller, process

TURNS = 3  # of a phase without pages and one with them
STREAM_LIMITS = ("--max-streams-per-key", "200", "--rate", "1000000")


class Load(NamedTuple):
    """Pairs a second, the 99th percentile of a request in milliseconds, views seen, and errors."""

    rate: float
    slowest: float
    views: int
    errors: int


class Page:
    """A page that watches a study and reads all that it is sent."""

    def __init__(self, port: int, study: str) -> None:
        self.port, self.study, self.views = port, study, 0

    async def watch(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        path = f"/api/studies/{self.study}/live"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        try:
            while piece := await reader.read(1 << 18):
                self.views += piece.count(b"event: view")
        finally:
            writer.close()


async def load(port: int, study: str, clients: int, pages: int, seconds: float) -> Load:
    """Let clients ask and tell as fast as they get answers, while pages watch."""
    watching = [Page(port, study) for _ in range(pages)]
    tasks = [asyncio.create_task(page.watch()) for page in watching]
    while any(not page.views for page in watching):
        await asyncio.sleep(0.05)
    callers = [Caller(port, study) for _ in range(clients)]
    await asyncio.gather(*(caller.open() for caller in callers))
    started = time.perf_counter()
    done = await asyncio.gather(
        *(caller.pairs(started, started + seconds, 0.0) for caller in callers)
    )
    took = time.perf_counter() - started
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for caller in callers:
        caller.writer.close()
    waits = sorted(second for caller in callers for second in caller.seconds)
    errors = sum(caller.errors for caller in callers)
    views = sum(page.views for page in watching)
    return Load(sum(done) / took, waits[int(0.99 * len(waits))] * 1e3, views, errors)


def compared(port: int, study: str, seconds: float) -> tuple[float, Load, Load]:
    """What is left of the rate of 4 clients beside 100 pages, the worst phase with, and without."""
    without, beside = [], []
    for _ in range(TURNS):
        without.append(asyncio.run(load(port, study, 4, 0, seconds)))
        beside.append(asyncio.run(load(port, study, 4, 100, seconds)))
    left = sum(one.rate for one in beside) / sum(one.rate for one in without)
    return left, max(beside, key=lambda one: one.slowest), max(without, key=lambda one: one.slowest)


@contextmanager
def service(folder: str) -> Iterator[tuple[int, int, belman.Client]]:
    """A service in a process of its own: its id, its port, and a client."""
    storage = f"sqlite:///{folder}/studies.db"
    command = ("-m", "belman", "serve", "--storage", storage, "--port", "0", *STREAM_LIMITS)
    with process(*command) as server, belman.Client(server.address) as client:
        yield server.pid, int(server.address.rpartition(":")[2]), client


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    claims, notes = [], {}
    with tempfile.TemporaryDirectory() as folder, service(folder) as (_, port, client):
        for arms, least in ((5, 0.8), (1_000, 0.6)):
            name = f"watched-{arms}"
            client.create(name, [f"arm {i}" for i in range(arms)])
            asyncio.run(load(port, name, 4, 2, 3.0))  # warm
            left, beside, alone = compared(port, name, seconds)
            words = f"rate beside 100 pages / alone, {arms:,} arms"
            claims.append(Claim(words, left, least, "", more=True))
            claims.append(
                Claim(f"99th percentile beside them, {arms:,} arms", beside.slowest, 50.0, "ms")
            )
            claims.append(Claim("errors", float(beside.errors), 0.0, ""))
            notes[f"{arms:,} arms"] = (
                f"alone {alone.rate:,.0f} pairs/s, 99 % within {alone.slowest:.1f} ms; beside 100 "
                f"pages {beside.rate:,.0f}, {beside.views:,} views in a phase"
            )
    notes["machine"] = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    report("Watching beside deciding", claims, notes)


if __name__ == "__main__":
    main()
