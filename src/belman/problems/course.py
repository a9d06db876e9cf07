"""The contract of worlds of arms: what a run is about, when it changes, what an arm gives.

A *course* is a bundle of three kernels, and what they keep of a run. All that is random in them is
drawn from the world of the run alone, so that all players meet the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine import Bundle, inlined_kernel, kernel

Floats = NDArray[np.float64]
#: No turn: of worlds that change no more.
NEVER = 2**62


class Course(NamedTuple):
    """A run as it is now, of K arms."""

    theta: Floats  # (K, P) the parameters of every arm; NaN if it is not there
    means: Floats  # (K) and its mean
    fresh: NDArray[np.bool_]  # (K) whether it is another one than before: its place is taken
    state: Floats  # what else the world keeps

    @classmethod
    def blank(cls, arms: int, parameters: int, state: int) -> Course:
        """Make room for the arms, their parameters and the numbers of the world."""
        return cls(
            np.zeros((arms, parameters)),
            np.zeros(arms),
            np.zeros(arms, dtype=np.bool_),
            np.zeros(state),
        )


@inlined_kernel
def drawn(family, constants, numbers, table, course, arm, turn, uniform):
    """What is told and what is earned: a reward of the arm's distribution."""
    value = family.reward(constants, course.theta[arm], uniform)
    return value, value


@dataclass(frozen=True)
class CourseKernels(Bundle):
    """What compiled code needs of a world, where … stands for family, constants, numbers, table.

    | kernel | what it does |
    |---|---|
    | `begin(…, rng, course)` | draws what a run is about |
    | `move(…, rng, course, turn)` | makes it that of a turn; gives the next turn to be called at |
    | `earn(…, course, arm, turn, uniform)` | gives what is told and what is earned |
    """

    begin: Callable[..., Any]
    move: Callable[..., Any]
    earn: Callable[..., Any] = drawn


@kernel
def draw_arm(family, constants, world, generator, row):
    """θ of an arm from the belief that heads `world`, which ends with where 0 and 1 scale to."""
    low, high = world[world.size - 2], world[world.size - 1]
    family.sample(constants, world[: world.size - 2], generator, row)
    if low != 0.0 or high != 1.0:
        row[0] = low + row[0] * (high - low)


@kernel
def draw_world(family, constants, world, generator, theta):
    """θ of every arm."""
    for a in range(len(theta)):
        draw_arm(family, constants, world, generator, theta[a])


@kernel
def fill_means(family, constants, theta, means):
    """Fill the mean of every arm; an arm that is not there has none."""
    for a in range(means.size):
        means[a] = family.mean(constants, theta[a])


@kernel
def best_of(means):
    """The largest mean of those that are there."""
    best = -np.inf
    for a in range(means.size):
        if means[a] > best:
            best = means[a]
    return best


# Arms that stay: given, or drawn once a run


@kernel
def begin_fixed(family, constants, numbers, table, rng, course):
    """Numbers: how many those of a world are, if arms are drawn, and these."""
    size = int(numbers[0])
    if size > 0:
        draw_world(family, constants, numbers[1 : 1 + size], rng, course.theta)
    else:
        for a in range(len(course.theta)):
            for i in range(course.theta.shape[1]):
                course.theta[a, i] = table[0, a, i]


@kernel
def stay(family, constants, numbers, table, rng, course, turn):
    fill_means(family, constants, course.theta, course.means)
    return NEVER


FIXED = CourseKernels(begin_fixed, stay)
