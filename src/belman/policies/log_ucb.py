"""The bound inside Q-UCB (Krishnasamy et al., 2016): argmax_a μ̂_a + sqrt((ln t)^e / (2 n_a))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.policies.bounded import Bounded
from belman.policies.policy import Floats
from belman.policies.settings import MOST_EXPONENT, is_number, require
from belman.policies.ucb1 import KERNELS, Memory


@dataclass(frozen=True)
class LogUCB(Bounded):
    """UCB1 with the bonus sqrt((ln t)^e / (2 n_a)): e is 2 in the codes of Q-UCB, 3 in its theory.

    >>> LogUCB()
    LogUCB(range=None, exponent=2.0)
    """

    exponent: float = 2.0

    name = "log-ucb"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = is_number(self.exponent) and 0.0 < self.exponent <= MOST_EXPONENT
        require(self, "exponent", fits, f"a positive number up to {MOST_EXPONENT:g}")

    def memory(self, arms: int, dimension: int) -> Memory:
        return Memory(np.zeros(arms), np.zeros(arms))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """sqrt((ln t)^e / 2)."""
        return np.sqrt(0.5 * np.log(turns) ** self.exponent)
