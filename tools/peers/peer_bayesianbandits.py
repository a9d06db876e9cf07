"""bayesianbandits: arms with Bayesian learners, `pull` and `update` of an agent."""

from __future__ import annotations

import numpy as np
from bayesianbandits import Agent, Arm, DirichletClassifier, ThompsonSampling


def _success(chances):
    return np.asarray(chances)[..., 1]


class _Player:
    def __init__(self, arms: int, seed: int) -> None:
        learners = [DirichletClassifier({0: 1.0, 1: 1.0}) for _ in range(arms)]
        self.agent = Agent(
            [Arm(arm, reward_function=_success, learner=each) for arm, each in enumerate(learners)],
            ThompsonSampling(),
            random_seed=seed,
        )

    def ask(self) -> int:
        return int(self.agent.pull()[0])

    def tell(self, arm: int, reward: int) -> None:
        self.agent.select_for_update(arm)
        self.agent.update(np.array([reward]))


PLAYERS = {"Thompson": _Player}
