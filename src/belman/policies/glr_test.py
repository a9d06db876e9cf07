"""The generalised likelihood ratio test of a change (Besson, Kaufmann, Maillard and Seznec, 2022).

Of n rewards of an arm it asks whether two means explain them better than one: there is a change if
sup_s s d(μ̂_{1:s}, μ̂) + (n − s) d(μ̂_{s+1:n}, μ̂) ≥ ln(n^{3/2}/δ). The places s are kept on a grid of
bounded size, which grows coarser as n grows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.detector import Detector
from belman.policies.policy import Floats
from belman.policies.settings import is_number, is_whole

SPLITS = 256
SEEN, KEPT, STRIDE = 0, 1, 2  # marks
TOTAL, FIRST = 0, 1  # state: the sum so far, then the sums at each kept split


@kernel
def keep_split(marks, state):
    """Keep the sum so far as one at a split; where there are too many, every second one stays."""
    if marks[KEPT] >= SPLITS:
        half = SPLITS // 2
        for i in range(half):
            state[FIRST + i] = state[FIRST + 2 * i + 1]
        marks[KEPT] = half
        marks[STRIDE] = 2.0 * marks[STRIDE]
    if marks[SEEN] % marks[STRIDE] == 0.0:
        state[FIRST + int(marks[KEPT])] = state[TOTAL]
        marks[KEPT] += 1.0


@kernel
def watch(family, law, params, marks, state, reward):
    """Take in a reward; every so many rewards all splits that are kept are tried."""
    if marks[STRIDE] < 1.0:
        marks[STRIDE] = 1.0
    marks[SEEN] += 1.0
    state[TOTAL] += reward
    keep_split(marks, state)
    n, total = marks[SEEN], state[TOTAL]
    if n % params[1] != 0.0:
        return False
    mean = total / n
    bar = 1.5 * math.log(n) - math.log(params[0])
    for i in range(min(int(marks[KEPT]), SPLITS)):
        s = (i + 1.0) * marks[STRIDE]
        if s >= n:
            break
        first = state[FIRST + i]
        found = s * family.d(law, first / s, mean, 1.0)
        found += (n - s) * family.d(law, (total - first) / (n - s), mean, 1.0)
        if found >= bar:
            return True
    return False


@dataclass(frozen=True)
class GLRTest(Detector):
    """Two means explain the rewards better than one, at risk `delta`; tried `every` so many.

    >>> GLRTest(delta=0.01)
    GLRTest(delta=0.01, every=5)
    """

    delta: float = 0.01
    every: int = 5

    name = "glr-test"
    watch = watch

    def __post_init__(self) -> None:
        risk = is_number(self.delta) and 0.0 < self.delta < 1.0
        self._require("delta", risk, "a risk between 0 and 1")
        self._require("every", is_whole(self.every, 1), "a whole number from 1 up")

    @property
    def size(self) -> int:
        return FIRST + SPLITS

    def params(self, family: Family) -> Floats:
        return np.array([float(self.delta), float(self.every)])

    def check(self, family: Family) -> None:
        if not family.mean_fixes_law:
            why = f"the mean of {family.name} rewards does not fix their distribution"
            raise PolicyError(f"{self.name} compares distributions by their means: {why}")
