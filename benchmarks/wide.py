"""Wide and sparse contexts: what a decision costs and earns, whatever number of columns there are.

    python -m benchmarks.wide [--columns 1000 10000 100000] [--set 50] [--arms 5] [--turns 20000]
                              [--seeds 3] [--players diagonal full "VW squarecb" ...]
                              [--folder .venv/bakeoff] [--intervals]

A context has a level of each of 50 names, drawn by a power law, and each level adds to the log-odds
of a reward of each arm. Printed are the regret (the chance of a reward that the best arm has beyond
the one played, summed), that of the last quarter a decision, CPU-µs a decision with its reward, by
how many MB the process grew, and the size of the state file. Every run has a process of its own;
Vowpal Wabbit's is installed into the folder, as for `benchmarks.bakeoff.run`. With `--intervals`
printed are the shares of 95 % intervals of the chances of all arms that hold the truth.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

#: The deviation of what a level adds, and the level of all arms, on the log-odds.
DEVIATION, LEVEL, POWER = 0.3, -1.0, 1.1
_CHUNK = 2_000
_VW = {
    "VW squarecb": "--squarecb --cb_min_cost -1 --cb_max_cost 0",
    "VW regcb": "--regcbopt --cb_min_cost -1 --cb_max_cost 0",
    "VW cover": "--cover 8 --psi 0.1 --nounif",
    "VW ε-greedy": "--epsilon 0.05",
}
PLAYERS = ("diagonal", "words", "full", "linear", *_VW)


class World:
    """Levels of names, and what each adds for every arm."""

    def __init__(self, seed: int, columns: int, names: int, arms: int) -> None:
        self.levels = max(columns // names, 1)
        draw = np.random.default_rng([seed, 11])
        self.adds = draw.normal(0.0, DEVIATION, (names, self.levels, arms))
        rates = 1.0 / (np.arange(self.levels) + 1.0) ** POWER
        self.rates = np.cumsum(rates / rates.sum())
        self.names = names
        self.people = np.random.default_rng([seed, 12])

    def people_of(self, count: int) -> tuple[Any, Any, Any]:
        """The levels that people have, the chance of every arm, and the luck of each."""
        drawn = self.people.random((count, self.names))
        levels = np.minimum(np.searchsorted(self.rates, drawn), self.levels - 1)
        odds = LEVEL + self.adds[np.arange(self.names), levels].sum(axis=1)
        return levels, 1.0 / (1.0 + np.exp(-odds)), self.people.random(count)


class Ours:
    """An agent with one of the beliefs."""

    def __init__(self, player: str, names: int, arms: int, seed: int) -> None:
        import belman
        from belman.models import Linear, Logistic

        wide = {"covariance": "diagonal"}
        model = Logistic(**({} if player == "full" else wide))  # type: ignore[arg-type]
        if player == "linear":
            model = Linear(unknown=True, **wide)  # type: ignore[arg-type, assignment]
        self.names = [f"n{at}" for at in range(names)]
        self.bag = player == "words"
        context = ["words[]"] if self.bag else self.names
        self.agent = belman.Agent(list(range(arms)), context=context, model=model, seed=seed)

    def row(self, levels: list[int]) -> Any:
        """A context as it is asked with."""
        if self.bag:
            return {
                "words": [f"{name}={level}" for name, level in zip(self.names, levels, strict=True)]
            }
        return {name: f"l{level}" for name, level in zip(self.names, levels, strict=True)}

    def ask(self, row: Any) -> int:
        return int(self.agent.ask(context=row))

    def tell(self, row: Any, arm: int, reward: int) -> None:
        self.agent.tell(arm, reward, context=row)

    def size(self) -> int:
        """Bytes of the state file."""
        return len(self.agent.to_json())


class Vowpal:
    """Vowpal Wabbit with a line for each arm, whose name is crossed with every level."""

    def __init__(self, player: str, names: int, arms: int, seed: int) -> None:
        from vowpalwabbit import Workspace  # not in this environment

        start = f"--cb_explore_adf --quiet -b 22 -q CA --ignore_linear C --random_seed {seed + 1}"
        self.learner: Any = Workspace(f"{start} {_VW[player]}")
        self.arms, self.names = arms, names
        self.rng = np.random.default_rng(seed)

    def row(self, levels: list[int]) -> Any:
        """The line that all arms share."""
        return "shared |C " + " ".join(f"n{at}_{level}" for at, level in enumerate(levels))

    def ask(self, row: Any) -> int:
        chances = np.array(self.learner.predict([row, *(f"|A a{arm}" for arm in range(self.arms))]))
        arm = int(self.rng.choice(self.arms, p=chances / chances.sum()))
        self.chance = float(chances[arm])
        return arm

    def tell(self, row: Any, arm: int, reward: int) -> None:
        lines = [f"|A a{one}" for one in range(self.arms)]
        lines[arm] = f"0:{-reward}:{self.chance} {lines[arm]}"
        self.learner.learn([row, *lines])

    def size(self) -> int:
        return 0


def play(player: str, columns: int, options: argparse.Namespace, seed: int) -> list[float]:
    """Regret, that of the last quarter a decision, CPU-µs, MB and kB of one run."""
    world = World(seed, columns, options.set, options.arms)
    make: Any = Vowpal if player in _VW else Ours
    warm = make(player, options.set, options.arms, seed)
    levels, _, _ = World(seed, columns, options.set, options.arms).people_of(300)
    if make is Ours:
        import belman  # noqa: F401 (what is compiled once is not a decision's)

        for position, one in enumerate(levels.tolist()):
            row = warm.row(one)
            warm.tell(row, warm.ask(row), position % 2)
    before, spent, lost = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0.0, []
    agent = make(player, options.set, options.arms, seed)
    for _ in range(0, options.turns, _CHUNK):
        levels, chances, luck = world.people_of(_CHUNK)
        rows = [agent.row(one) for one in levels.tolist()]
        arms = []
        start = time.process_time()
        for at, row in enumerate(rows):
            arm = agent.ask(row)
            agent.tell(row, arm, int(luck[at] < chances[at, arm]))
            arms.append(arm)
        spent += time.process_time() - start
        lost += (chances.max(axis=1) - chances[np.arange(_CHUNK), arms]).tolist()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0
    last = float(np.mean(lost[-len(lost) // 4 :]))
    return [sum(lost), last, spent / len(lost) * 1e6, grown, agent.size() / 1024.0]


def held(columns: int, options: argparse.Namespace, seed: int) -> float:
    """The share of intervals in the last half that hold the truth, looked at every 20th turn."""
    world = World(seed, columns, options.set, options.arms)
    player, result = Ours("diagonal", options.set, options.arms, seed), list[bool]()
    levels, chances, luck = world.people_of(options.turns)
    for at, one in enumerate(levels.tolist()):
        row = player.row(one)
        if at >= options.turns // 2 and at % 20 == 0:
            table = player.agent.beliefs(context=row)
            ends = zip(table["low"], table["high"], chances[at], strict=True)
            result += [low <= chance <= high for low, high, chance in ends]
        arm = player.ask(row)
        player.tell(row, arm, int(luck[at] < chances[at, arm]))
    return float(np.mean(result))


def main() -> None:
    """Play in processes of their own, and print the averages."""
    parser = argparse.ArgumentParser(description="Wide and sparse contexts.")
    parser.add_argument("--columns", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--set", type=int, default=50, help="levels in a context")
    parser.add_argument("--arms", type=int, default=5)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--players", nargs="+", choices=PLAYERS, default=["diagonal", *_VW])
    parser.add_argument("--folder", type=Path, default=Path(".venv") / "bakeoff")
    parser.add_argument("--play", type=int, help="this seed alone, and print numbers")
    parser.add_argument("--intervals", action="store_true", help="how often they hold")
    options = parser.parse_args()
    if options.intervals:
        for columns in options.columns:
            shares = [held(columns, options, seed) for seed in range(options.seeds)]
            print(
                f"{columns:>8,} columns: {np.mean(shares):.3f} of 95 % intervals hold", flush=True
            )
        return
    if options.play is not None:
        print(json.dumps(play(options.players[0], options.columns[0], options, options.play)))
        return
    print(f"{options.arms} arms, {options.set} set, {options.turns:,} turns, {options.seeds} seeds")
    head = ("columns", "player", "regret", "±", "last", "µs", "MB", "file, kB")
    print("".join(f"{word:>14}" for word in head))
    for columns in options.columns:
        for player in options.players:
            result = np.array([_apart(player, columns, options, s) for s in range(options.seeds)])
            regret, last, took, grown, size = result.mean(axis=0)
            error = result[:, 0].std(ddof=1) / options.seeds**0.5 if options.seeds > 1 else np.nan
            cells = (f"{regret:.0f}", f"{error:.0f}", f"{last:.4f}", f"{took:.0f}", f"{grown:.1f}")
            cells = (f"{columns:,}", player, *cells, f"{size:,.0f}" if size else "")
            print("".join(f"{cell:>14}" for cell in cells), flush=True)


def _apart(player: str, columns: int, options: argparse.Namespace, seed: int) -> list[float]:
    """What a run in a process of its own found."""
    python: Any = sys.executable
    if player in _VW:
        from benchmarks.bakeoff.run import python_of

        python = python_of(options.folder.resolve(), "vw")
    words = [python, "-m", "benchmarks.wide", "--players", player, "--columns", columns]
    words += ["--set", options.set, "--arms", options.arms, "--turns", options.turns]
    told = subprocess.run(
        [*map(str, words), "--play", str(seed)], check=True, capture_output=True, text=True
    )
    result: list[float] = json.loads(told.stdout.strip().splitlines()[-1])
    return result


if __name__ == "__main__":
    main()
