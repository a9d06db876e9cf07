"""belman, as its guide to getting started does it."""

from __future__ import annotations

import os
import time
from typing import Any

import belman


def warm() -> None:
    """Wait for compiled code, which agents otherwise go over to after some seconds."""
    os.environ["BELMAN_COMPILE"] = "first"


class _Agent:
    def __init__(self, policy: Any, arms: int, seed: int) -> None:
        self.agent = belman.Agent(range(arms), policy=policy, seed=seed)
        self.ask, self.tell = self.agent.ask, self.agent.tell


PLAYERS = {
    "BelMan": lambda arms, seed: _Agent(belman.BelMan(), arms, seed),
    "Thompson": lambda arms, seed: _Agent(belman.Thompson(), arms, seed),
    "KL-UCB": lambda arms, seed: _Agent(belman.policies.KLUCB(), arms, seed),
}


def simulate(means: Any, horizon: int) -> dict[str, float]:
    """Turns per CPU-second of `belman.simulate`, on one thread."""
    rates, runs = {}, 200
    problem = belman.problems.bernoulli(means)
    policies = {
        "BelMan": belman.BelMan(),
        "Thompson": belman.Thompson(),
        "KL-UCB": belman.policies.KLUCB(),
    }
    for name, policy in policies.items():
        belman.simulate({name: policy}, problem, horizon, 1, workers=1, progress=False)
        times = []
        for _ in range(3):
            started = time.process_time()
            belman.simulate({name: policy}, problem, horizon, runs, workers=1, progress=False)
            times.append(time.process_time() - started)
        rates[name] = runs * horizon / min(times)
    return rates
