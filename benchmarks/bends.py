"""What the forms of a belief are worth where worlds bend, and what they cost where they do not.

    python -m benchmarks.bends [--worlds 8] [--turns 800]

Two half-moons; classes that are three heaps each, in two numbers and in four; a ring; and straight
worlds, where log-odds are linear in the numbers. The mean reward of the default is printed beside
what it has without waves, and with numbers as they are alone; ± is the standard error of the
difference to the default over worlds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np

import belman
from belman.deciders.featured.columns import WAVES
from belman.table import Table

#: Numbers of a context, and the chance of a 1 of every arm.
Turns = Iterator[tuple[np.ndarray, np.ndarray]]


def _moons(rng: np.random.Generator) -> Turns:
    while True:
        one, angle = rng.random() < 0.5, rng.uniform(0.0, np.pi)
        at = np.array([np.cos(angle), np.sin(angle)]) * (1.0 if one else -1.0)
        at += 0.0 if one else np.array([1.0, 0.5])
        yield at + rng.normal(0.0, 0.2, 2), np.array([one, not one]) * 1.0


def _heaps(arms: int, size: int) -> Callable[[np.random.Generator], Turns]:
    def turns(rng: np.random.Generator) -> Turns:
        centres = 2.0 * rng.normal(size=(3 * arms, size))
        while True:
            heap = rng.integers(3 * arms)
            chances = (np.arange(arms) == heap % arms) * 1.0
            yield centres[heap] + rng.normal(0.0, 0.7, size), chances

    return turns


def _ring(rng: np.random.Generator) -> Turns:
    while True:
        at = rng.normal(size=2)
        inside = at @ at < 1.4
        yield at, np.array([0.95, 0.05]) if inside else np.array([0.05, 0.95])


def _straight(arms: int, size: int) -> Callable[[np.random.Generator], Turns]:
    def turns(rng: np.random.Generator) -> Turns:
        slopes = rng.normal(size=(arms, size + 1)) / np.sqrt(size + 1)
        while True:
            at = rng.normal(size=size)
            yield at, 1.0 / (1.0 + np.exp(-1.5 * slopes @ np.append(at, 1.0)))

    return turns


WORLDS: dict[str, Callable[[np.random.Generator], Turns]] = {
    "two half-moons": _moons,
    "2 arms of three heaps, 2 numbers": _heaps(2, 2),
    "3 arms of three heaps, 2 numbers": _heaps(3, 2),
    "3 arms of three heaps, 4 numbers": _heaps(3, 4),
    "a ring": _ring,
    "straight, 2 arms, 3 numbers": _straight(2, 3),
    "straight, 5 arms, 10 numbers": _straight(5, 10),
    "straight, 3 arms, 20 numbers": _straight(3, 20),
}
PLAYERS = {"default": [], "without waves": [WAVES], "as they are": None}


def earned(world: str, player: str, seed: int, turns: int) -> float:
    """The mean reward of a run."""
    nature, luck = WORLDS[world](np.random.default_rng([seed, 1])), np.random.default_rng(seed)
    at, chances = next(nature)
    names = [f"n{i}" for i in range(at.size)]
    agent = belman.Agent(range(chances.size), context=names, seed=seed)
    learnt, left_out = agent._decider.knowledge, PLAYERS[player]
    learnt.shapes = [one for one in learnt.shapes if left_out is not None and one not in left_out]
    total = 0.0
    for _ in range(turns):
        at, chances = next(nature)
        arm = agent.ask(context=dict(zip(names, at.tolist(), strict=True)))
        total += chances[arm]
        agent.tell(arm, float(luck.random() < chances[arm]))
    return total / turns


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(description="Worlds that bend, and straight ones.")
    parser.add_argument("--worlds", type=int, default=8, help="of each kind")
    parser.add_argument("--turns", type=int, default=800)
    options = parser.parse_args()
    rows = []
    for world in WORLDS:
        result = {
            player: np.array(
                [earned(world, player, seed, options.turns) for seed in range(options.worlds)]
            )
            for player in PLAYERS
        }
        cells = [f"{result['default'].mean():.3f}"]
        for player in list(PLAYERS)[1:]:
            apart = result[player] - result["default"]
            error = apart.std(ddof=1) / len(apart) ** 0.5
            cells.append(f"{result[player].mean():.3f} ({apart.mean():+.4f} ± {error:.4f})")
        rows.append([world, *cells])
    heads = ["world", *PLAYERS]
    columns = {head: [row[i] for row in rows] for i, head in enumerate(heads)}
    print(Table(columns, f"mean reward of {options.turns:,} turns, {options.worlds} worlds"))


if __name__ == "__main__":
    main()
