"""Fairness: eight processes ask and tell on one SQLite file without a pause, each as often as the
others within a factor of two. And what the chain of the log costs of a pair of ask and tell.

`python -m benchmarks.fairness [SECONDS]`.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import time
from unittest.mock import patch

from belman.studies import Study, open_study
from belman.studies.log import chain
from benchmarks.claim import Claim, report

PROCESSES = 8


def operations(url: str, seconds: float) -> list[int]:
    """How many asks and tells each process made in so many seconds."""
    study = open_study("fair", range(5), storage=url)
    study.tell(study.ask().id, 1)
    pipes = []
    go = time.monotonic() + 1.0
    for _ in range(PROCESSES):
        read, write = os.pipe()
        if os.fork() == 0:
            own, count = open_study("fair", storage=url), 0
            time.sleep(max(go - time.monotonic(), 0.0))
            while time.monotonic() < go + seconds:
                own.tell(own.ask().id, 1)
                count += 2
            os.write(write, struct.pack("q", count))
            os._exit(0)
        os.close(write)
        pipes.append(read)
    counts = []
    for pipe in pipes:
        with os.fdopen(pipe, "rb") as file:
            counts += struct.unpack("q", file.read())
        os.wait()
    study.check()
    study.storage.close()
    return sorted(counts)


def cpu_of_pairs(study: Study, pairs: int) -> float:
    """CPU seconds of asks and their tells."""
    started = time.process_time()
    for turn in range(pairs):
        study.tell(study.ask().id, float(turn % 3 == 0))
    return time.process_time() - started


def share_of_the_chain(folder: str, pairs: int = 100, repeats: int = 40) -> float:
    """What the digests add to a pair; blocks alternate."""
    study = open_study("a", range(20), storage=f"sqlite:///{folder}/chain.db?synchronous=normal")
    cpu_of_pairs(study, 300)
    chained, bare = [], []
    for _ in range(repeats):
        chained.append(cpu_of_pairs(study, pairs))
        plain = patch.object(chain, "link", lambda before, event, mark=bytes(8): mark * 3)
        with plain:
            bare.append(cpu_of_pairs(study, pairs))
    study.storage.close()
    return min(chained) / min(bare) - 1.0


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    claims, notes = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for synchronous in ("normal", "full"):
            url = f"sqlite:///{folder}/{synchronous}.db?synchronous={synchronous}"
            counts = operations(url, seconds)
            words = f"most over least operations of {PROCESSES} processes, {synchronous}"
            claims.append(Claim(words, counts[-1] / counts[0], 2.0, ""))
            notes[f"operations, {synchronous}"] = ", ".join(f"{count:,}" for count in counts)
        claims.append(Claim("chain, share of a pair", share_of_the_chain(folder), 0.05, ""))
    report("fairness and the chain", claims, notes)


if __name__ == "__main__":
    main()
