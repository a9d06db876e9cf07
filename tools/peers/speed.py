"""How quick one library is, and how large, through its public interface: JSON on stdout.

    python tools/peers/speed.py MODULE

MODULE is as decisions.py has it. It may have `warm()`, called before all, and `simulate(means,
horizon)`, the turns per CPU-second of the library's own simulator, {player: rate}.
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
from decisions import TWENTY


def pair_microseconds(make: Any, seconds: float = 1.0) -> float:
    """CPU time of an ask and its tell at 20 arms, the best of five stretches."""
    player, luck, best = make(20, 1), np.random.default_rng(3).random(4_096).tolist(), float("inf")
    for arm in range(20):
        player.tell(arm, 0)
    turn = 0
    for _ in range(5):
        count, started, spent = 0, time.process_time(), 0.0
        while spent < seconds / 5:
            for _ in range(20):
                arm = int(player.ask())
                player.tell(arm, int(luck[turn % 4_096] < TWENTY[arm]))
                turn += 1
            count += 20
            spent = time.process_time() - started
        best = min(best, spent / count)
    return best * 1e6


def size_of_install() -> tuple[float, int]:
    """Megabytes of packages in this environment without pip, and how many there are."""
    total, count = 0, 0
    for result in metadata.distributions():
        if result.metadata["Name"].lower() in ("pip", "setuptools", "wheel"):
            continue
        count += 1
        for file in result.files or ():
            path = Path(str(file.locate()))
            if path.is_file() and path.suffix != ".pyc":
                total += path.stat().st_size
    return total / 1e6, count


def main() -> None:
    """Measure, and print."""
    peer = importlib.import_module(sys.argv[1])
    getattr(peer, "warm", lambda: None)()
    simulate = getattr(peer, "simulate", lambda means, horizon: {})
    megabytes, packages = size_of_install()
    result = {
        "megabytes": round(megabytes, 1),
        "packages": packages,
        "pair": {name: round(pair_microseconds(make), 2) for name, make in peer.PLAYERS.items()},
        "simulated": {name: round(rate) for name, rate in simulate(TWENTY, 1_000).items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
