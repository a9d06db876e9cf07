"""What one library loses on every problem, through its public interface: JSON on stdout.

    python tools/peers/decisions.py MODULE SECONDS

MODULE is a file beside this one that has `PLAYERS`, {name: maker(arms, seed)}, where a maker gives
an object with `ask()`, an arm from 0 up, and `tell(arm, reward)`. Of the library nothing is
changed; of this project nothing is imported but in `peer_belman.py`.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
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
#: Runs: the most, and as few as are played however long they take.
MOST_RUNS, FEWEST_RUNS = 200, 5


def regrets(make: Any, name: str, seconds: float) -> list[float]:
    """The regret of every run, as many as fit into the time; every player meets the same luck."""
    means, turns = PROBLEMS[name]
    result: list[float] = []
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
        result.append(round(float(lost), 3))
        if time.process_time() - started > seconds and len(result) >= FEWEST_RUNS:
            break
    return result


def main() -> None:
    """Play every player on every problem, and print its regrets."""
    peer, seconds = importlib.import_module(sys.argv[1]), float(sys.argv[2])
    players = {
        player: {name: regrets(make, name, seconds) for name in PROBLEMS}
        for player, make in peer.PLAYERS.items()
    }
    turns = {name: turns for name, (_, turns) in PROBLEMS.items()}
    print(json.dumps({"turns": turns, "players": players}))


if __name__ == "__main__":
    main()
