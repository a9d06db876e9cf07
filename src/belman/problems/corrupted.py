"""Arms whose rewards an adversary, or a broken pipeline, falsifies before they are told.

It sees the arm and the reward, and has a budget: what it changes rewards by, in all. It spends it
as soon as it can: the best arm is told to have given the least reward there is, every other arm the
largest, while the budget lasts. Regret is by the true means, and what is earned by true rewards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman.engine import factory, kernel
from belman.errors import SettingError
from belman.problems.course import CourseKernels, best_of
from belman.problems.problem import Floats, Layer, Problem
from belman.validate import require_number


@factory
def falsified(inner: CourseKernels) -> CourseKernels:
    """The kernels of a world whose rewards are falsified.

    Numbers end with budget, low and high; the last of the state is what was spent.
    """

    @kernel
    def begin(family, constants, numbers, table, rng, course):
        course.state[course.state.size - 1] = 0.0
        inner.begin(family, constants, numbers, table, rng, course)

    @kernel
    def lie(family, constants, numbers, table, course, arm, turn, uniform):
        """The reward that is earned, told falsely while the budget lasts."""
        result, true = inner.earn(family, constants, numbers, table, course, arm, turn, uniform)
        end, last = numbers.size, course.state.size - 1
        is_best = course.means[arm] == best_of(course.means)
        told = numbers[end - 2] if is_best else numbers[end - 1]
        spent = course.state[last] + abs(told - true)
        if spent > numbers[end - 3]:
            return result, true
        course.state[last] = spent
        return told, true

    return CourseKernels(begin, inner.move, lie)


@dataclass(frozen=True)
class Corrupted(Layer):
    """A problem whose rewards are falsified while a budget lasts; made by `corrupted`.

    Parameters
    ----------
    family
        The family of the rewards.
    problem
        The problem whose rewards are falsified.
    budget
        The most by which rewards are changed in one run: the sum of all changes. A change that
        would exceed it is not made.
    ends
        What is told instead of a reward: the first of the best arm, the second of all others.

    Raises
    ------
    SettingError
        If the budget is negative, or `ends` are not two rewards of the family that rise.
    """

    budget: float
    ends: tuple[float, float]

    def __post_init__(self) -> None:
        require_number("budget", self.budget)
        low, high = (float(end) for end in self.ends)
        if not low < high or not all(map(self.family.supports, (low, high))):
            allowed = f"two {self.family.name} rewards ({self.family.support}), low below high"
            raise SettingError(f"ends={self.ends!r} are not {allowed}")
        object.__setattr__(self, "budget", float(self.budget))
        object.__setattr__(self, "ends", (low, high))

    @property
    def course(self) -> CourseKernels:  # type: ignore[override]
        return falsified(self.problem.course)

    @property
    def numbers(self) -> Floats:
        return np.array([*self.problem.numbers, self.budget, *self.ends])

    @property
    def state_size(self) -> int:
        return self.problem.state_size + 1


def corrupted(
    problem: Problem, budget: float, *, ends: tuple[float, float] | None = None
) -> Corrupted:
    """Make the same arms with an adversary who changes rewards.

    Parameters
    ----------
    problem
        The problem.
    budget
        The sum of all changes.
    ends
        The least and the largest reward that the adversary can tell; by default those of the
        family.

    Returns
    -------
    Corrupted
        The problem.

    Raises
    ------
    SettingError
        If the problem is late or is no problem of arms, the rewards have no bounds and no `ends`
        are given, or a setting is invalid.

    >>> from belman.problems import bernoulli
    >>> corrupted(bernoulli([0.8, 0.6]), 50).ends
    (0.0, 1.0)
    """
    if not isinstance(problem, Problem) or problem.played_as != "bandit" or problem.late:
        remedy = "write, for instance, corrupted(belman.problems.bernoulli([0.8, 0.6]), 50)"
        raise SettingError(f"problem={problem!r} has no arms to be corrupted: {remedy}")
    result = problem.family.reward_range if ends is None else ends
    if result is None:
        what = f"{problem.family.name} rewards ({problem.family.support}) have no bounds"
        raise SettingError(f"{what}: give ends=(low, high), what the adversary can tell")
    return Corrupted(problem.family, problem, budget, (result[0], result[1]))
