"""SMPyBandits: `choice` and `getReward` of its policies."""

from __future__ import annotations

import numpy as np
from SMPyBandits.Policies import Thompson, klUCB


class _Player:
    def __init__(self, kind, arms: int, seed: int) -> None:
        np.random.seed(seed)  # noqa: NPY002 (it draws from the global generator)
        self.policy = kind(arms)
        self.policy.startGame()

    def ask(self) -> int:
        return int(self.policy.choice())

    def tell(self, arm: int, reward: int) -> None:
        self.policy.getReward(arm, reward)


PLAYERS = {
    "Thompson": lambda arms, seed: _Player(Thompson, arms, seed),
    "KL-UCB": lambda arms, seed: _Player(klUCB, arms, seed),
}
