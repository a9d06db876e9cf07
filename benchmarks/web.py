"""Deciding in a web application: requests a second, and for how long its event loop stands still.

`python -m benchmarks.web [SECONDS] [WORKERS]`. A FastAPI application under uvicorn decides in an
`async def`, in one of several ways; eight connections send requests as fast as they are answered,
and a ninth one pings. Clients and servers share this machine, so ratios say more than figures.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from fastapi import FastAPI

import belman
from belman.table import Table
from benchmarks.claim import Claim, report

CONNECTIONS = 8
EVERY = 0.01  # seconds between pings
ARMS = ["blue", "green", "red"]
WAYS = {
    "none": "no decision",
    "local": "LocalDecider, weights read once",
    "agent": "Agent, of each process",
    "study": "Study in an async def",
    "async": "AsyncStudy",
}


def make() -> FastAPI:
    """An application that decides in the way that $WAY says, with studies in $STORAGE."""
    way = os.environ["WAY"]
    decide: list[Callable[[], Awaitable[Any]]] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        study = belman.open_study("page", storage=os.environ["STORAGE"])
        agent, weights = belman.Agent(ARMS, seed=1), study.weights()
        awaited = belman.AsyncStudy(study) if way == "async" else None
        count = 0

        async def nothing() -> str:
            return "blue"

        async def local() -> Any:
            nonlocal count
            count += 1
            return belman.assign(weights, f"{os.getpid()}/{count}").arm

        async def of_agent() -> Any:
            arm = agent.ask()
            agent.tell(arm, 1)
            return arm

        async def of_study() -> Any:
            ticket = study.ask()
            study.tell(ticket, 1)
            return ticket.arm

        async def of_awaited() -> Any:
            assert awaited is not None
            ticket = await awaited.ask()
            await awaited.tell(ticket, 1)
            return ticket.arm

        ways = (nothing, local, of_agent, of_study, of_awaited)
        decide.append(dict(zip(WAYS, ways, strict=True))[way])
        await decide[0]()
        yield
        if awaited is not None:
            await awaited.close()
        study.storage.close()

    app = FastAPI(lifespan=lifespan)

    @app.get("/ping")
    async def ping() -> str:
        return "pong"

    @app.get("/decide")
    async def decided() -> dict[str, Any]:
        return {"arm": await decide[0]()}

    return app


async def _get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    assert head.split(b" ", 2)[1] == b"200"
    assert size is not None
    await reader.readexactly(int(size[1]))


async def _flood(port: int, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.perf_counter() < until:
        await _get(reader, writer, "/decide")
        count += 1
    writer.close()
    return count


async def _pings(port: int, until: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    result = []
    while time.perf_counter() < until:
        started = time.perf_counter()
        await _get(reader, writer, "/ping")
        result.append(1e3 * (time.perf_counter() - started))
        await asyncio.sleep(EVERY)
    writer.close()
    return result


async def _measure(port: int, seconds: float) -> tuple[float, float, float]:
    """Requests a second, and the median and the 99th percentile of a ping, in milliseconds."""
    until = time.perf_counter() + seconds
    floods = [_flood(port, until) for _ in range(CONNECTIONS)]
    pings, *counts = await asyncio.gather(_pings(port, until), *floods)
    middle, worst = np.quantile(pings, (0.5, 0.99))
    return sum(counts) / seconds, float(middle), float(worst)


def play(way: str, storage: str, seconds: float, workers: int) -> tuple[float, float, float]:
    """Measure one way of deciding, in an application of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--factory", "--port", str(port), "--workers", str(workers), "--log-level", "warning"]
    environment = {**os.environ, "WAY": way, "STORAGE": storage}
    command = [sys.executable, "-m", "uvicorn", "benchmarks.web:make", *words]
    with subprocess.Popen(command, env=environment) as server:
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/decide").close()
                    break
                except OSError:
                    time.sleep(0.1)
            asyncio.run(_measure(port, 1.0))
            return asyncio.run(_measure(port, seconds))
        finally:
            server.terminate()


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/studies.db"
        study = belman.open_study("page", ARMS, storage=url, seed=1)
        study.publish(10_000)
        study.storage.close()
        for way in WAYS:
            result[way] = play(way, url, seconds, workers)
    rows = list(result.values())
    columns = {
        "in an async def": list(WAYS.values()),
        "requests/s": [round(rate) for rate, _, _ in rows],
        "of none": [rate / rows[0][0] for rate, _, _ in rows],
        "ping, median ms": [middle for _, middle, _ in rows],
        "99th percentile": [worst for _, _, worst in rows],
    }
    several = f"{workers} worker{'s' if workers > 1 else ''}, {CONNECTIONS} connections"
    print(Table(columns, f"{several}, {seconds:g} s each"))
    print()
    faster, shorter = (
        result["async"][0] / result["study"][0],
        result["async"][1] / result["study"][1],
    )
    claims = [Claim("requests a second", faster, 1.2, "times", more=True)]
    if workers == 1:  # of several the one that is pinged may have nothing to do
        claims.append(Claim("a ping, median", shorter, 0.5, "times"))
    report("AsyncStudy beside a Study in the event loop", claims)


if __name__ == "__main__":
    main()
