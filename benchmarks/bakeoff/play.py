"""Play the players of one library on the tables: a line of JSON on stdout for every pass.

    python -m benchmarks.bakeoff.play NAME [--half development] [--rows 2000] [--seeds 3]
        [--players default ...] [--skip FILE] [--seconds 600] [--table]

NAME is that of a module `player_NAME` beside this file with `PLAYERS`, {name: make(table, seed)}.
What is made has `ask(place)`, the arm for the row at a place, and `tell(place, arm, reward)`.
`--table` prints a table instead, for eyes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bakeoff.tables import Table, names, read


def passed(make: Any, table: Table, seed: int) -> tuple[float, float]:
    """The mean reward of one pass, and the CPU-seconds of a decision with its learning."""
    started, total = time.process_time(), 0
    player = make(table, seed)
    for place, right in enumerate(table.classes.tolist()):
        arm = int(player.ask(place))
        reward = int(arm == right)
        player.tell(place, arm, reward)
        total += reward
    count = len(table.classes)
    return total / count, (time.process_time() - started) / count


def passes(options: argparse.Namespace, known: set[tuple[str, str, int]]) -> Iterator[list[Any]]:
    """Player, table, seed, mean reward and µs a decision of every pass that is not known yet.

    Seed by seed, so that every player that is stopped has met all tables equally often; a player
    begins no further seed once its time is up.
    """
    peer = importlib.import_module(f"benchmarks.bakeoff.player_{options.name}")
    players = {
        name: make
        for name, make in peer.PLAYERS.items()
        if not options.players or name in options.players
    }
    spent = dict.fromkeys(players, 0.0)
    tables = options.tables or names(options.half)
    for make in players.values():  # what is compiled, loaded and cached once is not a decision's
        passed(make, read(tables[0], 0, 60), 0)
    for seed in range(1, options.seeds + 1):
        late = {name for name in players if spent[name] > options.seconds}
        for name in tables:
            todo = [
                each for each in players if each not in late and (each, name, seed) not in known
            ]
            table = read(name, seed, options.rows) if todo else None
            for player in todo:
                assert table is not None
                table.dense  # noqa: B018 (made once, outside of what is timed)
                reward, seconds = passed(players[player], table, seed)
                spent[player] += seconds * len(table.rows)
                yield [player, name, seed, round(reward, 5), round(seconds * 1e6, 1)]


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(description="One library's players in the bake-off.")
    parser.add_argument("name", help="of the library: player_NAME.py")
    parser.add_argument("--half", choices=["all", "development", "report"], default="development")
    parser.add_argument("--tables", nargs="*", help="these alone")
    parser.add_argument("--rows", type=int, default=2_000, help="of a pass, at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="CPU of a player")
    parser.add_argument("--players", nargs="*", help="these alone")
    parser.add_argument("--skip", type=Path, help="JSON: [[player, table, seed], …] known already")
    parser.add_argument("--table", action="store_true", help="a table for eyes, at the end")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = (
        {tuple(each) for each in json.loads(options.skip.read_text())} if options.skip else set()
    )
    found: dict[str, dict[str, list[list[float]]]] = {}
    for line in passes(options, known):
        print(json.dumps(line), file=sys.stderr if options.table else sys.stdout, flush=True)
        found.setdefault(line[0], {}).setdefault(line[1], []).append(line[3:])
    if options.table:
        _show(found)


def _show(found: dict[str, dict[str, list[list[float]]]]) -> None:
    """Mean rewards ± standard errors over seeds, and median µs, of every table and player."""
    players = list(found)
    print(f"{'':18}" + "".join(f"{player:>26}" for player in players))
    for name in found[players[0]]:
        cells = []
        for player in players:
            rewards, times = np.array(found[player][name]).T
            error = rewards.std(ddof=1) / len(rewards) ** 0.5 if len(rewards) > 1 else np.nan
            cells.append(f"{rewards.mean():.3f} ± {error:.3f} {np.median(times):7.0f} µs")
        print(f"{name:18}" + "".join(f"{cell:>26}" for cell in cells))
    means = [
        np.mean([np.mean([p[0] for p in t]) for t in found[each].values()]) for each in players
    ]
    print(f"{'mean':18}" + "".join(f"{mean:>26.4f}" for mean in means))


if __name__ == "__main__":
    main()
