"""Requests a second of the three routes of feature flags on one process, from what is rendered.

`python -m benchmarks.flags`: a service in a process of its own, asked by raw connections of this
one; the processor's seconds of the service a request are what counts, since both share a machine.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from belman.studies import Storage, open_study
from benchmarks.claim import Claim, report

REQUESTS, DEEP, STUDIES = 20_000, 16, 10
CONTEXT = {"context": {"targetingKey": "user-4711", "country": "fr"}}


def request(method: str, path: str, body: object = None, *headers: str) -> bytes:
    """The bytes of a request."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def answers(connection: socket.socket, count: int) -> bytes:
    """Read so many answers; the last of them."""
    data, last = b"", b""
    while count:
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += connection.recv(1 << 18)
        head = data[:end].lower()
        size = 0
        if b"content-length: " in head:
            size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(data) < end + 4 + size:
            data += connection.recv(1 << 18)
        last, data, count = data[: end + 4 + size], data[end + 4 + size :], count - 1
    return last


def processor(process: int) -> float:
    """Seconds of the processor that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(port: int, process: int, content: bytes) -> tuple[float, float]:
    """Requests a second, by the clock and by the processor of the service."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for _ in range(2):  # the first warms up
            used, started = processor(process), time.perf_counter()
            for _ in range(REQUESTS // DEEP):
                connection.sendall(content * DEEP)
                last = answers(connection, DEEP)
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
                tag = answers(connection, 1).lower().split(b"etag: ")[1].split(b"\r\n")[0].decode()
            for what, content in {
                "features": ask,
                "features, known (304)": request(
                    "GET", "/api/features/sdk", None, f"If-None-Match: {tag}"
                ),
                "one OFREP flag": request("POST", "/ofrep/v1/evaluate/flags/flag-3", CONTEXT),
                f"{STUDIES} OFREP flags": request("POST", "/ofrep/v1/evaluate/flags", CONTEXT),
            }.items():
                clock, used = measured(port, process.pid, content)
                claims.append(
                    Claim(f"{what}: requests a processor-second", used, 3_000, "", more=True)
                )
                notes[what] = f"{clock:,.0f} requests a second by the clock, one connection"
        finally:
            process.terminate()
            process.wait()
    report("Feature flags from cache, one process", claims, notes)


if __name__ == "__main__":
    main()
