"""Headers, addresses and trailers without end, from callers without a key."""

from __future__ import annotations

import tempfile

from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.service.test_guard import connect, send_without_end

MOST = 60_000_000  # bytes, of which one connection once stopped a service
BUFFERED = 20_000_000  # that the system holds between two sockets
BEGINNINGS = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\nx: ",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    b"GET /",
    b"\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: ",
]


def run(trials: Trials) -> None:
    """A trial is a connection that sends on until it is cut."""
    with tempfile.TemporaryDirectory() as folder, running(folder, require_keys=True) as service:
        for number in trials:
            piece = trials.luck.choice([b"a" * 65_536, b"x: y\r\n" * 10_000, b"\r\n" * 30_000])
            with connect(service) as line:
                line.sendall(BEGINNINGS[number % len(BEGINNINGS)])
                sent = send_without_end(line, piece, MOST)
            trials.expect(sent < BUFFERED, f"{sent:,} bytes were taken")
        trials.expect(service.send("GET", "/healthz").status == 200, "it answers no more")


ATTACK = Attack(
    "headers",
    "a connection without a key sends a header, an address or a trailer without end",
    "it is cut after 32 kB and what the system had buffered",
    run,
    short=10,
    long=1_000,
)
