"""Parts of a user's own, in a module that can be imported: a policy, an exposure, a family, a
problem, a player in plain Python and a function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from belman.engine import kernel
from belman.exposure import Exposure, Infinite
from belman.families import Bernoulli
from belman.policies import Policy, Thompson
from belman.problems import Stationary


def tau(turn: int) -> float:
    return 3.0 / turn


@kernel
def half(x):
    return 0.5 * x


@dataclass(frozen=True)
class Steady(Exposure):
    level: float = 2.0

    name = "steady"

    def pull(self, turns, arms):
        return np.full(np.shape(turns), self.level)


@dataclass(frozen=True)
class Layered(Thompson):
    """Settings of all kinds that a description may hold."""

    words: tuple[str, ...] = ("inf", "plain")
    listed: list[float] = field(default_factory=lambda: [1.0, math.inf])
    table: dict[str, object] = field(default_factory=lambda: {"a": 1, "b": (None, True)})
    inside: Policy | str = "belman"
    either: Policy | Exposure = field(default_factory=Infinite)
    several: tuple[Policy | Exposure, ...] = (Thompson(), Infinite())
    called: object = half

    name = "thompson"


@dataclass(frozen=True)
class Coin(Bernoulli):
    """A family by the name of another."""


@dataclass(frozen=True)
class Fixed(Stationary):
    pass


@dataclass(frozen=True)
class Forgetful(Exposure):
    """Keeps not what it was given."""

    level: float = 2.0

    name = "forgetful"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", self.level + 1.0)

    def pull(self, turns, arms):
        return np.full(np.shape(turns), self.level)


class Alternate:
    """A player in plain Python."""

    def __init__(self, arms, seed):
        self.arms, self.turn = arms, 0

    def ask(self):
        self.turn += 1
        return self.turn % self.arms

    def tell(self, arm, reward):
        pass
