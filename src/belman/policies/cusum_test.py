"""Two-sided CUSUM (Liu, Lee and Shroff, 2018): a walk that drifts down until the mean has moved.

The first `basis` rewards give μ̂. From then on g⁺ = max(0, g⁺ + x − μ̂ − ε), and g⁻ is the same of
μ̂ − x; there is a change where either reaches `bar`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.detector import Detector
from belman.policies.policy import Floats
from belman.policies.settings import is_number, is_whole


@kernel
def watch(family, law, params, marks, state, reward):
    """Take in a reward: of the basis, or a step of both walks."""
    if marks[0] < params[0]:
        marks[0] += 1.0
        state[0] += reward
        return False
    apart = reward - state[0] / marks[0]
    state[1] = max(0.0, state[1] + apart - params[1])
    state[2] = max(0.0, state[2] - apart - params[1])
    return max(state[1], state[2]) >= params[2]


@dataclass(frozen=True)
class CUSUMTest(Detector):
    """The mean of the first `basis` rewards has moved by more than `slack`, in the rewards' units.

    >>> CUSUMTest(bar=8.0)
    CUSUMTest(basis=50, slack=0.1, bar=8.0)
    """

    basis: int = 50
    slack: float = 0.1
    bar: float = 10.0

    name = "cusum-test"
    watch = watch

    def __post_init__(self) -> None:
        self._require("basis", is_whole(self.basis, 1), "a whole number from 1 up")
        for name, least in (("slack", 0.0), ("bar", 0.0)):
            value = getattr(self, name)
            self._require(name, is_number(value) and value >= least, "a number from 0 up")

    @property
    def size(self) -> int:
        return 3

    def params(self, family: Family) -> Floats:
        return np.array([float(self.basis), float(self.slack), float(self.bar)])
