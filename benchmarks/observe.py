"""How many outcomes a study learns a minute, from a file, on SQLite and on PostgreSQL; how fast a
local decider decides; and how long its import takes.

`python -m benchmarks.observe`; PostgreSQL is tried where its programs are installed, and `--hashes`
measures nothing but rows by whose hash assigned them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.studies.postgres import Postgres, programs

from belman import assign_many
from belman.assignment import LocalDecider, Weights, assign
from belman.studies import Storage, Study, open_study
from benchmarks.claim import Claim, best_cpu_seconds, report

ROWS, DECISIONS, ARMS = 1_000_000, 200_000, 10


def written(path: Path, weights: Weights, family: str, seed: int = 1) -> None:
    """A file of outcomes, as the weights assign their units."""
    rng = np.random.default_rng(seed)
    drawn = rng.random(ROWS) < 0.1 if family == "bernoulli" else rng.lognormal(size=ROWS)
    with path.open("w") as file:
        file.write("unit,version,arm,reward,time\n")
        for i, reward in enumerate(drawn.astype(float).tolist()):
            arm = assign(weights, f"user-{i}").arm
            file.write(f"user-{i},{weights.version},{arm},{reward},1700000000\n")


def seconds(url: str, family: str, folder: Path) -> tuple[float, float, float, int]:
    """Wall-clock seconds of a file, of the same once more, those of this process's processor that
    the first took, and the events that the log has.
    """
    storage = Storage(url)
    arms = [f"arm-{i}" for i in range(ARMS)]
    study = open_study(f"bench {family}", arms, family, storage=storage, seed=1)
    path = folder / "rows.csv"
    written(path, study.publish(1_000), family)
    times, spent = [], []
    for _ in range(2):
        started, used = time.perf_counter(), time.process_time()
        assert study.observe(path) == ROWS
        times.append(time.perf_counter() - started)
        spent.append(time.process_time() - used)
    assert Study(study.name, storage).status()["told"] == ROWS
    study.check()
    number = study.number
    storage.close()
    return times[0], times[1], spent[0], number


def hashed(by: str, folder: Path) -> tuple[float, float]:
    """Seconds of the processor that a million rows in memory take which were assigned by somebody's
    hash (all of it, and of the look at their hashes).
    """
    with_hash = Storage(f"sqlite:///{folder}/{by}.db")
    study = open_study(by, [f"arm-{i}" for i in range(ARMS)], storage=with_hash, seed=1)
    weights = study.publish(1_000, by=by)
    units = [f"user-{i}" for i in range(ROWS)]
    assign_many(weights, units[:1_000])
    used = time.process_time()
    positions = assign_many(weights, units).positions.tolist()
    looked = time.process_time() - used
    columns = {
        "unit": units,
        "version": [weights.version] * ROWS,
        "arm": [weights.arms[position] for position in positions],
        "reward": np.random.default_rng(1).integers(2, size=ROWS).astype(float).tolist(),
    }
    used = time.process_time()
    assert study.observe(columns) == ROWS
    spent = time.process_time() - used
    with_hash.close()
    return spent, looked


def main() -> None:
    claims, notes = [], {}
    with tempfile.TemporaryDirectory() as name:
        for by in ("belman", "growthbook", "eppo"):
            spent, looked = hashed(by, Path(name))
            what = f"seconds of the processor for 10⁶ rows assigned by {by}"
            claims.append(Claim(what, spent, 10.0, "s"))
            notes[what] = f"{looked:.2f} s for their hashes alone"
    if "--hashes" in sys.argv:
        report("Who assigned?", claims, notes)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        servers = {"SQLite": f"sqlite:///{folder}/studies.db"}
        server = None if programs() is None else Postgres()
        if server is not None:
            servers["PostgreSQL"] = server.url
        for where, url in servers.items():
            for family in ("bernoulli", "log-normal"):
                first, again, spent, number = seconds(url, family, folder)
                what = f"rows a minute, {family}, {where}"
                claims.append(Claim(what, 60.0 * ROWS / first, 1e6, "rows", more=True))
                held = f"{spent:.1f} s of the processor; known again in {again:.1f} s"
                notes[f"{family}, {where}"] = f"{number} events; {held}"
        if server is not None:
            server.close()
    decider = LocalDecider("http://127.0.0.1:9", "bench", fallback="0", start=False)
    shares = {f"arm-{i}": 1.0 / ARMS for i in range(ARMS)}
    decider._weights = Weights.of("bench", shares, salt="0" * 16, valid_until=4e9)
    units = [f"user-{i}" for i in range(DECISIONS)]
    spent = best_cpu_seconds(lambda: [decider.decide(unit) for unit in units])
    claims.append(
        Claim("decisions a second, one core", DECISIONS / spent, 150_000, "a second", True)
    )
    decider.close()
    alone = "import sys, time; sys.path.insert(0, sys.argv[1]); t = time.perf_counter(); "
    alone += "import assignment; print(time.perf_counter() - t)"
    room = str(Path(sys.modules["belman"].__file__ or "").parent)
    result = [
        float(subprocess.check_output([sys.executable, "-I", "-c", alone, room])) for _ in range(5)
    ]
    claims.append(Claim("seconds to import the slim client", min(result), 0.1, "s"))
    report("Deciding elsewhere, learning at home", claims, notes)


if __name__ == "__main__":
    main()
