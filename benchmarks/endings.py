"""How soon things end when they are told to: a simulation at Ctrl-C, a service that a page watches
at SIGTERM.
"""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import belman
from benchmarks.claim import Claim, report

SIMULATION = """
import belman, sys
players = {{"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}}
problem = belman.problems.bernoulli([0.8, 0.9, 0.3])
belman.simulate(players, problem, 200_000, 1_000, seed=1, store={store!r})
"""


def seconds_to_end(process: subprocess.Popen[str], how: signal.Signals) -> float:
    """Send a signal, and wait for the end."""
    started = time.perf_counter()
    process.send_signal(how)
    process.wait()
    return time.perf_counter() - started


def interrupted(folder: Path) -> float:
    """Seconds from Ctrl-C to the end of a simulation in its middle."""
    command = [sys.executable, "-c", SIMULATION.format(store=str(folder / "store"))]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, text=True) as process:
        while not any((folder / "store" / "belman-done").glob("[0-9]*")):
            time.sleep(0.01)
        return seconds_to_end(process, signal.SIGINT)


def watched(folder: Path) -> float:
    """Seconds from SIGTERM to the end of a service whose page is open."""
    serve = [sys.executable, "-m", "belman", "serve", "--port", "0"]
    command = [*serve, "--storage", f"sqlite:///{folder}/studies.db"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip().rstrip("/")
        with belman.Client(address) as client:
            client.create("watched", ["a", "b"])
        page = http.client.HTTPConnection("127.0.0.1", int(address.rpartition(":")[2]))
        page.request("GET", "/api/studies/watched/live")
        response = page.getresponse()
        response.readline()
        taken = seconds_to_end(process, signal.SIGTERM)
        response.close()
        page.close()
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        claims = [
            Claim("Ctrl-C to the end of a simulation", interrupted(Path(folder)), 1.0, "s"),
            Claim("SIGTERM to the end of a watched service", watched(Path(folder)), 8.0, "s"),
        ]
    report("how soon it ends, wall time", claims)


if __name__ == "__main__":
    main()
