"""contextualbandits: online policies for contexts, here with a constant one.

Its bootstraps around a classifier take tens of milliseconds a turn, so linear Thompson sampling
stands for it.
"""

from __future__ import annotations

import numpy as np
from contextualbandits.online import LinTS

ALWAYS = np.ones((1, 1))


class _Player:
    def __init__(self, arms: int, seed: int) -> None:
        self.policy = LinTS(nchoices=arms, random_state=seed)

    def ask(self) -> int:
        return int(self.policy.predict(ALWAYS)[0])

    def tell(self, arm: int, reward: int) -> None:
        self.policy.partial_fit(ALWAYS, np.array([arm]), np.array([reward]))


PLAYERS = {"linear Thompson": _Player}
