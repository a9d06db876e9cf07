"""What a policy knows of the scale of rewards: their range, or how far they stray.

Policies for rewards in [0, 1] scale others by `range`, the user's or the family's own. Policies
whose bounds are those of σ-sub-Gaussian rewards take a Gaussian's σ, or half of a range.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families import Gaussian
from belman.families.family import Family
from belman.policies.policy import Policy
from belman.policies.settings import is_number, number

Range = tuple[float, float] | None


def interval(policy: str, given: object) -> Range:
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


def ends_of_rewards(policy: str, given: Range, family: Family) -> tuple[float, float]:
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
    """A policy that scales rewards by their range; params begin with low and high − low."""

    range: tuple[float, float] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", interval(self.name, self.range))
        super().__post_init__()

    def about(self, family: Family) -> tuple[float, ...]:
        low, high = ends_of_rewards(self.name, self.range, family)
        return low, high - low


@kernel
def scaled(params, reward):
    """A reward on the scale from 0 to 1; params begin with the low end and the width."""
    return min(max((reward - params[0]) / params[1], 0.0), 1.0)


_SIGMA = number("[]", 1e-100, 1e100, "a number from 1e-100 to 1e100, or None for the family's own")


@dataclass(frozen=True)
class SubGaussian(Policy):
    """A policy that knows how far rewards stray: `sigma`, None for the family's own.

    Rewards between two bounds are sub-Gaussian with half of their distance (Hoeffding). Params
    begin with σ.
    """

    sigma: Annotated[float, _SIGMA] | None = field(default=None, kw_only=True)

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

    def about(self, family: Family) -> tuple[float, ...]:
        return (self.deviation(family),)
