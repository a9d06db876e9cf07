"""A policy at a table, interpreted: its kernels are called as Python, and nothing is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from belman import chance
from belman.families import Family
from belman.policies import Ledger, Policy
from belman.policies.ledger import record
from belman.policies.policy_kernels import pick


class Seat:
    """A policy with a ledger, a memory and a mind of its own."""

    def __init__(self, policy: Policy, family: Family, arms: int, seed: int = 1) -> None:
        self.policy, self.family, self.arms = policy, family, arms
        self.kernels, self.constants = policy.kernels, family.constants
        self.params = policy.params(family)
        self.ledger = Ledger.blank(np.tile(np.array(family.prior), (arms, 1)))
        self.memory = policy.memory(arms, family.dimension)
        self.rng = chance.generator(seed)
        self.index = np.zeros(arms)
        for arm in range(arms):
            self.refresh(arm)

    def _seen(self) -> tuple[Any, ...]:
        return self.family.kernels, self.constants, self.params, self.ledger, self.memory

    def _clock(self, turn: int) -> tuple[int, float]:
        values = self.policy.turn_values(np.array([float(turn)]), self.arms)
        return turn, float(values[0])

    def refresh(self, arm: int) -> None:
        with np.errstate(all="ignore"):
            self.kernels.refresh(*self._seen(), arm)

    def indices(self, turn: int, closed: tuple[int, ...] = ()) -> np.ndarray:
        self.index[:] = 0.0
        self.index[list(closed)] = np.nan
        with np.errstate(all="ignore"):
            self.kernels.indices(*self._seen(), *self._clock(turn), self.rng, self.index)
        self.index[list(closed)] = np.nan
        return self.index

    def ask(self, turn: int, closed: tuple[int, ...] = ()) -> int:
        arm, self.ties = pick(self.indices(turn, closed), self.rng)
        return int(arm)

    def propensity(self, turn: int, arm: int, closed: tuple[int, ...] = ()) -> float:
        shut = np.isin(np.arange(self.arms), closed) if closed else np.zeros(0, dtype=bool)
        with np.errstate(all="ignore"):
            return float(
                self.kernels.propensity(*self._seen(), *self._clock(turn), shut, arm, self.ties)
            )

    def tell(self, arm: int, reward: float) -> None:
        with np.errstate(all="ignore"):
            record(self.family.kernels, self.constants, self.ledger, arm, reward)
            self.kernels.learn(*self._seen(), arm, reward)
        self.refresh(arm)


def lost(player: Any, means: list[float], turns: int, rng: np.random.Generator) -> float:
    """The regret of a player with `ask(turn)` and `tell(arm, reward)` at coins."""
    total = 0.0
    for turn in range(1, turns + 1):
        arm = player.ask(turn)
        total += max(means) - means[arm]
        player.tell(arm, float(rng.random() < means[arm]))
    return total


def taught(policy: Policy, family: Family, rewards: list[list[float]]) -> Seat:
    """A seat that was told these rewards, arm by arm."""
    seat = Seat(policy, family, len(rewards))
    for arm, row in enumerate(rewards):
        for reward in row:
            seat.tell(arm, reward)
    return seat
