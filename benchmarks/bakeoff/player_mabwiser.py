"""MABWiser: `fit` on one row of every arm, then `predict` and `partial_fit`, row by row.

It predicts nothing before it was fitted. Numbers are standardised ahead, by all rows of the pass,
and categories are a column a level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mabwiser.mab import MAB, LearningPolicy

from benchmarks.bakeoff.tables import Table


class _Player:
    def __init__(self, table: Table, seed: int, policy: Any) -> None:
        self.mab = MAB(list(range(table.arms)), policy, seed=seed)
        self.contexts, self.first = table.dense, table.arms
        self.rewards: list[int] = []

    def ask(self, place: int) -> int:
        return place if place < self.first else self.mab.predict(self.contexts[[place]])

    def tell(self, place: int, arm: int, reward: int) -> None:
        if place >= self.first:
            self.mab.partial_fit([arm], [reward], self.contexts[[place]])
            return
        self.rewards.append(reward)
        if place == self.first - 1:
            arms = list(range(self.first))
            self.mab.fit(arms, np.array(self.rewards), self.contexts[: self.first])


PLAYERS = {
    "LinUCB": lambda table, seed: _Player(table, seed, LearningPolicy.LinUCB()),
    "LinTS": lambda table, seed: _Player(table, seed, LearningPolicy.LinTS()),
}
