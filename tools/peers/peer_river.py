"""river: `pull` and `update` of its bandit policies."""

from __future__ import annotations

from river import bandit, proba


class _Player:
    def __init__(self, policy, arms: int) -> None:
        self.policy, self.arms = policy, list(range(arms))

    def ask(self) -> int:
        return self.policy.pull(self.arms)

    def tell(self, arm: int, reward: int) -> None:
        self.policy.update(arm, reward)


PLAYERS = {
    "Thompson": lambda arms, seed: _Player(
        bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed), arms
    ),
    "UCB": lambda arms, seed: _Player(bandit.UCB(delta=1, seed=seed), arms),
}
