"""Worlds that change by chance, drawn anew in every run: jumps, walks, arms that come and go.

Means are positions from 0 to 1 on a table of parameters, straight in between, so that any family
can have them; arms that are renewed are drawn from a prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.engine import kernel
from belman.errors import SettingError
from belman.families import Bernoulli, Family
from belman.problems.course import (
    NEVER,
    CourseKernels,
    draw_arm,
    draw_world,
    fill_means,
)
from belman.problems.problem import Floats, Problem
from belman.problems.stationary import check_drawn
from belman.validate import require_number, require_whole

_POSITIONS = 257  # of the table of means


@kernel
def put(table, position, row):
    """θ of the mean at a position from 0 to 1 of the table."""
    x = position * (len(table) - 1.0)
    left = min(int(x), len(table) - 2)
    for i in range(row.size):
        row[i] = table[left, 0, i] + (x - left) * (table[left + 1, 0, i] - table[left, 0, i])


@kernel
def draw_all(table, rng, theta):
    for a in range(len(theta)):
        put(table, chance.uniform(rng), theta[a])


# Jumps. Numbers: horizon, changes, whether of all arms; state: changes left, turn of the next


@kernel
def next_jump(numbers, rng, course, turn):
    """The next of the changes that are left, all sets of turns being alike."""
    left, t = course.state[0], turn
    while left > 0.0:
        t += 1
        if (numbers[0] - t + 1.0) * chance.uniform(rng) < left:
            course.state[0] = left - 1.0
            return t
    return NEVER


@kernel
def begin_jumps(family, constants, numbers, table, rng, course):
    course.state[0] = numbers[1]
    draw_all(table, rng, course.theta)


@kernel
def jump(family, constants, numbers, table, rng, course, turn):
    if turn > 1:
        if numbers[2] > 0.0:
            draw_all(table, rng, course.theta)
        else:
            arm = chance.below(rng, len(course.theta))
            put(table, chance.uniform(rng), course.theta[arm])
    fill_means(family, constants, course.theta, course.means)
    return next_jump(numbers, rng, course, turn)


JUMPS = CourseKernels(begin_jumps, jump)


# Walks. Numbers: deviation of a step, turns between two; state: where every arm is, unfolded


@kernel
def begin_walks(family, constants, numbers, table, rng, course):
    for a in range(len(course.theta)):
        course.state[a] = chance.uniform(rng)


@kernel
def walk(family, constants, numbers, table, rng, course, turn):
    for a in range(len(course.theta)):
        if turn > 1:
            course.state[a] = (course.state[a] + numbers[0] * chance.normal(rng)) % 2.0
        put(table, 1.0 - abs(1.0 - course.state[a]), course.theta[a])
    fill_means(family, constants, course.theta, course.means)
    return turn + int(numbers[1])


WALKS = CourseKernels(begin_walks, walk)


# Arms that come and go. Numbers: horizon, how many at once; state: the place of every arm


@kernel
def move_house(family, constants, numbers, table, rng, course, turn):
    """The oldest goes when the next one comes, at turns equally far apart."""
    horizon, many, arms = int(numbers[0]), int(numbers[1]), len(course.theta)
    stretches = arms - many + 1
    now = 0
    while now + 1 < stretches and 1 + (now + 1) * horizon // stretches <= turn:
        now += 1
    for a in range(arms):
        if now <= a < now + many:
            put(table, course.state[a], course.theta[a])
        else:
            for i in range(course.theta.shape[1]):
                course.theta[a, i] = np.nan
    fill_means(family, constants, course.theta, course.means)
    return 1 + (now + 1) * horizon // stretches if now + 1 < stretches else NEVER


COMERS = CourseKernels(begin_walks, move_house)


# Renewals. Numbers: the chance, how many those of a world are, and these; state: turns of renewals


@kernel
def lifetime(numbers, rng):
    """Turns until an arm retires, at least 1."""
    if numbers[0] >= 1.0:
        return 1.0
    return max(math.ceil(math.log(1.0 - chance.uniform(rng)) / math.log1p(-numbers[0])), 1.0)


@kernel
def begin_renewals(family, constants, numbers, table, rng, course):
    draw_world(family, constants, numbers[2 : 2 + int(numbers[1])], rng, course.theta)
    for a in range(len(course.theta)):
        course.state[a] = 1.0 + lifetime(numbers, rng)


@kernel
def renew(family, constants, numbers, table, rng, course, turn):
    world, soonest = numbers[2 : 2 + int(numbers[1])], 1.0 * NEVER
    for a in range(len(course.theta)):
        if course.state[a] <= turn:
            draw_arm(family, constants, world, rng, course.theta[a])
            course.fresh[a] = True
            course.state[a] = turn + lifetime(numbers, rng)
        soonest = min(soonest, course.state[a])
    fill_means(family, constants, course.theta, course.means)
    return int(min(soonest, 1.0 * NEVER))


RENEWALS = CourseKernels(begin_renewals, renew)


@dataclass(frozen=True)
class _Random(Problem):
    """Arms whose means are drawn from an interval in every run."""

    number: int
    between: tuple[float, float]

    def __post_init__(self) -> None:
        require_whole("arms", self.number)
        low, high = (float(end) for end in self.between)
        if not low < high:
            raise SettingError(f"between={self.between!r} is not valid: give two means that rise")
        object.__setattr__(self, "between", (low, high))
        _ = self.table  # both ends are means that an arm can have

    @property
    def arms(self) -> int:
        return self.number

    @property
    def parameters(self) -> Floats:
        return np.zeros((self.number, self.table.shape[2]))

    @property
    def table(self) -> Floats:
        means = np.linspace(*self.between, _POSITIONS).tolist()
        return np.array([[self.family.parameter_of(mean)] for mean in means])

    @property
    def state_size(self) -> int:
        return self.number + 1


@dataclass(frozen=True)
class Jumping(_Random):
    """Means that are drawn anew at a number of random turns; `changing(…, seed=None)` makes it.

    Parameters
    ----------
    family
        The family of the rewards.
    number
        The number of arms.
    between
        The interval from which means are drawn uniformly.
    horizon
        The number of turns among which those of the changes are drawn.
    changes
        How often means change in a run, from 0 to `horizon` − 1.
    all_arms
        Whether a change draws the means of all arms anew, or the mean of one arm.
    """

    horizon: int
    changes: int
    all_arms: bool = True

    course = JUMPS

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("horizon", self.horizon, 1)
        require_whole("changes", self.changes, 0, self.horizon - 1)

    @property
    def numbers(self) -> Floats:
        return np.array([self.horizon, self.changes, self.all_arms], dtype=np.float64)


@dataclass(frozen=True)
class Walking(_Random):
    """Means that walk at random; `random_walk(…, seed=None)` makes it.

    Parameters
    ----------
    family
        The family of the rewards.
    number
        The number of arms.
    between
        The interval in which means walk. They start anywhere in it and turn back at its ends.
    step
        The standard deviation of the walk in one turn, as a share of the interval.
    every
        Turns between two steps; a step has the deviation √every · `step`.
    """

    step: float
    every: int = 10

    course = WALKS

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("step", self.step, 0.0)
        require_whole("every", self.every, 1)

    @property
    def numbers(self) -> Floats:
        return np.array([self.step * self.every**0.5, float(self.every)])


@dataclass(frozen=True)
class Coming(_Random):
    """Arms that appear and retire; `coming_and_going(…, seed=None)` makes it.

    Parameters
    ----------
    family
        The family of the rewards.
    number
        The number of arms over all turns.
    between
        The interval from which their means are drawn uniformly in every run.
    horizon
        The number of turns over which they come, equally far apart.
    at_once
        How many arms there are at any turn.
    """

    horizon: int
    at_once: int = 3

    course = COMERS
    comes_and_goes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("at_once", self.at_once, 1, self.number)
        require_whole("horizon", self.horizon, self.number - self.at_once + 1)

    @property
    def numbers(self) -> Floats:
        return np.array([self.horizon, self.at_once], dtype=np.float64)


@dataclass(frozen=True)
class Renewing(Problem):
    """Arms that retire by chance, each replaced by a new one, which players are told; made by
    `belman.problems.renewing`.

    Parameters
    ----------
    family
        The family of the rewards, with what players believe of a new arm.
    number
        The number of arms that there are at any time.
    prior
        The belief from which the parameters of an arm are drawn.
    chance
        The chance of each arm to retire in a turn, above 0 and at most 1.
    between
        For Bernoulli arms: the interval to which means are scaled; None for 0 to 1.
    """

    number: int
    prior: tuple[float, ...]
    chance: float
    between: tuple[float, float] | None = None

    course = RENEWALS

    def __post_init__(self) -> None:
        check_drawn(self)
        require_number("chance", self.chance, 1e-9, 1.0)
        object.__setattr__(self, "chance", float(self.chance))

    @property
    def arms(self) -> int:
        return self.number

    @property
    def parameters(self) -> Floats:
        return np.zeros((self.number, self.family.parameters))

    @property
    def numbers(self) -> Floats:
        low, high = (0.0, 1.0) if self.between is None else self.between
        return np.array([self.chance, len(self.prior) + 2.0, *self.prior, low, high])

    @property
    def state_size(self) -> int:
        return self.number + 1


def renewing(
    arms: int,
    chance: float = 0.001,
    family: Family | None = None,
    *,
    prior: ArrayLike | None = None,
    between: tuple[float, float] | None = None,
) -> Renewing:
    """Make arms that each retire with a chance at every turn, replaced by a new one.

    Players are told, and take the new arm for one that they know nothing of; outcomes of the
    old one that are still out are lost to them.

    Parameters
    ----------
    arms
        The number of arms that there are at any time.
    chance
        The chance of each to retire, a turn.
    family
        The family of the rewards, with what players believe of a new arm; by default Bernoulli.
    prior
        The belief from which parameters are drawn; by default the family's prior.
    between
        For Bernoulli arms: the interval to which means are scaled.

    Returns
    -------
    Renewing
        The problem.

    Raises
    ------
    PriorError, SettingError
        If the prior is not proper, or the chance is none.

    >>> renewing(10, 0.001, prior=(4, 4)).arms
    10
    """
    known = Bernoulli() if family is None else family
    given: Any = known.prior if prior is None else prior
    return Renewing(known, arms, known.check_prior(given), chance, between)
