"""pymab: policies with `select_action` and `update`, and its own compiled experiments."""

from __future__ import annotations

import time

import numpy as np
import pymab
from pymab import policies

KINDS = {"Thompson": "BernoulliThompsonSamplingPolicy", "KL-UCB": "KLUCBPolicy"}


class _Player:
    def __init__(self, name: str, arms: int, seed: int) -> None:
        self.policy = getattr(policies, KINDS[name])(n_arms=arms)
        self.rng = np.random.default_rng(seed)

    def ask(self) -> int:
        return self.policy.select_action(rng=self.rng)

    def tell(self, arm: int, reward: int) -> None:
        self.policy.update(action=arm, reward=float(reward))


PLAYERS = {name: lambda arms, seed, name=name: _Player(name, arms, seed) for name in KINDS}


def simulate(means, horizon: int) -> dict[str, float]:
    """Turns per CPU-second of its experiments."""
    rates, runs = {}, 20
    for name, kind in KINDS.items():
        experiment = pymab.Experiment(
            environment=pymab.BanditEnvironment(np.array(means), pymab.BernoulliReward()),
            policies={name: getattr(policies, kind)(n_arms=len(means))},
            config=pymab.ExperimentConfig(horizon=horizon, n_replicates=runs, seed=1),
        )
        times = []
        for _ in range(3):
            started = time.process_time()
            experiment.run()
            times.append(time.process_time() - started)
        rates[name] = runs * horizon / min(times)
    return rates
