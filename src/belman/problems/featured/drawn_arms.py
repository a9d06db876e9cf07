"""Arms whose features are drawn: on the unit sphere or in a box, once a run or anew every turn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.errors import SettingError, listing
from belman.models import Block
from belman.models.shared import dot
from belman.problems.featured.featured import Featured, SceneKernels
from belman.problems.problem import Floats
from belman.validate import require_number, require_whole

SCALE, LENGTH, BOX, MISFIT, INTERCEPT = 0, 1, 2, 3, 4  # of numbers
_SHAPES = ("sphere", "box")


@kernel
def draw_features(numbers, world, features):
    """The features of one arm."""
    first = int(numbers[INTERCEPT])
    if first:
        features[0] = 1.0
    total = 0.0
    for i in range(first, features.size):
        if numbers[BOX] > 0.0:
            features[i] = numbers[LENGTH] * (2.0 * chance.uniform(world) - 1.0)
        else:
            features[i] = chance.normal(world)
            total += features[i] * features[i]
    if numbers[BOX] == 0.0:
        for i in range(first, features.size):
            features[i] *= numbers[LENGTH] / math.sqrt(max(total, 1e-300))


@kernel
def begin(numbers, table, world, truth):
    """θ, then what every arm has that its features do not tell, then features if they stay."""
    size, arms = int(table[0, 0]), int(table[0, 1])
    for i in range(size):
        truth[i] = numbers[SCALE] * chance.normal(world)
    for a in range(arms):
        truth[size + a] = numbers[MISFIT] * chance.normal(world)
    if table[0, 2] > 0.0:
        for a in range(arms):
            start = size + arms + a * size
            draw_features(numbers, world, truth[start : start + size])


@kernel
def meet(numbers, table, world, truth, features, eta):
    size, arms = features.shape[1], len(features)
    for a in range(arms):
        if table[0, 2] > 0.0:
            start = size + arms + a * size
            for i in range(size):
                features[a, i] = truth[start + i]
        else:
            draw_features(numbers, world, features[a])
        eta[a] = dot(features[a], truth[:size]) + truth[size + a]


SCENE = SceneKernels(begin, meet)


@dataclass(frozen=True, kw_only=True)
class DrawnArms(Featured):
    """Arms whose features are drawn, once in every run; made by `unit_ball` and `russo_van_roy`.

    θ is drawn from N(0, scale²) in every run, and players believe so.

    Parameters
    ----------
    family
        The family of the rewards of one arm; by default that of the model.
    model
        The model of rewards; by default linear.
    number
        The number of arms.
    dimension
        The number of features, at most 5,000, an intercept included.
    shape
        "sphere" for features in a random direction, "box" for features drawn uniformly one by one.
    length
        The length of the features on a sphere; in a box each is between −length and length.
    scale
        The standard deviation of each number of θ.
    intercept
        Whether the first feature of every arm is 1.
    misfit
        The standard deviation of what the worth of an arm has that its features do not tell.

    >>> DrawnArms(number=20, dimension=5).arms
    20
    """

    number: int
    dimension: int
    shape: str = "sphere"
    length: float = 1.0
    scale: float = 1.0
    intercept: bool = False
    misfit: float = 0.0

    scene = SCENE

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("number", self.number, 1)
        require_whole("dimension", self.dimension, 1 + self.intercept, 5_000)
        if self.shape not in _SHAPES:
            raise SettingError(f"unknown shape {self.shape!r}: there are {listing(_SHAPES)}")
        for name in ("length", "scale", "misfit"):
            require_number(name, getattr(self, name))

    @property
    def arms(self) -> int:
        return self.number

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (Block(self.dimension, self.scale),)

    @property
    def numbers(self) -> Floats:
        box = float(self.shape == "box")
        return np.array([self.scale, self.length, box, self.misfit, float(self.intercept)])

    @property
    def table(self) -> Floats:
        return np.array([[float(self.dimension), float(self.number), float(self.stays)]])

    @property
    def truth_size(self) -> int:
        return self.dimension + self.number + self.stays * self.number * self.dimension


@dataclass(frozen=True, kw_only=True)
class ChangingArms(DrawnArms):
    """As `DrawnArms`, with features that are drawn anew at every turn; made by `changing_arms`.

    Parameters
    ----------
    family
        The family of the rewards of one arm; by default that of the model.
    model
        The model of rewards; by default linear.
    number
        The number of arms.
    dimension
        The number of features, at most 5,000, an intercept included.
    shape
        "sphere" for features in a random direction, "box" for features drawn uniformly one by one.
    length
        The length of the features on a sphere; in a box each is between −length and length.
    scale
        The standard deviation of each number of θ.
    intercept
        Whether the first feature of every arm is 1.
    misfit
        The standard deviation of what the worth of an arm has that its features do not tell; it
        stays throughout a run.

    >>> ChangingArms(number=20, dimension=5).stays
    False
    """

    stays = False
