"""MABWiser: `fit` on what was tried first, then `predict` and `partial_fit`.

It predicts nothing before it was fitted. Thompson is fitted to the first turn; UCB1, which never
tries an arm that it was not fitted to, to one turn of every arm.
"""

from __future__ import annotations

from mabwiser.mab import MAB, LearningPolicy


class _Player:
    def __init__(self, policy, arms: int, seed: int, first: int) -> None:
        self.mab, self.first = MAB(list(range(arms)), policy, seed=seed), first
        self.tried: list[tuple[int, int]] = []

    def ask(self) -> int:
        return len(self.tried) if len(self.tried) < self.first else self.mab.predict()

    def tell(self, arm: int, reward: int) -> None:
        if len(self.tried) < self.first:
            self.tried.append((arm, reward))
            if len(self.tried) == self.first:
                arms, rewards = zip(*self.tried, strict=True)
                self.mab.fit(list(arms), list(rewards))
        else:
            self.mab.partial_fit([arm], [reward])


PLAYERS = {
    "Thompson": lambda arms, seed: _Player(LearningPolicy.ThompsonSampling(), arms, seed, 1),
    "UCB1": lambda arms, seed: _Player(LearningPolicy.UCB1(alpha=1.0), arms, seed, arms),
}
