"""What a user may set of a policy, checked at the door.

Policies for rewards in [0, 1]; others are scaled by `range`, the user's or the family's own.

Policies whose bounds are those of σ-sub-Gaussian rewards: a Gaussian's σ, or half of a range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from belman.errors import PolicyError
from belman.families import Gaussian
from belman.families.family import Family
from belman.policies.policy import Floats, Policy

#: Turns, plays and arms: floats hold every whole number up to it.
MOST = 10**15
#: Of a logarithm of turns, whose power must not overflow.
MOST_EXPONENT = 100.0
#: Draws of a belief in one turn.
MOST_DRAWS = 1_000_000


def require(policy: Any, name: str, fits: bool, allowed: str) -> None:
    """Refuse a policy whose setting of that name does not fit."""
    if not fits:
        value = getattr(policy, name)
        raise PolicyError(f"{name}={value!r} is not valid for {policy.name}: it must be {allowed}")


def is_number(value: object) -> bool:
    """Whether a setting is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    return bool(abs(value) <= MOST)  # type: ignore[operator]


def is_whole(value: object, least: int, most: int = MOST) -> bool:
    """Whether a setting is a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return least <= int(value) <= most


def is_between(value: object, least: float, most: float) -> bool:
    """Whether a setting is a number between two ends."""
    return is_number(value) and least <= value <= most  # type: ignore[operator]


def interval(policy: str, given: object) -> tuple[float, float] | None:
    """A range as a pair of floats, None as None.

    >>> interval("ucb1", [0, 10])
    (0.0, 10.0)
    """
    if given is None:
        return None
    ends = list(given) if isinstance(given, (tuple, list, np.ndarray)) else []
    fits = len(ends) == 2 and all(map(is_number, ends)) and ends[0] < ends[1]
    if not fits:
        allowed = "(low, high), two numbers with low below high, or None for the family's own"
        raise PolicyError(f"range={given!r} is not valid for {policy}: it must be {allowed}")
    return float(ends[0]), float(ends[1])


def ends_of_rewards(
    policy: str, given: tuple[float, float] | None, family: Family
) -> tuple[float, float]:
    """The range that was given, or the family's own; raises PolicyError where there is none."""
    ends = family.reward_range if given is None else given
    if ends is None:
        raise PolicyError(
            f"{policy} is made for rewards between two bounds, and {family.name} rewards "
            f"({family.support}) have none: give range=(low, high), or choose a policy that needs "
            "none, such as thompson, or kl-ucb with its default divergence"
        )
    return ends


@dataclass(frozen=True)
class Bounded(Policy):
    """A policy whose indices are as wide as the range of rewards; params begin with high − low."""

    range: tuple[float, float] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", interval(self.name, self.range))

    def params(self, family: Family) -> Floats:
        low, high = ends_of_rewards(self.name, self.range, family)
        return np.array([high - low])

    def check(self, family: Family, arms: int) -> None:
        ends_of_rewards(self.name, self.range, family)


@dataclass(frozen=True)
class SubGaussian(Policy):
    """A policy that knows how far rewards stray: `sigma`, None for the family's own.

    Rewards between two bounds are sub-Gaussian with half of their distance (Hoeffding).
    """

    sigma: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        fits = self.sigma is None or is_between(self.sigma, 1e-100, 1e100)
        require(self, "sigma", fits, "a number from 1e-100 to 1e100, or None for the family's own")

    def deviation(self, family: Family) -> float:
        """σ of the rewards of a family; raises PolicyError where it has none."""
        if self.sigma is not None:
            return float(self.sigma)
        if isinstance(family, Gaussian):
            return float(family.sigma)
        if family.reward_range is None:
            raise PolicyError(
                f"{self.name} needs to know how far rewards stray, and {family.name} rewards "
                f"({family.support}) have no bounds: give sigma=, their deviation, or choose a "
                "policy that needs none, such as thompson"
            )
        low, high = family.reward_range
        return 0.5 * (high - low)

    def check(self, family: Family, arms: int) -> None:
        self.deviation(family)
