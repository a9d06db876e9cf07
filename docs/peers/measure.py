"""Measure one library through its public interface, in an environment of its own: JSON on stdout.

    python docs/peers/measure.py NAME SECONDS

NAME is a module beside this file that has `PLAYERS`, {name: maker(arms, seed)}, where a maker gives
an object with `ask()`, an arm from 0 up, and `tell(arm, reward)`. Of the measured library nothing
is changed; of this project nothing is imported but in `peer_belman.py`.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

TWENTY = (
    *(0.25, 0.22, 0.2, 0.17, 0.17, 0.2, 0.13, 0.13, 0.1, 0.07),
    *(0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01),
)
#: Chances of arms (a number: so many, drawn uniformly in every run) and turns, by name.
PROBLEMS: dict[str, tuple[Any, int]] = {
    "0.9, 0.8": ((0.9, 0.8), 1_000),
    "0.55, 0.45": ((0.55, 0.45), 500),
    "0.5 down to 0.3, five arms": ((0.5, 0.45, 0.4, 0.35, 0.3), 1_000),
    "0.1 down to 0.01, ten arms": (
        (0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01),
        1_000,
    ),
    "0.25 down to 0.01, twenty arms": (TWENTY, 1_000),
    "one of ten at 0.6, the others at 0.4": ((0.6, *[0.4] * 9), 1_000),
    "ten uniform chances": (10, 1_000),
    "fifty uniform chances": (50, 500),
}
#: Runs: the most, as few as suffice when the time is over, and when it is over ten times.
MOST_RUNS, FEW_RUNS, FEWEST_RUNS = 100, 5, 2


def regrets(make: Any, name: str, seconds: float) -> list[float]:
    """The regret of every run, as many as fit into the time; every player meets the same luck."""
    means, turns = PROBLEMS[name]
    found: list[float] = []
    started = time.process_time()
    for run in range(MOST_RUNS):
        nature = np.random.default_rng([run, 7])
        chances = nature.random(means) if isinstance(means, int) else np.array(means)
        luck, lost = nature.random(turns), 0.0
        player = make(len(chances), run + 1)
        for turn in range(turns):
            arm = int(player.ask())
            lost += chances.max() - chances[arm]
            player.tell(arm, int(luck[turn] >= 1.0 - chances[arm]))
        found.append(float(lost))
        spent = time.process_time() - started
        if spent > seconds and len(found) >= (FEW_RUNS if spent < 10 * seconds else FEWEST_RUNS):
            break
    return found


def pair_microseconds(make: Any, seconds: float = 1.0) -> float:
    """CPU time of an ask and its tell at 20 arms, the best of five stretches."""
    player, nature, best = make(20, 1), np.random.default_rng(3), float("inf")
    for arm in range(20):
        player.tell(arm, 0)
    for _ in range(5):
        count, started, spent = 0, time.process_time(), 0.0
        while spent < seconds / 5:
            for _ in range(20):
                arm = int(player.ask())
                player.tell(arm, int(nature.random() < TWENTY[arm]))
            count += 20
            spent = time.process_time() - started
        best = min(best, spent / count)
    return best * 1e6


def size_of_install() -> tuple[float, int]:
    """Megabytes of packages in this environment without pip, and how many there are."""
    total, count = 0, 0
    for found in metadata.distributions():
        if found.metadata["Name"].lower() in ("pip", "setuptools", "wheel"):
            continue
        count += 1
        for file in found.files or ():
            path = Path(str(file.locate()))
            if path.is_file() and path.suffix != ".pyc":
                total += path.stat().st_size
    return total / 1e6, count


def main() -> None:
    """Measure, and print."""
    name, seconds = sys.argv[1], float(sys.argv[2])
    peer = importlib.import_module(f"peer_{name}")
    if hasattr(peer, "warm"):
        peer.warm()
    megabytes, packages = size_of_install()
    found: dict[str, Any] = {
        "version": metadata.version(peer.PACKAGE),
        "megabytes": round(megabytes, 1),
        "packages": packages,
        "players": {},
    }
    for player, make in peer.PLAYERS.items():
        found["players"][player] = {
            "pair": round(pair_microseconds(make), 2),
            "regret": {each: regrets(make, each, seconds) for each in PROBLEMS},
        }
    if hasattr(peer, "simulate"):
        found["simulator"] = {
            player: round(rate) for player, rate in peer.simulate(TWENTY, 1_000).items()
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
