"""The two halves of a window (Cao, Wen, Kveton and Xie, 2019): M-UCB's test of a change.

There is one if the sums of the last w/2 rewards of an arm and of the w/2 before them differ by more
than `bar`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import kernel
from belman.families.family import Family
from belman.policies.detector import Detector
from belman.policies.policy import Floats
from belman.policies.settings import is_number, is_whole

_MOST = 100_000


@kernel
def watch(family, law, params, marks, state, reward):
    """Take in a reward: both sums are kept, and so are the rewards, in a ring."""
    size = state.size - 2
    half = size // 2
    place = int(marks[0]) % size
    middle = (place + half) % size
    # what leaves the newer half joins the older one, and its oldest is gone
    state[1] += state[2 + middle] - state[2 + place]
    state[0] += reward - state[2 + middle]
    state[2 + place] = reward
    marks[0] += 1.0
    return marks[0] >= size and abs(state[0] - state[1]) > params[0]


@dataclass(frozen=True)
class WindowTest(Detector):
    """The sums of the two halves of the last `last` rewards of an arm differ by more than `bar`.

    >>> WindowTest(last=100, bar=20.0)
    WindowTest(last=100, bar=20.0)
    """

    last: int = 200
    bar: float = 40.0

    name = "window-test"
    watch = watch

    def __post_init__(self) -> None:
        fits = is_whole(self.last, 2) and self.last <= _MOST and self.last % 2 == 0
        self._require("last", fits, f"an even number from 2 to {_MOST:,}")
        self._require("bar", is_number(self.bar) and self.bar >= 0.0, "a number from 0 up")

    @property
    def size(self) -> int:
        return 2 + self.last

    def params(self, family: Family) -> Floats:
        return np.array([float(self.bar)])
