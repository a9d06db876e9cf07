"""Requests a second of the three routes of feature flags on one process, from what is rendered.

`python -m benchmarks.flags`: a service in a process of its own, asked by eight connections of this
one, each with one request under way. Requests a second of the service's processor are measured too:
they hold on a machine that is busy with other things, on which those by the clock do not.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from belman.studies import Storage, open_study
from benchmarks.claim import Claim, report

REQUESTS, CONNECTIONS, STUDIES = 20_000, 8, 10
CONTEXT = {"context": {"targetingKey": "user-4711", "country": "fr"}}


def request(method: str, path: str, body: object = None, *headers: str) -> bytes:
    """The bytes of a request."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def answer(connection: socket.socket) -> bytes:
    """Read one answer."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += connection.recv(1 << 18)
    head, size = data[:end].lower(), 0
    if b"content-length: " in head:
        size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(data) < end + 4 + size:
        data += connection.recv(1 << 18)
    return data


def processor(process: int) -> float:
    """Seconds of the processor that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(port: int, process: int, content: bytes) -> tuple[float, float]:
    """Requests a second, by the clock and by the processor of the service."""
    with ExitStack() as opened:
        connections = [
            opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            for _ in range(CONNECTIONS)
        ]
        for _ in range(2):  # the first warms up
            used, started = processor(process), time.perf_counter()
            for one in connections:
                one.sendall(content)
            for sent in range(CONNECTIONS, REQUESTS + CONNECTIONS):
                last = answer(connections[sent % CONNECTIONS])
                if sent < REQUESTS:
                    connections[sent % CONNECTIONS].sendall(content)
            spent = time.perf_counter() - started
            used = processor(process) - used
    assert b" 200 " in last[:20] or b" 304 " in last[:20], last[:200]
    return REQUESTS / spent, REQUESTS / used


def main() -> None:
    claims, notes = [], {}
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/studies.db"
        storage = Storage(url)
        for i in range(STUDIES):
            study = open_study(f"flag-{i}", ["a", "b", "c"], storage=storage, floor=0.05, seed=i)
            study.publish(1_000, every=60, by="growthbook")
        storage.close()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        serve = ["serve", "--storage", url, "--port", str(port), "--rate", "1e9"]
        process = subprocess.Popen([sys.executable, "-m", "belman", *serve])
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            ask = request("GET", "/api/features/sdk")
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(ask)
                tag = answer(connection).lower().split(b"etag: ")[1].split(b"\r\n")[0].decode()
            for what, content in {
                "features": ask,
                "features, known (304)": request(
                    "GET", "/api/features/sdk", None, f"If-None-Match: {tag}"
                ),
                "one OFREP flag": request("POST", "/ofrep/v1/evaluate/flags/flag-3", CONTEXT),
                f"{STUDIES} OFREP flags": request("POST", "/ofrep/v1/evaluate/flags", CONTEXT),
            }.items():
                clock, used = measured(port, process.pid, content)
                claims.append(Claim(f"{what}: requests a second", clock, 3_000, "", more=True))
                notes[what] = f"{used:,.0f} requests a second of the service's processor"
        finally:
            process.terminate()
            process.wait()
    report("Feature flags from cache, one process", claims, notes)


if __name__ == "__main__":
    main()
