"""The service under load: 32 clients that ask and tell over HTTP, beside the same number of requests that do nothing.

`python -m benchmarks.service [SECONDS]`. Server and clients share this machine; every commit waits for the disk.
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
from typing import Any

import belman
from benchmarks.claim import Claim, report

CLIENTS = 32
ARMS = [f"arm {i}" for i in range(10)]


class Caller:
    """One client on one connection, without a library that would cost more than the service does."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.seconds: list[float] = []
        self.errors = 0

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json\r\n" if data else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{kind}Content-Length: {len(data)}\r\n\r\n"
        started = time.perf_counter()
        self.writer.write(head.encode() + data)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        assert size is not None
        content = await self.reader.readexactly(int(size[1]))
        self.seconds.append(time.perf_counter() - started)
        self.errors += answer.split(b" ", 2)[1] != b"200"
        return json.loads(content)

    async def pairs(self, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            ticket = (await self.send("POST", "/api/studies/load/ask", {}))["tickets"][0]
            await self.send("POST", "/api/studies/load/tell", {"ticket": ticket["id"], "reward": float(done % 3 == 0)})
            done += 1
        return done

    async def nothings(self, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            await self.send("GET", "/healthz")
            await self.send("GET", "/healthz")
            done += 1
        return done


async def load(port: int, what: str, seconds: float) -> tuple[float, float, int]:
    """Pairs a second, the 99th percentile of a request in milliseconds, and the number of errors."""
    callers = [Caller(port) for _ in range(CLIENTS)]
    await asyncio.gather(*(caller.open() for caller in callers))
    started = time.perf_counter()
    done = await asyncio.gather(*(getattr(caller, what)(started + seconds) for caller in callers))
    took = time.perf_counter() - started
    every = sorted(second for caller in callers for second in caller.seconds)
    for caller in callers:
        caller.writer.close()
    return sum(done) / took, every[int(0.99 * len(every))] * 1e3, sum(caller.errors for caller in callers)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/studies.db"
        command = [sys.executable, "-m", "belman", "serve", "--storage", storage, "--port", "0", "--rate", "1000000"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip().rstrip("/")
            port = int(address.rpartition(":")[2])
            study = belman.Client(address).create("load", ARMS)
            asyncio.run(load(port, "pairs", 2.0))  # warm
            before = study.status()["told"]
            rate, slowest, errors = asyncio.run(load(port, "pairs", seconds))
            bare, bare_slowest, _ = asyncio.run(load(port, "nothings", seconds / 2.0))
            told = study.status()["told"] - before
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
        near = belman.open_study("load", storage=storage)
        near.check()
        near.storage.close()
    claims = [
        Claim(f"ask + tell from {CLIENTS} clients", rate, 400.0, "pairs/s", more=True),
        Claim("99th percentile of a request", slowest, 50.0, "ms"),
        Claim("errors", float(errors), 0.0, ""),
    ]
    load_average = os.getloadavg()[0]
    notes = {
        "bare limit": f"two requests that do nothing: {bare:,.0f} pairs/s, 99 % within {bare_slowest:.1f} ms",
        "counted": f"{told:,} rewards, and the state is the fold of the log",
        "machine": f"{os.cpu_count()} cores, load average {load_average:.1f}",
    }
    report("The service under load", claims, notes)


if __name__ == "__main__":
    main()
