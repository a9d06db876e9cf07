"""Bytes that are nearly requests: an answer that is none of a fault, or the end of the line."""

from __future__ import annotations

import logging
import random
import socket
import tempfile
from contextlib import suppress

from belman.studies import Study
from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.service.test_guard import connect, rest_of

AT_ONCE = 50
BODY = b'{"name": "s", "arms": ["a", ["b", 1]], "policy": {"name": "belman"}, "prior": [1.0, 2.0]}'
ROUTES = [
    *(b"POST /api/studies", b"POST /api/studies/fuzz/ask", b"POST /api/studies/fuzz/tell"),
    *(b"POST /api/studies/fuzz/arms", b"PUT /api/studies/fuzz/exposure", b"GET /api/studies"),
    b"PUT /api/studies/fuzz/guard",
    *(b"GET /api/studies/fuzz/beliefs?level=0.5", b"GET /api/studies/fuzz/history?after=0"),
    *(b"GET /readyz", b"GET /metrics", b"GET /api/studies/%66uzz/view?arms=1", b"GET /"),
]
BODIES = [
    *(BODY, b'{"tickets": 1, "key": "k"}', b'{"ticket": "2-abc", "reward": 1.0}', b"{}"),
    *(b'{"arm": "c", "prior": [1, 1]}', b'{"dial": 0.3}', b'{"exposure": {"name": "paper"}}'),
    b'{"guard": {"refund": "< 0.05"}}',
]
SPICE = [b"\0", b"\r\n", b"\n", b"%", b"%00", b"\xff", b"{", b"[", b'"', b"-1", b"1e999", b"NaN"]
SPICE += [b"0x10", b"\xed\xa0\x80", b"999999999999999999999", b":", b" ", b"chunked", b"../"]


def request(luck: random.Random) -> bytes:
    """A request that is right but for a few bytes."""
    body = luck.choice(BODIES)
    head = luck.choice(ROUTES) + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    text = bytearray(head + body)
    for _ in range(luck.randrange(4)):
        at = luck.randrange(len(text))
        how = luck.randrange(4)
        if how == 0:
            text[at] = luck.randrange(256)
        elif how == 1:
            del text[at : at + luck.randrange(1, 20)]
        elif how == 2:
            text[at:at] = luck.choice(SPICE)
        else:
            text[at:at] = text[at : at + luck.randrange(1, 40)]
    return bytes(text)


def run(trials: Trials) -> None:
    """A trial is a request; some are sent at once, since many of them are waited for in vain."""
    limits = {"request_seconds": 0.2, "idle_seconds": 0.2, "rate": 1e6}
    with tempfile.TemporaryDirectory() as folder, running(folder, **limits) as service:
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # which warns of every one
        service.send("POST", "/api/studies", {"name": "fuzz", "arms": ["a", "b"]})
        lines: list[tuple[socket.socket, bytes]] = []
        for _ in trials:
            line, sent = connect(service), request(trials.luck)
            with suppress(ConnectionError):
                line.sendall(sent)
            lines.append((line, sent))
            if len(lines) == AT_ONCE:
                _read(trials, lines)
        _read(trials, lines)
        trials.expect(service.send("GET", "/healthz").status == 200, "it answers no more")
        study = Study("fuzz", service.storage)
        study.check()


def _read(trials: Trials, lines: list[tuple[socket.socket, bytes]]) -> None:
    for line, sent in lines:
        parts = rest_of(line).split(b" ", 2)
        status = int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0
        fault = 500 <= status < 600 and status != 503
        trials.expect(not fault, f"{status} for {sent!r}")
        line.close()
    lines.clear()


ATTACK = Attack(
    "fuzzed HTTP",
    "requests to every kind of route with a few bytes changed, taken away, put in or doubled",
    "an answer that is not a fault of the service, or the end of the line; the study is the fold "
    "of its log",
    run,
    short=300,
    long=30_000,
)
