"""`python -m tests.world --minutes 60`, or `--seed N --steps M` for one life once more."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace

from tests.world.life import Script, live, script, simulated


def shrunk(given: Script, folder: str, seconds: float = 60.0) -> tuple[Script, str]:
    """The fewest operations that show something, as found in this time, and what they show."""
    until, size = time.process_time() + seconds, max(len(given.operations) // 2, 1)
    shown = live(given, folder) or ""
    while time.process_time() < until:
        for at in range(len(given.operations) - size, -1, -size):
            fewer = given.operations[:at] + given.operations[at + size :]
            if result := live(replace(given, operations=fewer), folder):
                given, shown = replace(given, operations=fewer), result
        if size == 1:
            break
        size //= 2
    for i, one in enumerate(given.operations):  # and the fewest of what befalls them
        for calmer in (replace(one, net=()), replace(one, plan={})):
            fewer = [*given.operations[:i], calmer, *given.operations[i + 1 :]]
            if result := live(replace(given, operations=fewer), folder):
                given, shown = replace(given, operations=fewer), result
    return given, shown


def lives(seeds: range, steps: int, seconds: float, counted: Counter[str]) -> list[str]:
    """What the lives of these seeds show, shrunk, as far as the time goes (of the processor)."""
    until, result = time.process_time() + seconds, list[str]()
    with simulated(), tempfile.TemporaryDirectory(dir=folder_in_memory()) as folder:
        for seed in seeds:
            if time.process_time() > until or len(result) >= 20:
                break
            given = script(seed, steps)
            counted["lives"] += 1
            counted["steps"] += len(given.operations)
            if live(given, folder, counted):
                fewest, shown = shrunk(given, folder)
                result.append(f"{fewest}\n{shown}")
                print(result[-1], end="\n\n", flush=True)
    return result


def folder_in_memory() -> str | None:
    """A folder whose files are in memory, where there is one."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def main() -> None:
    """Live for as long as told; leave with an error if anything is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="of the processor")
    parser.add_argument("--seed", type=int, help="one life")
    parser.add_argument("--first", type=int, default=0, help="the first seed of many")
    parser.add_argument("--steps", type=int, default=25)
    given = parser.parse_args()
    counted: Counter[str] = Counter()
    first = given.first if given.seed is None else given.seed
    seeds = range(first, first + (10**9 if given.seed is None else 1))
    result = lives(seeds, given.steps, 60.0 * given.minutes, counted)
    for name, count in sorted(counted.items()):
        print(f"{count:9,}  {name}")
    print(f"{len(result)} findings")
    sys.exit(bool(result))


if __name__ == "__main__":
    main()
