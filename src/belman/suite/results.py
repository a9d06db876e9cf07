"""Playing the suite: the regret of every run at the horizon, one JSON file per cell as it comes.

A player of a cell is played once: what the same code wrote to disk with the same settings is not
played again, so an interrupted call goes on where it stopped, and a new rival joins without the
others playing anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import spec
from belman.errors import PolicyError, StateError
from belman.files import write_atomically
from belman.lab import simulate
from belman.lab.design import sources, versions
from belman.policies.policy import Policy
from belman.suite.cells import Cell

#: The regret of every run, by player.
Records = dict[str, NDArray[np.float64]]


def play(
    cell: Cell,
    players: Mapping[str, Policy],
    folder: Path,
    seed: int,
    workers: int | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Records:
    """The final regrets of these players in a cell, read from `folder` or played and written."""
    path = folder / f"{cell.key}.json"
    kept = _read(path)
    records: Records = {}
    for name, player in players.items():
        try:
            player.check(cell.problem.family, cell.problem.arms)
        except PolicyError as error:
            say(f"{name} left out of {cell.name}: {error}")
            continue
        design = {
            "player": spec.describe(player),
            "problem": spec.describe(cell.problem),
            "horizon": cell.horizon,
            "runs": cell.runs,
            "seed": seed,
            "versions": versions(),
            "sources": sources(player, cell.problem),
        }
        described = json.loads(json.dumps(design))
        if kept.get(name, {}).get("design") != described:
            say(f"{cell.name}: {name}")
            quietly: Any = {"workers": workers, "progress": False}
            problem, horizon = cell.problem, cell.horizon
            result = simulate({name: player}, problem, horizon, cell.runs, seed, **quietly)
            regrets = [float(f"{value:.9g}") for value in result.regret.values[0, :, -1]]
            kept[name] = {"design": described, "regret": regrets}
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(kept))
        records[name] = np.array(kept[name]["regret"])
    return records


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        remedy = "remove it, or choose another folder"
        raise StateError(f"{path} is damaged: it is not JSON ({remedy})") from None
