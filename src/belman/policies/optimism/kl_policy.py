"""What KL-UCB and its kin share: the divergence, and how rewards are scaled for a foreign one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from belman.engine import factory, kernel
from belman.errors import PolicyError, listing, nearest
from belman.families import FAMILIES
from belman.families.family import Family
from belman.families.family_kernels import FamilyKernels
from belman.policies.averages import plays_needed
from belman.policies.memory import Floats
from belman.policies.optimism.kl_bound import Memory, race, renew, survey
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, pick
from belman.policies.scale import ends_of_rewards, interval

_OWN = "own"
#: Divergences that go by the name of another family, on rewards scaled to [0, 1]: its distribution,
#: and the largest mean there is. The Gaussian one has the σ = ½ of Hoeffding's inequality.
DIVERGENCES: dict[str, tuple[tuple[float, ...], float]] = {
    "bernoulli": ((0.0,), 1.0),
    "exponential": ((1.0,), math.inf),
    "gaussian": ((0.5,), math.inf),
    "poisson": ((0.0,), math.inf),
}


@factory
def family_of(named: FamilyKernels | None) -> Callable[..., Any]:
    """A kernel that gives the family whose divergence is meant: the arms' own, or a named one."""

    @kernel
    def own(family):
        return family

    @kernel
    def other(family):
        return named

    return own if named is None else other


def by_divergence(
    make: Callable[[FamilyKernels | None], PolicyKernels],
) -> dict[str, PolicyKernels]:
    """Kernels by the divergence's name."""
    return {_OWN: make(None), **{name: make(FAMILIES[name].kernels) for name in DIVERGENCES}}


@factory
def _bundle(level: Callable[..., float], named: FamilyKernels | None) -> PolicyKernels:
    source = family_of(named)

    @kernel
    def refresh(family, constants, params, ledger, memory, arm):
        renew(source(family), params, ledger, memory, arm)
        if memory.mean[arm] < np.inf:
            memory.level[arm] = level(params, ledger, arm)

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        survey(source(family), params, ledger, memory, turn_value, index)

    @kernel
    def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
        race(source(family), params, ledger, memory, turn_value, index)
        return pick(index, rng)

    return PolicyKernels(indices, refresh, choose=choose)


def bundles_with(level: Callable[..., float]) -> dict[str, PolicyKernels]:
    """Kernels by the divergence's name; arms add `level(params, ledger, arm)` to the turn value."""
    return by_divergence(lambda named: _bundle(level, named))


@dataclass(frozen=True)
class KLPolicy(Policy):
    """A policy that plays the largest mean q with n·d(μ̂, q) ≤ f.

    `divergence` is None for the family's own, or one of 'bernoulli', 'exponential', 'gaussian' and
    'poisson' on rewards that `range` scales to [0, 1]; no range takes the family's own.
    """

    divergence: str | None = field(default=None, kw_only=True)
    range: tuple[float, float] | None = field(default=None, kw_only=True)

    #: The kernels by the name of the divergence.
    bundles: ClassVar[dict[str, PolicyKernels]]
    remembers = Memory

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", interval(self.name, self.range))
        super().__post_init__()
        if self.divergence is None and self.range is not None:
            raise PolicyError(
                f"range={self.range!r} scales rewards for a divergence by name, and the family's "
                f"own needs none: give divergence= one of {listing(DIVERGENCES)}, or no range"
            )
        if self.divergence is not None and str(self.divergence) not in DIVERGENCES:
            raise PolicyError(
                f"unknown divergence {self.divergence!r}: there are {listing(DIVERGENCES)}, and "
                f"None for the family's own{nearest(self.divergence, DIVERGENCES)}"
            )

    @property
    def kernels(self) -> PolicyKernels:
        return self.bundles[self.divergence or _OWN]

    def params(self, family: Family) -> Floats:
        needed = plays_needed(family) if self.divergence is None else 0.0
        low, width, top, constants = self._scale(family)
        return np.array([getattr(self, "horizon", 0.0), needed, low, width, top, *constants])

    def check(self, family: Family, arms: int) -> None:
        self._scale(family)

    def _scale(self, family: Family) -> tuple[float, float, float, tuple[float, ...]]:
        """Where rewards have their 0, their unit, the largest mean then, and the distribution of
        d.
        """
        if self.divergence is None or (
            self.range is None and FAMILIES[self.divergence].kernels is family.kernels
        ):
            return 0.0, 1.0, family.mean_range[1], tuple(family.constants)
        constants, top = DIVERGENCES[self.divergence]
        positive = family.reward_range is None and not family.supports(-1.0)
        if self.divergence == "exponential" and self.range is None and positive:  # any unit will do
            return 0.0, 1.0, top, constants
        words = f"{self.name} with divergence={self.divergence!r}"
        low, high = ends_of_rewards(words, self.range, family)
        return low, high - low, top, constants
