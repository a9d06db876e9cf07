"""Arms whose rewards an adversary, or a broken pipeline, falsifies before they are told.

It sees the arm and the reward, and has a budget: what it changes rewards by, in all. It spends it
as soon as it can: the best arm is told to have given the least reward there is, every other arm the
largest, while the budget lasts. Regret is by the true means, and what is earned by true rewards.
"""

from __future__ import annotations

from dataclasses import dataclass

from belman.errors import SettingError
from belman.problems.problem import Floats, Problem
from belman.problems.stationary import Stationary
from belman.validate import require_number


@dataclass(frozen=True)
class Corrupted(Problem):
    """A problem with fixed means whose rewards are falsified by `budget` in all; `corrupted`."""

    problem: Stationary
    budget: float
    ends: tuple[float, float]

    played_as = "corrupted"
    no_python_players = "players in plain Python play at arms that stay the same"

    def __post_init__(self) -> None:
        require_number("budget", self.budget)
        low, high = (float(end) for end in self.ends)
        if not low < high or not all(map(self.family.supports, (low, high))):
            allowed = f"two {self.family.name} rewards ({self.family.support}), low below high"
            raise SettingError(f"ends={self.ends!r} are not {allowed}")
        object.__setattr__(self, "budget", float(self.budget))
        object.__setattr__(self, "ends", (low, high))

    @property
    def arms(self) -> int:
        return self.problem.arms

    @property
    def true_means(self) -> tuple[float, ...]:
        """The mean of each arm's rewards before they are falsified."""
        return tuple(float(self.family.mean_of(row)) for row in self.parameters)

    @property
    def parameters(self) -> Floats:
        return self.problem.parameters


def corrupted(
    problem: Problem, budget: float, *, ends: tuple[float, float] | None = None
) -> Corrupted:
    """The same arms with an adversary who may change rewards by `budget` in all.

    `ends` are the least and the largest reward that it can tell; by default those of the family.

    >>> from belman.problems import bernoulli
    >>> corrupted(bernoulli([0.8, 0.6]), 50).ends
    (0.0, 1.0)
    """
    if not isinstance(problem, Stationary):
        remedy = "write, for instance, corrupted(belman.problems.bernoulli([0.8, 0.6]), 50)"
        raise SettingError(f"problem={problem!r} has no fixed means to be corrupted: {remedy}")
    found = problem.family.reward_range if ends is None else ends
    if found is None:
        what = f"{problem.family.name} rewards ({problem.family.support}) have no bounds"
        raise SettingError(f"{what}: give ends=(low, high), what the adversary can tell")
    return Corrupted(problem.family, problem, budget, (found[0], found[1]))
