"""How many calls a race of candidates saves, and how often its answer is wrong.

`python -m benchmarks.racing` races candidates over items that differ in how hard they are, and
prints per scenario the share of calls that were made (all candidates on all items: 100 %), with
items shared by the candidates, and with other items for each of them (`unpaired`, by the same
bets); how often the best one was named, a tie, or a wrong one; and how often the candidate with the
largest mean over all items is another one than the best.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from belman.analysis import Race, Raced


class Scenario(NamedTuple):
    """Skills of candidates, how far apart the difficulty of items is, and a negligible difference;
    `noise` is the share of an answer that is luck, the rest the item decides.
    """

    skills: tuple[float, ...]
    spread: float = 2.0
    epsilon: float = 0.05
    noise: float = 1.0


SCENARIOS = {
    "two, far apart": Scenario((0.0, 1.5)),
    "two, near": Scenario((0.0, 0.6)),
    "two, hard items": Scenario((0.0, 0.6), spread=4.0, noise=0.3),
    "six prompts": Scenario((0.0, 0.2, 0.4, 0.6, 0.8, 2.0)),
    "A/A": Scenario((0.0, 0.0)),
    "A/A, steady": Scenario((0.0, 0.0), spread=4.0, noise=0.1),
    "six, all alike": Scenario((0.0,) * 6, noise=0.3),
    "a tie of two": Scenario((0.0, 1.5, 1.5), spread=4.0, noise=0.2),
}


def scores(scenario: Scenario, items: int, seed: int) -> Any:
    """Scores of 0 and 1, of which part of the luck is the item's."""
    nature = np.random.default_rng(seed)
    hard = nature.normal(0.0, scenario.spread, (items, 1))
    chance = 1.0 / (1.0 + np.exp(hard - np.asarray(scenario.skills)))
    own, shared = nature.random((items, len(scenario.skills))), nature.random((items, 1))
    luck = np.where(nature.random(own.shape) < scenario.noise, own, shared)
    return (luck < chance).astype(float)


def raced(told: Any, delta: float, epsilon: float) -> Raced:
    """Race over a table of scores."""
    result = Race(range(told.shape[1]), len(told), delta=delta, epsilon=epsilon)
    while (item := result.next()) is not None:
        result.tell({name: told[item, name] for name in result.left})
    return result.result()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--items", type=int, default=1500)
    parser.add_argument("--delta", type=float, default=0.05)
    given = parser.parse_args()
    print(f"{'':18}{'calls':>8}{'unpaired':>10}{'best':>7}{'tie':>7}{'open':>7}{'wrong':>7}"
          f"{'all items wrong':>17}")  # fmt: skip
    for name, scenario in SCENARIOS.items():
        best = {i for i, one in enumerate(scenario.skills) if one == max(scenario.skills)}
        single = len(best) == 1
        result, apart, whole = [], [], []
        for seed in range(given.runs):
            told = scores(scenario, given.items, seed)
            result.append(raced(told, given.delta, scenario.epsilon))
            others = np.stack([np.roll(column, i) for i, column in enumerate(told.T)], 1)
            apart.append(raced(others, given.delta, scenario.epsilon))
            whole.append(single and int(told.mean(axis=0).argmax()) not in best)
        wrong = [
            (one.best is not None and (not single or one.best not in best))
            or (bool(one.tied) and not best & set(one.tied))
            for one in result
        ]
        named = [one.best is not None for one in result]
        tied = [bool(one.tied) for one in result]
        still = [not one.decided for one in result]
        calls, unpaired = (
            np.mean([one.calls / one.all_calls for one in of]) for of in (result, apart)
        )
        print(f"{name:18}{calls:>8.1%}{unpaired:>10.1%}{np.mean(named):>7.0%}{np.mean(tied):>7.0%}"
              f"{np.mean(still):>7.0%}{np.mean(wrong):>7.1%}{np.mean(whole):>17.1%}")  # fmt: skip


if __name__ == "__main__":
    main()
