"""contextualbandits: linear policies learn row by row, those around a classifier in batches.

Around scikit-learn's logistic regression a policy is fitted anew to all rows so far, after fifty
and then whenever they are a fifth more; around stochastic gradients it learns every fifty rows, as
the library's guide does. Rows before the first batch are random. Numbers are standardised ahead, by
all rows of the pass, and categories are a column a level.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from contextualbandits.online import AdaptiveGreedy, BootstrappedUCB, LinTS, LinUCB, SoftmaxExplorer
from sklearn.linear_model import LogisticRegression, SGDClassifier

from benchmarks.bakeoff.tables import Table

FIFTY = 50


class _Player:
    """Answers rows ahead until it learns next: at `first`, then after `first` rows more, or where
    it is fitted anew (`again`) after a fifth more.
    """

    def __init__(self, table: Table, seed: int, make: Any, first: int, again: bool = False) -> None:
        self.policy = make(nchoices=table.arms, random_state=seed + 1)  # it takes no 0
        self.contexts, self.again, self.first = table.dense, again, first
        self.ahead = np.random.default_rng(seed).integers(table.arms, size=first)
        self.since, self.until = 0, first
        self.chosen: list[int] = []
        self.rewards: list[int] = []

    def ask(self, place: int) -> int:
        if place == self.until:
            learnt = slice(0 if self.again else self.since, place)
            told = np.array(self.chosen[learnt]), np.array(self.rewards[learnt])
            learn = self.policy.fit if self.again else self.policy.partial_fit
            learn(self.contexts[learnt], *told)
            self.since = place
            self.until += place // 5 if self.again else self.first
            ahead = self.contexts[place : self.until]
            self.ahead = np.asarray(self.policy.predict(ahead)).astype(int)
        return int(self.ahead[place - self.since])

    def tell(self, place: int, arm: int, reward: int) -> None:
        self.chosen.append(arm)
        self.rewards.append(reward)


def _refitted(policy: Any, table: Table, seed: int) -> _Player:
    make = partial(policy, LogisticRegression(max_iter=1_000), njobs=1)
    return _Player(table, seed, make, FIFTY, again=True)


def _streamed(policy: Any, table: Table, seed: int, **threads: int) -> _Player:
    learner = SGDClassifier(loss="log_loss", random_state=seed)
    return _Player(table, seed, partial(policy, learner, batch_train=True, **threads), FIFTY)


PLAYERS = {
    "LinUCB": lambda table, seed: _Player(table, seed, partial(LinUCB, njobs=1), 1),
    "LinTS": lambda table, seed: _Player(table, seed, partial(LinTS, njobs=1), 1),
    "softmax, refitted": partial(_refitted, SoftmaxExplorer),
    "adaptive greedy, refitted": partial(_refitted, AdaptiveGreedy),
    "softmax, streamed": partial(_streamed, SoftmaxExplorer, njobs=1),
    "bootstrapped UCB, streamed": partial(
        _streamed, BootstrappedUCB, njobs_arms=1, njobs_samples=1
    ),
}
