"""The contract of problems whose arms have features: who shows them, and what they are worth.

A *scene* is a bundle of two kernels: `begin` draws what a run is about (θ, arms, what features do
not tell), `meet` fills the features of a turn and the true value of every arm on the scale of φᵀθ.
Both draw from the world of the run alone, so that all players meet the same arms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from belman.engine import Bundle
from belman.errors import SettingError
from belman.families import Bernoulli, Family, Gaussian, Poisson
from belman.models import Block, Linear, Logistic, Model, ModelKernels
from belman.problems.problem import Floats, Problem


@dataclass(frozen=True)
class SceneKernels(Bundle):
    """What compiled code needs of a problem.

    | kernel | what it does |
    |---|---|
    | `begin(numbers, table, world, truth)` | draws what a run is about into `truth` |
    | `meet(numbers, table, world, truth, features, eta)` | fills features (K × d) and values (K) |
    """

    begin: Callable[..., Any]
    meet: Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Featured(Problem):
    """Arms with features; rewards are of a model, and so are the beliefs of players.

    Parameters
    ----------
    family
        The family of the rewards of one arm; by default Gaussian, Bernoulli or Poisson, as the
        model says.
    model
        The model of rewards, which players know; by default linear.
    """

    family: Family = None  # type: ignore[assignment]
    model: Model = field(default_factory=Linear)

    played_as: ClassVar[str] = "featured"
    #: Whether the features of arms stay the same throughout a run.
    stays: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            allowed = "give one of belman.models, such as belman.models.Linear()"
            raise SettingError(f"model={self.model!r} is not a model: {allowed}")
        if self.family is None:
            object.__setattr__(self, "family", _family_of(self.model))

    @property
    @abstractmethod
    def scene(self) -> SceneKernels:
        """The bundle of kernels, a global of the module of this class."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The coefficients that players believe in, with their prior scales."""

    @property
    @abstractmethod
    def numbers(self) -> Floats:
        """What kernels read."""

    @property
    @abstractmethod
    def truth_size(self) -> int:
        """How many numbers `begin` draws."""

    @property
    def table(self) -> Floats:
        """A matrix that kernels read."""
        return np.zeros((1, 1))

    @property
    def rewards(self) -> ModelKernels:
        """The kernels of the distribution that rewards have in truth."""
        return self.model.kernels

    @property
    def features(self) -> int:
        """How many features an arm has."""
        return sum(block.size for block in self.blocks)

    @property
    def parameters(self) -> Floats:
        return np.zeros((self.arms, 1))


def _family_of(model: Model) -> Family:
    """The family of the rewards of one arm."""
    if isinstance(model, Linear):
        return Gaussian(model.noise)
    return Bernoulli() if isinstance(model, Logistic) else Poisson()
