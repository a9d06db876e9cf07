"""Contexts that change every turn, and arms that answer them alike, each its own way, or both."""

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

CONTEXT, SHARED, OWN, MISFIT = 0, 1, 2, 3  # of numbers: the size of contexts, and two scales
POOLINGS = ("disjoint", "hybrid")


@kernel
def lay_out(context, shared, features):
    """The features of every arm: the context in the arm's own block, after a block that all share.

    The shared block is the context for all arms, times a number of the arm's.
    """
    size, arms = context.size, len(features)
    first = size if shared.size > 0 else 0
    for a in range(arms):
        for i in range(features.shape[1]):
            features[a, i] = 0.0
        for i in range(size):
            features[a, first + a * size + i] = context[i]
            if first:
                features[a, i] = context[i] * shared[a]


@kernel
def begin(numbers, table, world, truth):
    """θ by blocks, then what of every arm the shared block is multiplied by, then misfits."""
    size, arms = int(numbers[CONTEXT]), int(table[0, 0])
    first = size if numbers[SHARED] > 0.0 else 0
    for i in range(first):
        truth[i] = numbers[SHARED] * chance.normal(world)
    for i in range(first, first + arms * size):
        truth[i] = numbers[OWN] * chance.normal(world)
    end = first + arms * size
    for a in range(arms):
        truth[end + a] = 2.0 * chance.uniform(world) - 1.0
        truth[end + arms + a] = numbers[MISFIT] * chance.normal(world)


@kernel
def meet(numbers, table, world, truth, features, eta):
    size, arms = int(numbers[CONTEXT]), len(features)
    end = features.shape[1]
    context = truth[end + 2 * arms : end + 2 * arms + size]
    context[0] = 1.0
    for i in range(1, size):
        context[i] = chance.normal(world) / math.sqrt(size - 1.0)
    many = arms if numbers[SHARED] > 0.0 else 0
    lay_out(context, truth[end : end + many], features)
    for a in range(arms):
        bent = context[size - 1] * context[size - 1]
        eta[a] = dot(features[a], truth[:end]) + truth[end + arms + a] * bent


SCENE = SceneKernels(begin, meet)


@dataclass(frozen=True, kw_only=True)
class ContextArms(Featured):
    """Arms that answer a context, which is drawn at every turn: a 1, and numbers from N(0, 1/(size
    − 1)).

    An arm answers by coefficients of its own, drawn anew in every run.

    Parameters
    ----------
    family
        The family of the rewards of one arm; by default that of the model.
    model
        The model of rewards; by default linear.
    number
        The number of arms, at most 5,000.
    size
        How many numbers a context has, from 2 to 5,000. The first is always 1.
    pooling
        "disjoint" if an arm answers by its own coefficients alone; "hybrid" adds coefficients that
        all arms share, times a number of the arm's from −1 to 1.
    shared_scale
        The standard deviation of the shared coefficients.
    own_scale
        The standard deviation of an arm's own coefficients.
    misfit
        The standard deviation of how much the square of the last number counts for an arm, which no
        feature tells.

    >>> ContextArms(number=5, size=4, pooling="hybrid").features
    24
    """

    number: int
    size: int
    pooling: str = "disjoint"
    shared_scale: float = 1.0
    own_scale: float = 1.0
    misfit: float = 0.0

    scene = SCENE
    stays = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("number", self.number, 1, 5_000)
        require_whole("size", self.size, 2, 5_000)
        if self.pooling not in POOLINGS:
            raise SettingError(f"unknown pooling {self.pooling!r}: there are {listing(POOLINGS)}")
        for name in ("shared_scale", "own_scale"):
            require_number(name, getattr(self, name), 1e-9)
        require_number("misfit", self.misfit)

    @property
    def arms(self) -> int:
        return self.number

    @property
    def blocks(self) -> tuple[Block, ...]:
        own = Block(self.number * self.size, self.own_scale)
        return (Block(self.size, self.shared_scale), own) if self.pooling == "hybrid" else (own,)

    @property
    def numbers(self) -> Floats:
        shared = self.shared_scale if self.pooling == "hybrid" else 0.0
        return np.array([float(self.size), shared, self.own_scale, self.misfit])

    @property
    def table(self) -> Floats:
        return np.array([[float(self.number)]])

    @property
    def truth_size(self) -> int:
        return self.features + 2 * self.number + self.size
