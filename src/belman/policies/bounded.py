"""Policies for rewards in [0, 1]; others are scaled by `range`, the user's or the family's own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.policy import Floats, Policy
from belman.policies.settings import is_number


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
