"""How long an ask of one study waits while the worst allowed requests are made of another one.

`python -m benchmarks.neighbours [SECONDS]`, of each kind of request on each database. One service,
one storage, two keys that may play. Study B is asked for a ticket every 20 ms; the clients of A
send the largest requests that the limits allow as fast as they are answered. The longest ask of B
is printed, beside the longest while A is left alone: on a busy machine that is the measure.
"""

from __future__ import annotations

import asyncio
import json
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

    def requests(self) -> Iterator[tuple[str, Callable[[int], tuple[str, Any]]]]:
        """Kinds of requests: a name, and the path and body of the n-th of them."""
        shelf = [{"price": float(i), "colour": f"colour {i % 50}"} for i in range(1_000)]

        def page(n: int) -> dict[str, Any]:
            return {"page": f"page {n % LEVELS}"}

        yield "1,000 tickets", lambda n: ("arms/ask", {"tickets": 1_000})
        yield (
            "1,000 candidates, 5 tickets",
            lambda n: (
                "shelf/ask",
                {
                    "tickets": 5,
                    "context": {"age": float(n % 60)},
                    "candidates": [{**one, "price": one["price"] + n} for one in shelf],
                },
            ),
        )
        yield "a new level each", lambda n: ("features/ask", {"context": {"page": f"new {n}"}})
        yield (
            "a batch along features",
            lambda n: (
                "features/ask",
                {"tickets": 4, "context": page(n)},
            ),
        )
        yield "corrections along features", lambda n: _correction("features", self.tickets, n)
        yield "corrections by the log", lambda n: _correction("fading", self.tickets, n)
        yield (
            "10,000 rows",
            lambda n: (
                "rows/observations",
                {
                    "rows": [
                        {"unit": f"{n}-{i}", "version": None, "arm": "a", "reward": 1.0}
                        for i in range(10_000)
                    ]
                },
            ),
        )


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


async def asks(caller: Keyed, until: float) -> None:
    """Ask the neighbour at a steady pace."""
    while time.perf_counter() < until:
        await caller.send("POST", "/api/studies/neighbour/ask", {})
        await asyncio.sleep(EVERY)


async def floods(caller: Keyed, until: float, make: Any, first: int) -> None:
    """Send the worst requests, each as soon as the last is answered."""
    n = first
    while time.perf_counter() < until:
        path, body = make(n)
        await caller.send("POST", f"/api/studies/{path}", body)
        n += CLIENTS


async def measured(port: int, keys: tuple[str, str], make: Any, seconds: float) -> list[Any]:
    """The longest and the median ask of B, requests of A, and how many of them were refused."""
    calm, wild = Keyed(port, keys[0]), [Keyed(port, keys[1]) for _ in range(CLIENTS if make else 0)]
    for one in (calm, *wild):
        await one.open()
    until = time.perf_counter() + seconds
    flood = [floods(one, until, make, position) for position, one in enumerate(wild)]
    await asyncio.gather(asks(calm, until), *flood)
    waits = sorted(calm.seconds)
    sent = sum(len(one.seconds) for one in wild)
    refused = sum(one.errors for one in wild)
    return [1e3 * waits[-1], 1e3 * waits[len(waits) // 2], sent, refused]


def run(database: str, url: str, seconds: float) -> Iterator[list[Any]]:
    """The rows of one database."""
    worst = Worst(url)
    keys = Keys(Storage(url))
    given = (keys.add("calm", Role.PLAY), keys.add("wild", Role.PLAY))
    try:
        with process("-m", "belman", "serve", "--storage", url, "--port", "0") as server:
            port = int(server.address.rsplit(":", 1)[1])
            asyncio.run(measured(port, given, None, 2.0))  # warm
            yield [database, "nothing", *asyncio.run(measured(port, given, None, seconds))]
            for name, make in worst.requests():
                yield [database, name, *asyncio.run(measured(port, given, make, seconds))]
    finally:
        worst.close()


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    rows: list[list[Any]] = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = {"SQLite": f"sqlite:///{folder}/studies.db"}
        if programs() is not None:
            server = Postgres()
            stack.callback(server.close)
            urls["PostgreSQL"] = server.url
        for database, url in urls.items():
            for row in run(database, url, seconds):
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
