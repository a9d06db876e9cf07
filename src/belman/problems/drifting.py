"""Arms that change: means that hold from one turn to another, in steps as short as one likes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from belman.engine import kernel
from belman.errors import SettingError
from belman.families import Bernoulli, Family
from belman.problems.course import NEVER, CourseKernels, fill_means
from belman.problems.problem import Floats, Problem
from belman.problems.random_drift import Coming, Jumping, Walking


@kernel
def begin(family, constants, numbers, table, rng, course):
    course.state[0] = -1.0


@kernel
def move(family, constants, numbers, table, rng, course, turn):
    """Go on to the stretch of a turn; numbers are the first turns of stretches."""
    now = int(course.state[0])
    while now + 1 < len(table) and numbers[now + 1] <= turn:
        now += 1
    course.state[0] = now
    for a in range(len(course.theta)):
        for i in range(course.theta.shape[1]):
            course.theta[a, i] = table[now, a, i]
    fill_means(family, constants, course.theta, course.means)
    return int(numbers[now + 1]) if now + 1 < len(table) else NEVER


STRETCHES = CourseKernels(begin, move)


@dataclass(frozen=True)
class Drifting(Problem):
    """Arms whose means are given for stretches of turns; made by `belman.problems.piecewise` and
    others.

    Regret is dynamic: what the arm that was played lacks of the arm that is best at the time.

    Parameters
    ----------
    family
        The family of the rewards.
    starts
        The first turn of each stretch: 1, and turns that rise. The last stretch has no end.
    means
        A row of means for each stretch; None where an arm is not there. Every stretch has at
        least one arm.

    Raises
    ------
    SettingError
        If turns do not rise from 1, rows differ in length, or one has no arm.

    >>> Drifting(Bernoulli(), starts=(1, 501), means=((0.2, 0.8), (0.8, 0.2))).arms
    2
    """

    starts: tuple[int, ...]
    means: tuple[tuple[float | None, ...], ...]

    course = STRETCHES

    def __post_init__(self) -> None:
        starts = tuple(int(turn) for turn in self.starts)
        rising = starts[:1] == (1,) and all(a < b for a, b in itertools.pairwise(starts))
        means = tuple(tuple(m if m is None else float(m) for m in row) for row in self.means)
        even = len({len(row) for row in means}) == 1 and len(means) == len(starts)
        peopled = all(any(mean is not None for mean in row) for row in means)
        if not rising or not even or not means[0] or not peopled:
            allowed = "starts rise from turn 1, and each has as many means as there are arms"
            allowed = f"{allowed}, not all of them None"
            raise SettingError(f"starts={self.starts!r} are not valid with these means: {allowed}")
        object.__setattr__(self, "starts", starts)
        object.__setattr__(self, "means", means)
        _ = self.parameters

    @property
    def arms(self) -> int:
        return len(self.means[0])

    @property
    def parameters(self) -> Floats:
        return np.asarray(self.table[0])

    @property
    def comes_and_goes(self) -> bool:  # type: ignore[override]
        return any(mean is None for row in self.means for mean in row)

    @property
    def numbers(self) -> Floats:
        return np.array(self.starts, dtype=np.float64)

    @property
    def table(self) -> Floats:
        """θ of each arm in each stretch (S × K × parameters); of one that is not there, NaN."""
        given = {mean for row in self.means for mean in row if mean is not None}
        known = {mean: self.family.parameter_of(mean) for mean in given}
        absent = (np.nan,) * len(next(iter(known.values())))
        rows = [[absent if mean is None else known[mean] for mean in row] for row in self.means]
        return np.array(rows)

    @property
    def findings(self) -> dict[str, Any]:
        return {"changes": len(self.starts) - 1}


def piecewise(
    means: Sequence[Sequence[float | None]],
    turns: int | Sequence[int],
    family: Family | None = None,
) -> Drifting:
    """Make arms whose means change from one stretch of turns to the next.

    Parameters
    ----------
    means
        A row of means for each stretch; None where the arm does not exist then.
    turns
        The turns of every stretch, or a number for each.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting
        The problem.

    Raises
    ------
    SettingError
        If rows differ in length, or one has no arm.

    >>> piecewise([[0.3, 0.5, 0.9], [0.3, 0.2, 0.9]], 1_000).starts
    (1, 1001)
    """
    each = [turns] * len(means) if isinstance(turns, int) else list(turns)
    return _drifting(family, np.cumsum([1, *each])[: len(means)].tolist(), means)


def _drifting(
    family: Family | None, starts: Sequence[int], means: Sequence[Sequence[float | None]]
) -> Drifting:
    rows = tuple(tuple(row) for row in means)
    return Drifting(Bernoulli() if family is None else family, tuple(starts), rows)


def changing(
    arms: int,
    horizon: int,
    changes: int,
    seed: int | None,
    *,
    all_arms: bool = True,
    between: tuple[float, float] = (0.0, 1.0),
    family: Family | None = None,
) -> Drifting | Jumping:
    """Make arms whose means are drawn anew at random turns.

    Parameters
    ----------
    arms, horizon
        The number of arms, and of turns.
    changes
        How often means change.
    seed
        The seed of turns and means; with None they are drawn anew in every run.
    all_arms
        Whether a change draws the means of all arms anew, or of one.
    between
        The interval from which means are drawn uniformly.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting or Jumping
        The problem.

    >>> changing(10, 20_000, 8, seed=1).means[0] == changing(10, 20_000, 8, seed=1).means[0]
    True
    >>> changing(10, 20_000, 8, seed=None).changes
    8
    """
    if seed is None:
        distribution = Bernoulli() if family is None else family
        return Jumping(distribution, arms, between, horizon, changes, all_arms)
    rng = np.random.default_rng(seed)
    starts = 1 + np.sort(rng.choice(np.arange(1, horizon), changes, replace=False))
    rows = [rng.uniform(*between, arms)]
    for _ in range(changes):
        row = rng.uniform(*between, arms)
        if not all_arms:
            kept = np.arange(arms) != rng.integers(arms)
            row[kept] = rows[-1][kept]
        rows.append(row)
    return _drifting(family, (1, *map(int, starts)), np.array(rows).tolist())


def random_walk(
    arms: int,
    horizon: int,
    step: float,
    seed: int | None,
    *,
    every: int = 10,
    family: Family | None = None,
) -> Drifting | Walking:
    """Make arms whose means walk at random between 0.02 and 0.98.

    Parameters
    ----------
    arms, horizon
        The number of arms, and of turns.
    step
        The standard deviation of the walk in one turn.
    seed
        The seed of the walk; with None it is drawn anew in every run.
    every
        Turns between two steps.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting or Walking
        The problem.

    >>> random_walk(3, 1_000, 0.005, seed=1).arms
    3
    """
    if seed is None:
        distribution = Bernoulli() if family is None else family
        return Walking(distribution, arms, (0.02, 0.98), step, every)
    rng = np.random.default_rng(seed)
    moves = rng.normal(0.0, step * every**0.5, (-(-horizon // every), arms))
    path = rng.uniform(0.0, 1.0, arms) + np.cumsum(moves, axis=0)
    means = 0.02 + 0.96 * (1.0 - np.abs(1.0 - path % 2.0))
    return piecewise(means.tolist(), every, family)


def sinusoid(
    arms: int, horizon: int, period: float, *, every: int = 10, family: Family | None = None
) -> Drifting:
    """Make arms whose means swing between 0.1 and 0.9, each at its own phase.

    Parameters
    ----------
    arms, horizon
        The number of arms, and of turns.
    period
        The turns of one swing.
    every
        Turns between two steps.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting
        The problem.

    >>> sinusoid(3, 1_000, 500.0).arms
    3
    """
    turns = every * np.arange(-(-horizon // every))[:, None]
    phases = turns / period + np.arange(arms) / arms
    return piecewise((0.5 + 0.4 * np.sin(2.0 * np.pi * phases)).tolist(), every, family)


def seasonal(
    means: Sequence[Sequence[float]], turns: int, horizon: int, family: Family | None = None
) -> Drifting:
    """Make arms whose means recur: hours, weekdays, seasons.

    Parameters
    ----------
    means
        A row of means for each season, in their order.
    turns
        The turns of a season.
    horizon
        The number of turns.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting
        The problem.

    >>> seasonal([[0.2, 0.6], [0.6, 0.2]], 100, 1_000).starts[-1]
    901
    """
    count = -(-horizon // turns)
    return piecewise([means[i % len(means)] for i in range(count)], turns, family)


def abrupt_and_back(
    means: Sequence[float], arm: int, to: float, at: int, back: int, family: Family | None = None
) -> Drifting:
    """Make arms with fixed means, where one arm jumps to another mean at a turn, and back at a
    later one.

    Parameters
    ----------
    means
        The mean reward of each arm.
    arm
        The position of the arm that jumps, from 0.
    to
        Its other mean.
    at
        The turn of the jump.
    back
        The turn at which it jumps back.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting
        The problem.

    Raises
    ------
    SettingError
        If there is no such arm, or turns are not 1 < `at` < `back`.

    >>> abrupt_and_back([0.5, 0.4], 1, 0.7, at=1_001, back=2_001).starts
    (1, 1001, 2001)
    """
    if not 0 <= arm < len(means) or not 1 < at < back:
        allowed = "an arm of the list, and 1 < at < back"
        raise SettingError(
            f"arm={arm!r}, at={at!r}, back={back!r} are not a valid campaign: give {allowed}"
        )
    moved = [to if a == arm else mean for a, mean in enumerate(means)]
    return _drifting(family, (1, at, back), (means, moved, means))


def coming_and_going(
    arms: int,
    horizon: int,
    seed: int | None,
    *,
    at_once: int = 3,
    between: tuple[float, float] = (0.0, 1.0),
    family: Family | None = None,
) -> Drifting | Coming:
    """Make arms that appear and retire and do not change. Whenever the oldest arm retires a
    new one appears, at turns equally far apart.

    Parameters
    ----------
    arms
        The number of arms over all turns.
    horizon
        The number of turns.
    seed
        The seed of their means; with None they are drawn anew in every run.
    at_once
        The number of arms in play at any turn.
    between
        The interval from which means are drawn uniformly.
    family
        The family of the rewards; by default Bernoulli.

    Returns
    -------
    Drifting or Coming
        The problem.

    Raises
    ------
    SettingError
        If more arms are in play at once than there are, or there are too few turns for them to
        come.

    >>> world = coming_and_going(4, 1_000, seed=1, at_once=3)
    >>> world.starts, [mean is None for mean in world.means[0]]
    ((1, 501), [False, False, False, True])
    """
    stretches = arms - at_once + 1
    if not 1 <= at_once <= arms or horizon < stretches:
        allowed = "at_once from 1 to the number of arms, and a turn for each that comes"
        given = f"arms={arms!r}, at_once={at_once!r}, horizon={horizon!r}"
        raise SettingError(f"{given} are not valid: give {allowed}")
    if seed is None:
        distribution = Bernoulli() if family is None else family
        return Coming(distribution, arms, between, horizon, at_once)
    means = np.random.default_rng(seed).uniform(*between, arms).tolist()
    rows = [
        [mean if first <= a < first + at_once else None for a, mean in enumerate(means)]
        for first in range(stretches)
    ]
    starts = [1 + position * horizon // stretches for position in range(stretches)]
    return _drifting(family, starts, rows)
