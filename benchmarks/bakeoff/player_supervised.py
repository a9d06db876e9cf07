"""Limits: learners that see the right class of every row, whatever they answered.

A learner is fitted anew, to all rows so far, after 20 rows and then whenever these are half as many
again, and answers the rows until the next fit; before the first, it answers the commonest class.
Numbers are standardised ahead, and categories are a column a level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.bakeoff.tables import Table

FIRST, GROWTH = 20, 1.5


class _Player:
    def __init__(self, table: Table, seed: int, learner: Any) -> None:
        self.contexts, self.classes = table.dense, table.classes
        self.learner, self.until = learner, FIRST
        self.seen = np.zeros(table.arms)

    def ask(self, place: int) -> int:
        if place == self.until:
            self.until = int(np.ceil(self.until * GROWTH))
            known = self.classes[:place]
            if len(set(known.tolist())) > 1:
                self.learner.fit(self.contexts[:place], known)
                self.answers = self.learner.predict(self.contexts[place : self.until])
            else:
                self.answers = np.full(self.until - place, known[0])
            self.since = place
        if place < FIRST:
            return int(self.seen.argmax())
        return int(self.answers[place - self.since])

    def tell(self, place: int, arm: int, reward: int) -> None:
        self.seen[self.classes[place]] += 1


PLAYERS = {
    "logistic regression": lambda table, seed: _Player(
        table, seed, LogisticRegression(max_iter=1_000)
    ),
    "random forest": lambda table, seed: _Player(
        table, seed, RandomForestClassifier(random_state=seed)
    ),
}
