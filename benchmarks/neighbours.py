"""How long an ask of one study waits while the worst allowed requests are made of another one.

`python -m benchmarks.neighbours [SECONDS]`, of each kind of request on each database. One service,
one storage, two keys that may play. Study B is asked for a ticket every 20 ms; the clients of A
send the largest requests that the limits allow as fast as they are answered, from a process of
their own: what they take to write a body is no wait of B's. The longest ask of B is printed, beside
the longest while A is left alone: on a busy machine that is the measure. Every kind is sent for a
second before, so that what it plays is compiled, and loaded.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from tests.studies.postgres import Postgres, programs

from belman.service.keys import Keys, Role
from belman.studies import Storage, Tell, open_study
from belman.table import Table
from benchmarks.claim import Claim, report
from benchmarks.service import Caller, process

CLIENTS, EVERY = 4, 0.02
LEVELS, ARMS = 500, 5_000
FRESH = 1_000_500  # the first request that is measured: none like it was sent before
MOST = 100.0  # milliseconds that an ask may take


class Worst:
    """The studies that are asked too much of, and what is asked of them."""

    def __init__(self, url: str) -> None:
        self._storage = Storage(url)
        keep = {"storage": self._storage, "seed": 1}
        self.tickets: dict[str, list[str]] = {"features": [], "fading": []}
        for name in ("neighbour", "rows"):
            open_study(name, ["a", "b"], **keep)
        self._arms = open_study("arms", [f"arm {i}" for i in range(ARMS)], **keep)
        self._features = open_study("features", ["a", "b", "c"], context=["page"], **keep)
        open_study("shelf", None, features=["price", "colour"], context=["age"], **keep)
        self._fading = open_study("fading", ["a", "b"], discount=0.99, **keep)
        for i in range(LEVELS):
            ticket = self._features.ask(context={"page": f"page {i}"})
            self._features.tell(ticket, float(i % 3 == 0))
            self.tickets["features"].append(ticket.id)
        for ticket in self._fading.ask(20_000):
            self.tickets["fading"].append(ticket.id)
        self._fading.together([Tell(one, 1.0) for one in self.tickets["fading"]])

    def close(self) -> None:
        self._storage.close()


Make = Callable[[int], tuple[str, Any]]


def requests(tickets: dict[str, list[str]]) -> dict[str, Make]:
    """Kinds of requests by name: the path and body of the n-th of them."""
    shelf = [{"price": float(i), "colour": f"colour {i % 50}"} for i in range(1_000)]

    def candidates(n: int) -> tuple[str, Any]:
        moved = [{**one, "price": one["price"] + n} for one in shelf]
        return "shelf/ask", {"tickets": 5, "context": {"age": n % 60.0}, "candidates": moved}

    def rows(n: int) -> tuple[str, Any]:
        one = {"version": None, "arm": "a", "reward": 1.0}
        return "rows/observations", {"rows": [{"unit": f"{n}-{i}", **one} for i in range(10_000)]}

    def context(page: str) -> dict[str, Any]:
        return {"context": {"page": page}}

    return {
        "1,000 tickets": lambda n: ("arms/ask", {"tickets": 1_000}),
        "1,000 candidates, 5 tickets": candidates,
        "a new level each": lambda n: ("features/ask", context(f"new {n}")),
        "a batch along features": lambda n: (
            "features/ask",
            {"tickets": 4, **context(f"page {n % LEVELS}")},
        ),
        "corrections along features": lambda n: _correction("features", tickets, n),
        "corrections by the log": lambda n: _correction("fading", tickets, n),
        "10,000 rows": rows,
    }


def _correction(study: str, tickets: dict[str, list[str]], n: int) -> tuple[str, Any]:
    known = tickets[study]
    reward = float(n // len(known) % 2)
    return f"{study}/tickets/{known[n % len(known)]}/correct", {"reward": reward, "reason": "slip"}


class Keyed(Caller):
    """A client with a key."""

    def __init__(self, port: int, key: str) -> None:
        super().__init__(port)
        self._key = key

    async def send(self, method: str, path: str, body: Any, due: float | None = None) -> Any:
        kind = f"application/json\r\nAuthorization: Bearer {self._key}"
        data = json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        started = time.perf_counter()
        self.writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        size = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        content = await self.reader.readexactly(size)
        self.seconds.append(time.perf_counter() - started)
        self.errors += answer.split(b" ", 2)[1] != b"200"
        return json.loads(content)


def flood(
    port: int, key: str, kind: str, tickets: Any, first: int, seconds: float
) -> tuple[int, int]:
    """Send the worst requests, each as soon as the last is answered: how many, and how many were
    refused.
    """
    make = requests(tickets)[kind]

    async def send(caller: Keyed, n: int, until: float) -> None:
        await caller.open()
        while time.perf_counter() < until:
            path, body = make(n)
            await caller.send("POST", f"/api/studies/{path}", body)
            n += CLIENTS

    async def together(callers: list[Keyed]) -> None:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(send(one, n, until) for n, one in enumerate(callers, first)))

    callers = [Keyed(port, key) for _ in range(CLIENTS)]
    asyncio.run(together(callers))
    return sum(len(one.seconds) for one in callers), sum(one.errors for one in callers)


async def asks(port: int, key: str, seconds: float) -> list[float]:
    """The longest ask and the median one of a steady stream, in milliseconds."""
    caller, until = Keyed(port, key), time.perf_counter() + seconds
    await caller.open()
    while time.perf_counter() < until:
        await caller.send("POST", "/api/studies/neighbour/ask", {})
        await asyncio.sleep(EVERY)
    waits = sorted(caller.seconds)
    return [1e3 * waits[-1], 1e3 * waits[len(waits) // 2]]


def run(database: str, url: str, seconds: float, crowd: Any) -> Iterator[list[Any]]:
    """The rows of one database."""
    worst = Worst(url)
    keys = Keys(Storage(url))
    calm, wild = keys.add("calm", Role.PLAY), keys.add("wild", Role.PLAY)
    try:
        with process("-m", "belman", "serve", "--storage", url, "--port", "0") as server:
            port = int(server.address.rsplit(":", 1)[1])
            asyncio.run(asks(port, calm, 1.0))
            for kind in requests(worst.tickets):  # until what they play is compiled
                crowd.apply(flood, (port, wild, kind, worst.tickets, 0, min(seconds, 1.0)))
            yield [database, "nothing", *asyncio.run(asks(port, calm, seconds)), 0, 0]
            for kind in requests(worst.tickets):
                given = (port, wild, kind, worst.tickets, FRESH, seconds)
                sent = crowd.apply_async(flood, given)
                yield [database, kind, *asyncio.run(asks(port, calm, seconds)), *sent.get()]
    finally:
        worst.close()


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    os.environ["BELMAN_COMPILE"] = "background"  # as for everybody who serves
    rows: list[list[Any]] = []
    with ExitStack() as stack:
        # a process that was not forked: it has no connection of ours
        crowd = stack.enter_context(multiprocessing.get_context("spawn").Pool(1))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = {"SQLite": f"sqlite:///{folder}/studies.db"}
        if programs() is not None:
            server = Postgres()
            stack.callback(server.close)
            urls["PostgreSQL"] = server.url
        for database, url in urls.items():
            for row in run(database, url, seconds, crowd):
                rows.append(row)
                print(*row, sep=" | ", flush=True)
    names = ["database", "meanwhile", "longest ask, ms", "median, ms", "requests", "refused"]
    print(Table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    claims = [
        Claim(f"{name}: the longest ask", max(row[2] for row in rows if row[0] == name), MOST, "ms")
        for name in urls
    ]
    report("An ask beside the worst allowed requests of another study", claims)


if __name__ == "__main__":
    main()
