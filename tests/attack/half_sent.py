"""Requests of which only a part is sent: none stays open, and others are answered meanwhile."""

from __future__ import annotations

import tempfile

from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.service.test_guard import connect, rest_of

AT_ONCE = 100
WHOLE = (
    b"POST /api/studies/none/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 14\r\n\r\n{"tickets": 1}'
)


def run(trials: Trials) -> None:
    """A trial is a connection that sends the first bytes of a request, however many."""
    with tempfile.TemporaryDirectory() as folder, running(folder, request_seconds=0.5) as service:
        lines = []
        for _ in trials:
            line = connect(service)
            line.sendall(WHOLE[: trials.luck.randrange(len(WHOLE))])
            lines.append(line)
            if len(lines) == AT_ONCE:
                _close(trials, service, lines)
        _close(trials, service, lines)


def _close(trials: Trials, service, lines: list) -> None:
    trials.expect(service.send("GET", "/healthz").status == 200, "others are not answered")
    for line in lines:
        answer = rest_of(line)  # to the end, which the service makes
        trials.expect(b" 408 " in answer or not answer, f"half a request got {answer[:40]!r}")
        line.close()
    lines.clear()


ATTACK = Attack(
    "half sent",
    f"requests of which a part is sent, {AT_ONCE} at once",
    "each is answered 408 and closed in time, and others are answered meanwhile",
    run,
    short=60,
    long=4_000,
)
