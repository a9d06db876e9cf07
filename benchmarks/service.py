"""The service under load: 32 clients that ask and tell over HTTP, beside a server that does nothing
with the same requests.

`python -m benchmarks.service [SECONDS]`. Server and clients share this machine; every commit waits
for the disk. The clients send a steady stream, each request counted from the moment at which it was
due, and then a flood, the next as soon as one is answered. Then one client decides alone: an ask at
a time, and with tickets that are asked for ahead.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import belman
from belman.service.client import RemoteStudy, RemoteTicket
from benchmarks.claim import Claim, report

CLIENTS = 32
STREAM = 450.0  # pairs a second that are due
FLOOD = 1e9  # more than anything can do
AHEAD = 64  # tickets that one client has at a time, when it decides alone
ARMS = [f"arm {i}" for i in range(10)]


class Caller:
    """One client on one connection, without a library that would cost more than the service."""

    def __init__(self, port: int, study: str = "load") -> None:
        self.port, self.path = port, f"/api/studies/{study}"
        self.seconds: list[float] = []
        self.errors = 0

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def send(self, method: str, path: str, body: Any, due: float | None = None) -> Any:
        data = json.dumps(body).encode()
        kind = "Content-Type: application/json"
        length = f"Content-Length: {len(data)}"
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n{length}\r\n\r\n"
        started = time.perf_counter() if due is None else due
        self.writer.write(head.encode() + data)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        assert size is not None
        content = await self.reader.readexactly(int(size[1]))
        self.seconds.append(time.perf_counter() - started)
        self.errors += answer.split(b" ", 2)[1] != b"200"
        return json.loads(content)

    async def pairs(self, begin: float, until: float, every: float) -> int:
        """Pairs from `begin` on, one after another, none before it is due."""
        done, due = 0, begin
        while (now := time.perf_counter()) < until:
            if due > now:
                await asyncio.sleep(due - now)
            late = min(due, time.perf_counter()) if every > 1e-3 else None
            ticket = (await self.send("POST", f"{self.path}/ask", {}, late))["tickets"][0]
            await self.send(
                "POST",
                f"{self.path}/tell",
                {"ticket": ticket["id"], "reward": float(done % 3 == 0)},
            )
            done += 1
            due += every
        return done


#: A server that gives each request an answer of the same size: what HTTP alone costs here.
NOTHING = """
import json, socket, sys, uvicorn
ticket = {"id": "1-abcdef", "arm": "arm 1", "probability": 0.1, "uniform": False, "time": 1.0}
answer = json.dumps({"tickets": [ticket]}).encode()
headers = [(b"content-length", str(len(answer)).encode())]
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)
print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off")
uvicorn.Server(config).run([listening])
"""


class Server(NamedTuple):
    """A server in a process of its own."""

    pid: int
    address: str


@contextmanager
def process(*arguments: str) -> Iterator[Server]:
    """A server in a process of its own, until the context ends."""
    server = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield Server(server.pid, server.stdout.readline().strip().rstrip("/"))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


async def load(address: str, seconds: float, rate: float = FLOOD) -> tuple[float, float, int]:
    """Pairs a second, the 99th percentile of a request in milliseconds, and how many errors."""
    callers = [Caller(int(address.rpartition(":")[2])) for _ in range(CLIENTS)]
    await asyncio.gather(*(caller.open() for caller in callers))
    every, started = CLIENTS / rate, time.perf_counter()
    done = await asyncio.gather(
        *(
            caller.pairs(started + i / rate, started + seconds, every)
            for i, caller in enumerate(callers)
        )
    )
    took = time.perf_counter() - started
    waits = sorted(second for caller in callers for second in caller.seconds)
    for caller in callers:
        caller.writer.close()
    return (
        sum(done) / took,
        waits[int(0.99 * len(waits))] * 1e3,
        sum(caller.errors for caller in callers),
    )


def alone(study: RemoteStudy, seconds: float) -> tuple[float, float]:
    """Decisions a second of one client in one thread, plainly and with tickets ahead of time; their
    rewards are told in bulk, in the time of neither.
    """

    def rate(ask: Callable[[], RemoteTicket]) -> float:
        started, told, spent = time.perf_counter(), list[RemoteTicket](), 0.0
        while (spent := time.perf_counter() - started) < seconds:
            told.append(ask())
        for i in range(0, len(told), 1_000):
            study.tell_many((ticket, 1.0) for ticket in told[i : i + 1_000])
        return len(told) / spent

    plain = rate(study.ask)
    with study.prefetched(AHEAD) as tickets:
        return plain, rate(tickets.ask)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/studies.db"
        with process(
            "-m", "belman", "serve", "--storage", storage, "--port", "0", "--rate", "1000000"
        ) as server:
            address = server.address
            study = belman.Client(address).create("load", ARMS)
            asyncio.run(load(address, 2.0))  # warm
            before = study.status()["told"]
            rate, slowest, errors = asyncio.run(load(address, seconds, STREAM))
            most, most_slowest, more_errors = asyncio.run(load(address, seconds))
            told = study.status()["told"] - before
            plain, ahead = alone(study, seconds / 2.0)
        near = belman.open_study("load", storage=storage)
        near.check()
        near.storage.close()
    with process("-c", NOTHING) as server:
        asyncio.run(load(server.address, 1.0))
        bare, bare_slowest, _ = asyncio.run(load(server.address, seconds / 2.0))
    claims = [
        Claim(f"ask + tell from {CLIENTS} clients", rate, 400.0, "pairs/s", more=True),
        Claim("99th percentile of a request", slowest, 50.0, "ms"),
        Claim("the same without a pause between requests", most, 400.0, "pairs/s", more=True),
        Claim("99th percentile of a request in that flood", most_slowest, 50.0, "ms"),
        Claim(f"decisions of one client, {AHEAD} ahead", ahead, 2_000.0, "/s", more=True),
        Claim("the same beside an ask at a time", ahead / plain, 4.0, "×", more=True),
        Claim("errors", float(errors + more_errors), 0.0, ""),
    ]
    load_average = os.getloadavg()[0]
    notes = {
        "bare limit": f"HTTP alone: {bare:,.0f} pairs/s, 99 % within {bare_slowest:.1f} ms; the "
        f"service: {most / bare:.2f} of it",
        "counted": f"{told:,} rewards, and the state is the fold of the log",
        "one client": f"{plain:,.0f} decisions/s, an ask at a time",
        "machine": f"{os.cpu_count()} cores, load average {load_average:.1f}",
    }
    report("The service under load", claims, notes)


if __name__ == "__main__":
    main()
