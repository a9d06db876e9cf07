"""How long a process takes to get going: the import, and the first decision with a warm cache."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.claim import Claim, report

SCRIPT = """
import time
started = time.perf_counter()
import belman
imported = time.perf_counter()
agent = belman.Agent(["blue", "green", "red"], seed=7)
agent.ask()
print(imported - started, time.perf_counter() - imported)
"""


def main() -> None:
    runs = []
    for _ in range(6):  # the first fills the cache
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
        )
        runs.append(tuple(map(float, done.stdout.split())))
    imports, firsts = zip(*runs[1:], strict=True)
    report(
        "a new process, cache warm (wall time, best of five)",
        [Claim("import belman", min(imports), 1.5, "s"), Claim("first ask", min(firsts), 1.0, "s")],
    )


if __name__ == "__main__":
    main()
