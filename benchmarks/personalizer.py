"""Rankings and rewards a second through Personalizer's API, on one process.

`python -m benchmarks.personalizer`: a service in a process of its own, asked by eight connections
of this one, each with one request under way: it ranks four actions, and tells the reward of each
ranking. What the service's processor could do a second is measured too: it holds on a machine that
is busy with other things, on which requests by the clock do not.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from belman.studies import open_study
from benchmarks.claim import Claim, report
from benchmarks.flags import answer, processor, request

EVENTS, CONNECTIONS = 2_000, 8
ACTIONS = [
    {"id": f"dish {position}", "features": [{"price": 3 + position, "taste": taste}]}
    for position, taste in enumerate(("sweet", "salty", "sweet", "bitter"))
]
PATH = "/api/studies/menu/personalizer/v1.0"


def rankings(name: str) -> Iterator[bytes]:
    """Requests to rank, each of an event of its own."""
    for event in range(EVENTS):
        body = {"contextFeatures": [{"user": {"age": event % 90}}], "actions": ACTIONS}
        yield request("POST", f"{PATH}/rank", {**body, "eventId": f"{name}-{event}"})


def rewards(name: str) -> Iterator[bytes]:
    """A reward of each event."""
    for event in range(EVENTS):
        yield request("POST", f"{PATH}/events/{name}-{event}/reward", {"value": event % 2})


def measured(port: int, process: int, contents: Iterable[bytes]) -> tuple[float, float]:
    """Requests a second, by the clock and by the processor of the service."""
    waiting = list(contents)
    with ExitStack() as opened:
        connections = [
            opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            for _ in range(CONNECTIONS)
        ]
        used, started = processor(process), time.perf_counter()
        for position, content in enumerate(waiting):
            one = connections[position % CONNECTIONS]
            if position >= CONNECTIONS:
                assert b" 20" in answer(one)[:15]
            one.sendall(content)
        for one in connections:
            answer(one)
        spent, used = time.perf_counter() - started, processor(process) - used
    return len(waiting) / spent, len(waiting) / used


def main() -> None:
    claims, notes = [], dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/studies.db"
        named = {"features": ["price", "taste"], "context": ["user.age"]}
        open_study("menu", **named, uniform_share=0.1, storage=url, seed=1).storage.close()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        serve = ["serve", "--storage", url, "--port", str(port), "--rate", "1e9"]
        process = subprocess.Popen([sys.executable, "-m", "belman", *serve])
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            for name in ("warm", "measured"):  # the first warms up
                result = {
                    "rank": measured(port, process.pid, rankings(name)),
                    "reward": measured(port, process.pid, rewards(name)),
                }
            for what, (clock, used) in result.items():
                claims.append(Claim(f"{what}: requests a second", clock, 100, "", more=True))
                notes[what] = f"{used:,.0f} requests a second of the service's processor"
        finally:
            process.terminate()
            process.wait()
    report("Personalizer's API, one process, four actions", claims, notes)


if __name__ == "__main__":
    main()
