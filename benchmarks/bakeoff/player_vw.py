"""Vowpal Wabbit: its own simulation of bandits from labels (`--cbify`), costs −1 and 0.

These costs served it best in the published bake-off, and do on the development tables here. A
number is `name:value` (it normalises by itself), a category `name=level`. Each way of exploring
plays at the default learning rate and at four others.
"""

from __future__ import annotations

from typing import Any

from vowpalwabbit import Workspace

from benchmarks.bakeoff.tables import Table

DEFAULT_RATE = 0.5
RATES = (0.02, 0.1, DEFAULT_RATE, 2.5, 12.5)
_RANGE = "--cb_min_cost -1 --cb_max_cost 0"
WAYS = {
    "squarecb": f"--squarecb {_RANGE}",
    "squarecb, pairs": f"--squarecb {_RANGE} --interactions ::",
    "regcb, optimistic": f"--regcbopt {_RANGE}",
    "cover": "--cover 16 --psi 0.1 --nounif",
    "ε-greedy": "--epsilon 0.05",
}


class _Player:
    """Learns from the class when it is asked, as `--cbify` hands the learner the cost of the action
    that it drew and nothing else.
    """

    def __init__(self, table: Table, seed: int, way: str, rate: float) -> None:
        self.table = table
        start = f"--cbify {table.arms} --cb_explore_adf --loss0 -1 --loss1 0 --quiet"
        self.learner = Workspace(f"{start} --random_seed {seed} -l {rate} {way}")

    def ask(self, place: int) -> int:
        values = " ".join(
            f"{name}:{value}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.table.rows[place].items()
        )
        example: Any = self.learner.parse(f"{self.table.classes[place] + 1} | {values}")
        self.learner.learn(example)
        arm = int(example.get_prediction()) - 1
        self.learner.finish_example(example)
        return arm

    def tell(self, place: int, arm: int, reward: int) -> None:
        """Nothing is left to learn."""


PLAYERS = {
    way if rate == DEFAULT_RATE else f"{way}, rate {rate}": lambda table, seed, o=options, r=rate: (
        _Player(table, seed, o, r)
    )
    for way, options in WAYS.items()
    for rate in RATES
}
