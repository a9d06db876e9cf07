"""How long a process takes to get going: the import, the first decision with an empty cache and
with a full one, when compiled code takes over, and what a turn costs then.

Given the `src` folder of another release, `python -m benchmarks.start ../older/src`, that is
measured in turn with this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.claim import Claim, report

HERE = Path(__file__).parents[1] / "src"
BYTECODE = tempfile.TemporaryDirectory()
FIRST = """
import time
started = time.perf_counter()
import belman
belman.Agent  # rooms are imported when a name of theirs is used
imported = time.perf_counter()
agent = belman.Agent(["blue", "green", "red"], seed=7)
agent.tell(agent.ask(), 1)
print(imported - started, time.perf_counter() - imported)
"""
#: Asks and tells until a block of them is as quick as compiled ones are; then the quickest block.
TURNS = """
import time, belman
agent = belman.Agent(range(20), seed=7)
def block():
    started = time.perf_counter()
    for _ in range(200):
        agent.tell(agent.ask(), 1)
    return (time.perf_counter() - started) / 200
while block() > 4e-5:
    pass
import resource
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in spent), 1e6 * min(block() for _ in range(300)))
"""


def run(script: str, sources: Path, cache: str) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": str(sources), "BELMAN_CACHE": cache}
    environment["PYTHONPYCACHEPREFIX"] = BYTECODE.name  # as an installed package has it
    for name in ("BELMAN_COMPILE", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def measure(sources: Path) -> dict[str, float]:
    """The best of some processes: what it takes when nothing disturbs it."""
    with tempfile.TemporaryDirectory() as full:
        cold, over = [], []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as empty:
                cold.append(run(FIRST, sources, empty))
            with tempfile.TemporaryDirectory() as empty:
                over.append(run(TURNS, sources, empty)[0])
        run(TURNS, sources, full)
        run(FIRST, sources, full)
        warm = [run(FIRST, sources, full) for _ in range(5)]
        turns = [run(TURNS, sources, full)[1] for _ in range(3)]
    return {
        "import belman, and its agents": min(imported for imported, _ in cold + warm),
        "first ask and tell, empty cache": min(first for _, first in cold),
        "first ask and tell, full cache": min(first for _, first in warm),
        "CPU until compiled code has taken over": min(over),
        "ask and tell at 20 arms": min(turns),
    }


def main(other: str | None = None) -> None:
    here = measure(HERE)
    units = {name: "µs" if "20 arms" in name else "s" for name in here}
    limits = dict(zip(here, (0.35, 0.3, 0.3, 15.0, 7.4), strict=True))
    claims = [Claim(name, value, limits[name], units[name]) for name, value in here.items()]
    notes = {}
    if other is not None:
        older = measure(Path(other))
        notes = {name: f"{older[name]:.3g} {units[name]} there" for name in older}
        claims.append(
            Claim(
                "ask and tell, over the other's",
                here["ask and tell at 20 arms"] / older["ask and tell at 20 arms"],
                1.0,
                "×",
            )
        )
    report("a new process (wall time, best of several)", claims, notes)


if __name__ == "__main__":
    main(*sys.argv[1:2])
