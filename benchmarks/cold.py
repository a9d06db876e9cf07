"""How long a newcomer waits: `belman run` with eight policies and no cache, then with one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time

from benchmarks.claim import Claim, report

POLICIES = "belman,belman-paper,thompson,ucb1,kl-ucb,kl-ucb+,bayes-ucb,imed"


def seconds(cache: str, output: str) -> tuple[float, float]:
    """Wall time of the command, and of the simulation as it says itself."""
    command = [sys.executable, "-m", "belman", "run", "--means", "0.8,0.9", "--policies", POLICIES]
    command += ["--horizon", "1000", "--runs", "100", "--output", output]
    started = time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "BELMAN_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - started
    said = re.search(r"turns in ([0-9.]+) s", done.stdout)
    assert said is not None
    return whole, float(said[1])


def main() -> None:
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as output:
        cold, _ = seconds(cache, output)
        warm = min((seconds(cache, output) for _ in range(3)), key=lambda pair: pair[0])
    report(
        "belman run, eight policies, 0.8/0.9, 100 runs (wall time)",
        [
            Claim("cold: no cache", cold, 60.0, "s"),
            Claim("warm: beyond the simulation", warm[0] - warm[1], 3.0, "s"),
        ],
    )


if __name__ == "__main__":
    main()
