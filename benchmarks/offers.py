"""Offers for people with incomes: skewed numbers, and values that count together, from raw columns.

    python -m benchmarks.offers [--turns 20000] [--seeds 1] [--players NAME ...]

Six offers are bought with log-odds that are linear in the logarithm of an income, an age, a region
and a device, and in the products of that logarithm with each region. The regret of belman from the
raw columns is printed beside what it has with the logarithm, and with the products too, by hand,
and beside LinUCB(1).
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np

import belman
from belman.policies.dependent import LinUCB

OFFERS, REGIONS = 6, ("north", "east", "south", "west")
Row = dict[str, Any]


class World:
    """Chances of all offers, drawn once by a seed."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng([seed, 5])
        self.level = draw.normal(-2.0, 0.2, OFFERS)
        self.slopes = draw.normal(0.0, 0.4, (3, OFFERS))
        self.region = draw.normal(0.0, 0.4, (len(REGIONS), OFFERS))
        self.together = draw.normal(0.0, 0.6, (len(REGIONS), OFFERS))
        self.people = np.random.default_rng([seed, 6])

    def person(self) -> tuple[Row, np.ndarray]:
        """The columns of somebody, and the chance of every offer."""
        income, age = self.people.normal(), self.people.uniform(18.0, 80.0)
        region, phone = int(self.people.integers(4)), int(self.people.integers(2))
        known = np.array([income, (age - 49.0) / 18.0, 2.0 * phone - 1.0])
        odds = self.level + known @ self.slopes + self.region[region]
        odds += income * self.together[region]
        row = {"income": math.exp(10.4 + 0.9 * income), "age": age, "region": REGIONS[region]}
        row["device"] = "phone" if phone else "desk"
        return row, 1.0 / (1.0 + np.exp(-odds))


def raw(row: Row) -> Row:
    """The columns as they are."""
    return row


def with_log(row: Row) -> Row:
    """The logarithm of the income in its place."""
    return {**row, "income": math.log(row["income"])}


def with_products(row: Row) -> Row:
    """The logarithm, and its products with regions."""
    log = math.log(row["income"]) - 10.4
    own = {f"income in the {one}": log * (row["region"] == one) for one in REGIONS}
    return {**with_log(row), **own}


PLAYERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "default, raw": (raw, {}),
    "default, logarithm by hand": (with_log, {}),
    "default, products by hand": (with_products, {}),
    "LinUCB(1), raw": (raw, {"model": "linear", "policy": LinUCB(1.0)}),
    "LinUCB(1), products by hand": (with_products, {"model": "linear", "policy": LinUCB(1.0)}),
}


def regret(name: str, seed: int, turns: int) -> tuple[float, float, str]:
    """What a player lost, µs a turn, and the form that speaks at the end."""
    columns, settings = PLAYERS[name]
    world, rng = World(seed), np.random.default_rng([seed, 7])
    names = list(columns(World(seed).person()[0]))
    agent = belman.Agent(range(OFFERS), context=names, seed=seed, **settings)
    total, started = 0.0, time.process_time()
    for _ in range(turns):
        row, chances = world.person()
        arm = agent.ask(context=columns(row))
        agent.tell(arm, float(rng.random() < chances[arm]))
        total += float(chances.max() - chances[arm])
    spent = (time.process_time() - started) / turns * 1e6
    title = agent.explain(context=columns(row)).title
    return total, spent, title.partition(";")[2].strip() or "plain"


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(description="Offers for people with incomes.")
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--players", nargs="*", default=list(PLAYERS))
    options = parser.parse_args()
    for name in options.players:
        result = [regret(name, seed, options.turns) for seed in range(1, options.seeds + 1)]
        lost, spent = np.mean([one[:2] for one in result], axis=0)
        print(f"{name:30s} regret {lost:7.0f}  {spent:6.0f} µs  {result[-1][2]}", flush=True)


if __name__ == "__main__":
    main()
