"""Your own data as a problem: rewards that were seen are drawn again, or come again in order.

Of data with one arm and one reward a row, each arm's rewards are its distribution. Full-information
rows hold the reward of every arm in each turn, so that what arms have in common in a turn is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from belman import frames
from belman.engine import kernel
from belman.errors import SettingError
from belman.families import Bernoulli, Bounded, Family, GaussianUnknown
from belman.problems.course import NEVER, CourseKernels
from belman.problems.problem import Floats, Problem
from belman.validate import require_one_of

#: Rewards that a problem may hold, so that it can be described in a result.
MOST = 90_000
ORDERS = ("drawn", "kept")


@kernel
def begin(family, constants, numbers, table, rng, course):
    """The state is how often each arm was played."""
    for a in range(course.means.size):
        course.state[a] = 0.0


@kernel
def move(family, constants, numbers, table, rng, course, turn):
    """Means stay; numbers are whether rewards are drawn, whether by turn, counts, means."""
    for a in range(course.means.size):
        course.means[a] = numbers[2 + course.means.size + a]
    return NEVER


@kernel
def again(family, constants, numbers, table, course, arm, turn, uniform):
    """A reward drawn again, or the next one."""
    count, played = numbers[2 + arm], course.state[arm]
    course.state[arm] = played + 1.0
    position = uniform * count
    if numbers[0] == 0.0:
        position = (turn - 1.0) % count if numbers[1] > 0.0 else played % count
    value = table[0, arm, int(position)]
    return value, value


REPLAY = CourseKernels(begin, move, again)


@dataclass(frozen=True)
class Replayed(Problem):
    """Rewards that were seen, which come again; made by `belman.problems.from_rewards`.

    Regret is to the arm of the best average.

    Parameters
    ----------
    family
        What players believe of the rewards; it has to allow all of them.
    rewards
        The rewards of each arm, at least one each and at most 90,000 in all.
    names
        The names of the arms.
    together
        Whether the k-th rewards of all arms belong to one turn; every arm has as many then.
    order
        "drawn" for rewards drawn with replacement, so that runs differ; "kept" for rewards as they
        came, and again from the first after the last.

    Raises
    ------
    SettingError
        If an arm has no reward, there are too many, or names or turns do not fit.
    RewardError
        If the family does not allow a reward.
    """

    rewards: tuple[tuple[float, ...], ...]
    names: tuple[str, ...]
    together: bool = False
    order: str = "drawn"

    course = REPLAY

    def __post_init__(self) -> None:
        rows = tuple(tuple(map(float, row)) for row in self.rewards)
        if not rows or not all(rows):
            raise SettingError("every arm of a problem needs at least one reward")
        if sum(map(len, rows)) > MOST:
            what = f"{sum(map(len, rows)):,} rewards are too many for a problem"
            raise SettingError(f"{what}: give at most {MOST:,}, a sample of them")
        if self.together and len({len(row) for row in rows}) > 1:
            raise SettingError("full-information rows have a reward for every arm in each")
        require_one_of("order", self.order, ORDERS)
        if len(self.names) != len(rows):
            raise SettingError(f"{len(self.names)} names do not fit {len(rows)} arms")
        for row in rows:
            for reward in row:
                self.family.check_reward(reward)
        object.__setattr__(self, "rewards", rows)
        object.__setattr__(self, "names", tuple(map(str, self.names)))

    @property
    def arms(self) -> int:
        return len(self.rewards)

    @property
    def true_means(self) -> tuple[float, ...]:
        """The average of each arm's rewards."""
        return tuple(float(np.mean(row)) for row in self.rewards)

    @property
    def parameters(self) -> Floats:
        """The rewards of arm a in row a, padded by NaN."""
        longest = max(map(len, self.rewards))
        table = np.full((self.arms, longest), np.nan)
        for row, rewards in zip(table, self.rewards, strict=True):
            row[: len(rewards)] = rewards
        return table

    @property
    def numbers(self) -> Floats:
        counts = [float(len(row)) for row in self.rewards]
        how = [float(self.order == "drawn"), float(self.together)]
        return np.array([*how, *counts, *self.true_means])

    @property
    def state_size(self) -> int:
        return self.arms

    @property
    def findings(self) -> dict[str, Any]:
        return {"arms": list(self.names)}


def fitting(rewards: Sequence[float]) -> Family:
    """A family that supports these rewards: coins, rewards in [0, 1], or Gaussian.

    >>> fitting([0, 1, 1]).name, fitting([0.2, 0.7]).name, fitting([-3.0, 12.5]).name
    ('bernoulli', 'bounded', 'gaussian-unknown')
    """
    result = np.asarray(rewards, dtype=np.float64)
    if np.isin(result, (0.0, 1.0)).all():
        return Bernoulli()
    return Bounded() if ((result >= 0.0) & (result <= 1.0)).all() else GaussianUnknown()


def from_rewards(
    data: Any,
    family: Family | None = None,
    *,
    arm: str = "arm",
    reward: str = "reward",
    arms: Sequence[str] | None = None,
    order: str = "drawn",
) -> Replayed:
    """Make a problem from rewards of your own.

    Parameters
    ----------
    data
        A table, in a file or a data frame, or {arm: rewards}. A row is a reward of one arm, or with
        `arms` the rewards of every arm in one turn.
    family
        What players believe of rewards; by default Bernoulli for 0 and 1, `bounded` for rewards
        from 0 to 1, else Gaussian.
    arm
        The column of arms.
    reward
        The column of rewards.
    arms
        The columns of the rewards of each arm.
    order
        "drawn" at random, or "kept" in the order of the rows.

    Returns
    -------
    Replayed
        The problem.

    >>> shop = from_rewards({"blue": [0, 1, 0, 0], "red": [1, 1, 0]})
    >>> shop.names, shop.true_means[0], shop.family.name
    (('blue', 'red'), 0.25, 'bernoulli')
    """
    rows: dict[str, list[float]] = {}
    if arms is None and isinstance(data, Mapping) and not {arm, reward} <= set(data):
        for name, values in data.items():  # arms may have different numbers of rewards
            frame = frames.read({name: values}, empty=True)
            rows[str(name)] = frame.numbers(str(name)).tolist()
    elif arms is not None:
        frame = frames.read(data)
        frame.require(*arms)
        rows = {name: frame.numbers(name).tolist() for name in arms}
    else:
        frame = frames.read(data)
        frame.require(arm, reward)
        for name, value in zip(frame.names(arm), frame.numbers(reward).tolist(), strict=True):
            rows.setdefault(name, []).append(value)
    every = [value for row in rows.values() for value in row]
    distribution = fitting(every) if family is None else family
    rewards = tuple(tuple(row) for row in rows.values())
    return Replayed(distribution, rewards, tuple(rows), arms is not None, order)
