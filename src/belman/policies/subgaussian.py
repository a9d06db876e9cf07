"""Policies whose bounds are those of σ-sub-Gaussian rewards: a Gaussian's σ, or half of a range."""

from __future__ import annotations

from dataclasses import dataclass, field

from belman.errors import PolicyError
from belman.families import Gaussian
from belman.families.family import Family
from belman.policies.policy import Policy
from belman.policies.settings import is_between, require


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
