"""A study with a budget a day, beside the best fixed mixture of known arms and naive spending.

`python -m benchmarks.budgets` plays days of asks whose arms differ in what they earn and cost, with
traffic as by day and night, and prints per scenario the share of the linear program's reward that
was earned, the share of the budget that was spent on the dearest day, refused asks, and the price
beside that of the linear program. The linear program knows all means of a day and spends exactly
the budget; `until spent` is Thompson's rule without a price, which stops when the money is gone.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from belman.errors import BudgetError
from belman.studies import Storage, open_study

DAY = 86_400.0
Arms = dict[str, tuple[float, float]]


class Scenario(NamedTuple):
    """Arms (chance to succeed, cost) of a day, the budget and asks of one, and how costs scatter
    around their mean (the shape of a gamma distribution).
    """

    arms: Callable[[int], Arms]
    budget: float
    asks: int = 1000
    days: int = 6
    shape: float = 2.0


TWO = {"dear": (0.8, 1.0), "cheap": (0.4, 0.1)}
THREE = {"dear": (0.9, 1.0), "mid": (0.75, 0.35), "cheap": (0.5, 0.05)}
EIGHT = {f"arm {i}": (0.3 + 0.6 * (1 - 0.6**i), 0.05 * 1.6**i) for i in range(8)}


def dearer(day: int) -> Arms:
    """Costs of one arm double after the third day."""
    (chance, cost), rest = THREE["mid"], THREE
    return rest if day < 3 else {**rest, "mid": (chance, 2.0 * cost)}


SCENARIOS = {
    "two arms": Scenario(lambda day: TWO, 400.0),
    "three arms": Scenario(lambda day: THREE, 300.0),
    "eight arms": Scenario(lambda day: EIGHT, 200.0),
    "ample": Scenario(lambda day: THREE, 2000.0),
    "scarce": Scenario(lambda day: THREE, 60.0),
    "costs drift": Scenario(dearer, 300.0),
    "heavy costs": Scenario(lambda day: THREE, 300.0, shape=0.3),
    "few asks": Scenario(lambda day: THREE, 15.0, asks=50),
}


def program(arms: Arms, each: float) -> tuple[float, float]:
    """What an ask earns at most, spending so much on average, and the price: the linear program."""
    best, price = max((chance for chance, cost in arms.values() if cost <= each), default=0.0), 0.0
    for (low, cheap), (high, dear) in itertools.permutations(arms.values(), 2):
        if cheap <= each < dear:
            slope = (high - low) / (dear - cheap)
            if low + slope * (each - cheap) > best:
                best, price = low + slope * (each - cheap), slope
    return best, price


def times(nature: Any, asks: int) -> Any:
    """Times of a day, most of them around noon."""
    return np.sort(np.clip(nature.normal(0.55, 0.18, asks), 0.0, 0.999999))


def played(scenario: Scenario, url: str, seed: int, naive: bool) -> list[dict[str, float]]:
    """What each day earned and spent, how many asks were refused, and the price."""
    nature, now, result = np.random.default_rng(seed), [100 * DAY], []
    rest: Any = {"policy": "thompson"} if naive else {"budget": {"dollars": scenario.budget}}
    with closing(Storage(url)) as storage:
        study = open_study(
            f"{seed}{naive}",
            list(scenario.arms(0)),
            storage=storage,
            clock=lambda: now[0],
            seed=seed,
            **rest,
        )
        for day in range(scenario.days):
            row = {"earned": 0.0, "spent": 0.0, "refused": 0.0, "price": 0.0}
            for at in times(nature, scenario.asks):
                now[0] = DAY * (100 + day + at)
                if naive and row["spent"] >= scenario.budget:
                    row["refused"] += 1
                    continue
                try:
                    ticket = study.ask()
                except BudgetError:
                    row["refused"] += 1
                    continue
                chance, cost = scenario.arms(day)[str(ticket.arm)]
                cost *= float(nature.gamma(scenario.shape)) / scenario.shape
                reward = float(nature.random() < chance)
                study.tell(ticket, reward, metrics={"dollars": cost})
                row["earned"] += reward
                row["spent"] += cost
            if not naive:
                row["price"] = study.spending()["price"][-1]
            result.append(row)
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", choices=sorted(SCENARIOS), default=None)
    given = parser.parse_args()
    print(f"{'':14}{'of the LP':>10}{'first day':>10}{'until spent':>12}{'dearest day':>12}"
          f"{'refused':>9}{'price':>8}{'of the LP':>10}")  # fmt: skip
    for name, scenario in SCENARIOS.items():
        if given.only not in (None, name):
            continue
        each = scenario.budget / scenario.asks
        programs = [program(scenario.arms(day), each) for day in range(scenario.days)]
        best = np.array([one for one, _ in programs]) * scenario.asks
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/studies.db?synchronous=normal"
            priced = [played(scenario, url, seed, False) for seed in range(given.seeds)]
            naive = [played(scenario, url, seed, True) for seed in range(given.seeds)]
        earned = np.array([[day["earned"] for day in days] for days in priced]).mean(axis=0)
        until = np.array([[day["earned"] for day in days] for days in naive]).mean(axis=0)
        rows = list(itertools.chain(*priced))
        spent = max(day["spent"] for day in rows) / scenario.budget
        refused = sum(day["refused"] for day in rows) / (len(rows) * scenario.asks)
        price = np.mean([days[-1]["price"] for days in priced])
        print(f"{name:14}{earned[1:].sum() / best[1:].sum():>10.1%}{earned[0] / best[0]:>10.1%}"
              f"{until[1:].sum() / best[1:].sum():>12.1%}{spent:>12.1%}{refused:>9.1%}"
              f"{price:>8.3f}{programs[-1][1]:>10.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
