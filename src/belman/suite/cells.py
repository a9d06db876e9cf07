"""The suite as data, and played: `suite.toml` is read into cells, of a class of problems, arms, a
horizon; the regret of every run at the horizon is kept in one JSON file per cell as it comes.

A player of a cell is played once: what the same code wrote to disk with the same settings is not
played again, so an interrupted call goes on where it stopped, and a new rival joins without the
others playing anew.
"""

from __future__ import annotations

import functools
import json
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import spec
from belman.errors import PolicyError, StateError
from belman.families import family_named
from belman.files import write_atomically
from belman.lab import simulate
from belman.lab.design import sources, versions
from belman.measures.limit import Attainable, attainable
from belman.policies.policy import Policy
from belman.problems import Problem
from belman.problems.stationary import RandomStationary, Stationary

#: The halves of the suite: policies are tuned on the first, and judged on the second.
SPLITS = ("development", "validation")

#: The regret of every run, by player.
Records = dict[str, NDArray[np.float64]]
#: The largest cells of the quick suite, and their runs.
QUICK_ARMS, QUICK_HORIZON, QUICK_RUNS = 10, 500, 100
#: The most arms × horizon² whose bound is computed: some ten seconds.
_MOST_PLANNED = 50_000_000


@dataclass(frozen=True)
class Cell:
    """One row of the suite: a problem, how long it is played, and how often.

    Attributes
    ----------
    split
        "development" or "validation".
    kind
        The name of the class of problems.
    arms
        The number of arms.
    horizon
        The number of turns of a run.
    runs
        The number of runs.
    problem
        What is played.

    >>> suite().cells[0].name
    'uniform, 2 arms, 1,000 turns'
    """

    split: str
    kind: str
    arms: int
    horizon: int
    runs: int
    problem: Problem

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.kind}, {self.arms} arms, {self.horizon:,} turns"

    @property
    def key(self) -> str:
        """What it is called on disk."""
        return f"{self.kind}-{self.arms}-{self.horizon}"

    def share(self, regret: float) -> float:
        """Compute the share of the attainable rewards that a policy earns at least.

        Parameters
        ----------
        regret
            The mean regret of the policy at the horizon.

        Returns
        -------
        float
            The share; NaN for arms without a prior, and where the bound would take minutes.
        """
        drawn = isinstance(self.problem, RandomStationary) and self.problem.between is None
        if not drawn or self.arms * self.horizon**2 > _MOST_PLANNED:
            return math.nan
        return _limit(self.problem, self.horizon).share(regret)


@functools.cache
def _limit(problem: Problem, horizon: int) -> Attainable:
    return attainable(problem, horizon, draws=400)


@dataclass(frozen=True)
class Suite:
    """The cells that are played, and the rivals in groups by what they may claim; `suite` gives it.

    Attributes
    ----------
    cells
        The cells of both splits.
    rivals
        The names of policies in each group: "anytime", "horizon-aware" and "no-guarantee".
    at_most
        The largest arms × horizon that a slow rival plays, by its name.
    """

    cells: tuple[Cell, ...]
    rivals: dict[str, tuple[str, ...]]
    at_most: dict[str, int]

    def quick(self) -> Suite:
        """Leave out the larger cells, and play the others less often: a look, not a judgement.

        Returns
        -------
        Suite
            Cells of at most 10 arms and 500 turns, with at most 100 runs each.
        """
        small = [c for c in self.cells if c.arms <= QUICK_ARMS and c.horizon <= QUICK_HORIZON]
        cells = tuple(replace(cell, runs=min(cell.runs, QUICK_RUNS)) for cell in small)
        return Suite(cells, self.rivals, self.at_most)

    def group(self, rival: str) -> str:
        """Find the group of a rival.

        Parameters
        ----------
        rival
            The name of a policy.

        Returns
        -------
        str
            The group; "belman" for a policy that is in none.
        """
        return next((group for group, names in self.rivals.items() if rival in names), "belman")

    def plays(self, rival: str, cell: Cell) -> bool:
        """Check whether a cell is small enough for a rival.

        Parameters
        ----------
        rival
            The name of a policy.
        cell
            The cell that it would play.

        Returns
        -------
        bool
            True where arms × horizon is at most what the rival plays.
        """
        return cell.arms * cell.horizon <= self.at_most.get(rival, cell.arms * cell.horizon)


@functools.cache
def suite() -> Suite:
    """Read the suite of the package.

    Returns
    -------
    Suite
        All cells and rivals.
    """
    file = resources.files("belman.suite").joinpath("suite.toml")
    result = tomllib.loads(file.read_text(encoding="utf-8"))
    cells = tuple(
        Cell(split, kind, arms, horizon, runs, _problem(result["classes"][kind], arms))
        for split in SPLITS
        for kind, arms, horizon, runs in result["cells"][split]
    )
    rivals = {group: tuple(names) for group, names in result["rivals"].items()}
    return Suite(cells, rivals, result["at-most"])


def _problem(given: dict[str, Any], arms: int) -> Problem:
    prior = {"prior": given["belief"]} if "belief" in given else {}
    family = family_named(given["family"], **prior)
    if "means" in given:
        return Stationary(family, tuple(given["means"]))
    if "best" in given:
        return Stationary(family, (given["best"], *[given["rest"]] * (arms - 1)))
    ends = given.get("between")
    between = None if ends is None else (ends[0], ends[1])
    return RandomStationary(family, arms, tuple(map(float, given["draw"])), between)


def play(
    cell: Cell,
    players: Mapping[str, Policy],
    folder: Path,
    seed: int,
    workers: int | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Records:
    """Play a cell, and keep the regret of every run in a file of it.

    What the file has of the same player, cell, seed and code is not played again. A player that
    does not fit the family or the number of arms is left out.

    Parameters
    ----------
    cell
        The problem, its turns and its runs.
    players
        Policies by name.
    folder
        Where the file of the cell is kept; it is made where it is missing.
    seed
        The seed; all players meet the same luck.
    workers
        How many threads or processes; by default one per core.
    say
        A function that is called with a sentence for each player that is played or left out.

    Returns
    -------
    dict
        The regret of every run at the horizon, by player.

    Raises
    ------
    StateError
        If the file of the cell is damaged.
    """
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
