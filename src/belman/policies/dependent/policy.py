"""The contract of a policy for arms that share a belief: features and belief in, an index out.

Before `indices` is called, `sight` holds what the belief says of the arms at hand: the mean and the
variance of φᵀθ, and how many rewards that is worth. The arm with the largest index is played, ties
broken uniformly at random; a policy that draws takes its draws from the generator that is passed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belman.engine import Bundle, kernel
from belman.models.model import Model
from belman.policies import memory as memories
from belman.policies.memory import Floats as Floats
from belman.policies.memory import part
from belman.policies.policy import numbers_of
from belman.policies.policy_kernels import pick
from belman.policies.settings import check_settings

Kernel = Callable[..., Any]

#: What `indices` reads: what is seen of each arm, the belief about the values of the arms at hand
#: together, or that about all coefficients there are.
MARGINALS, VALUES, COEFFICIENTS = "marginals", "values", "coefficients"
#: Indices that differ by less are equal. They come from sums over features, which end in other bits
#: on another processor, or interpreted: arms that nothing tells apart would not be drawn by chance.
_ROUNDING = 1e-9


@kernel
def pick_rounded(index, rng):
    """The arm with the largest index and how many share it up to rounding, one of them drawn
    uniformly; their indices are the same from here on.
    """
    best = -np.inf
    for a in range(index.size):
        if index[a] > best:
            best = index[a]
    least = best - _ROUNDING * (1.0 + abs(best)) if math.isfinite(best) else best
    for a in range(index.size):
        if index[a] >= least:
            index[a] = best
    return pick(index, rng)


class Scratch(NamedTuple):
    """The memory of a policy that keeps nothing from turn to turn."""

    scratch: Floats = part(1)


@kernel
def keeps_nothing(params, memory, features):
    """For policies to which the belief says all."""


@dataclass(frozen=True)
class DependentKernels(Bundle):
    """The bundle of kernels of a policy, where … stands for model, distribution, params, belief,
    features, sight, memory.

    | kernel | what it does |
    |---|---|
    | `indices(…, turn, rng, index)` | fills the index (K) of every arm |
    | `learn(params, memory, features)` | notes that an arm with these features gave a reward |
    """

    indices: Kernel
    learn: Kernel = keeps_nothing


@dataclass(frozen=True)
class DependentPolicy(ABC):
    """A policy for arms with features: what the user chose of an algorithm."""

    name: ClassVar[str]
    #: Whether it chooses by chance; `chance` says with which, where that is known.
    by_chance: ClassVar[bool] = False
    #: What it reads of a belief. With a factorised one an arm's value is all that there is of its
    #: features, so that a policy that reads coefficients cannot play.
    sees: ClassVar[str] = COEFFICIENTS
    #: The NamedTuple of its memory (`policies/memory.py`), where "D" is the number of features.
    remembers: ClassVar[type[tuple[Any, ...]]] = Scratch
    #: Every policy for arms with features that is known by name.
    registry: ClassVar[dict[str, type[DependentPolicy]]] = {}

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    @abstractmethod
    def kernels(self) -> DependentKernels:
        """The bundle of kernels, a global of the module of this class."""

    @property
    def keeps(self) -> bool:
        """Whether it keeps of the arms that gave rewards what beliefs do not."""
        return self.kernels.learn is not keeps_nothing

    @property
    def params(self) -> Floats:
        """The numbers that the user chose, as kernels read them: the settings, if all are such."""
        return np.array(numbers_of(self) or [0.0])

    def memory(self, arms: int, features: int) -> Any:
        """Fresh memory, a NamedTuple of arrays."""
        return memories.blank(self.remembers, memories.Sizes(self, arms, features))

    def explanation(self, sight: Any, turn: int) -> dict[str, Floats]:
        """Columns that say how the indices come about, one number an arm: none, if it has none."""
        return {}

    @property
    def leaves_all_a_chance(self) -> bool:
        """Whether every arm has a chance at every decision."""
        return False

    def chance(self, model: Model, belief: Any, features: Floats, sight: Any, arm: int) -> float:
        """The chance with which this arm is played, of a policy that chooses by chance; NaN where
        it is not known.
        """
        return math.nan

    def believing(self, model: Model) -> Model:
        """The model that it learns by, for rewards of this model; the same one by default."""
        return model


@kernel
def leader(eta):
    """The arm with the largest mean."""
    best = 0
    for a in range(eta.size):
        best = a if eta[a] > eta[best] else best
    return best


#: Every policy for arms with features by its name.
DEPENDENT_POLICIES = DependentPolicy.registry
