"""MABWiser: `fit` on what was tried first, then `predict` and `partial_fit`."""

from __future__ import annotations

from mabwiser.mab import MAB, LearningPolicy

PACKAGE = "mabwiser"


class _Player:
    def __init__(self, policy, arms: int, seed: int) -> None:
        self.mab, self.arms = MAB(list(range(arms)), policy, seed=seed), arms
        self.first: list[tuple[int, int]] = []

    def ask(self) -> int:
        return len(self.first) if len(self.first) < self.arms else self.mab.predict()

    def tell(self, arm: int, reward: int) -> None:
        if len(self.first) < self.arms:
            self.first.append((arm, reward))
            if len(self.first) == self.arms:
                arms, rewards = zip(*self.first, strict=True)
                self.mab.fit(list(arms), list(rewards))
        else:
            self.mab.partial_fit([arm], [reward])


PLAYERS = {
    "Thompson": lambda arms, seed: _Player(LearningPolicy.ThompsonSampling(), arms, seed),
    "UCB1": lambda arms, seed: _Player(LearningPolicy.UCB1(alpha=1.0), arms, seed),
}
