"""Policies for rewards that count less and less: a discount, or a horizon that stands for one."""

from __future__ import annotations

from dataclasses import dataclass

from belman.policies.policy import Policy
from belman.policies.settings import is_number, is_whole, require

_MOST = 1.0 - 1e-6


@dataclass(frozen=True)
class Discounted(Policy):
    """A policy under a `discount`: else 1 − 1/`horizon`, or else 0.999."""

    discount: float | None = None
    horizon: int | None = None

    def __post_init__(self) -> None:
        given = self.discount is None or (is_number(self.discount) and 0.0 < self.discount <= _MOST)
        require(self, "discount", given, "above 0 and at most 1 − 1e-6, or None")
        known = self.horizon is None or is_whole(self.horizon, 1)
        require(self, "horizon", known, "a whole number of turns from 1 up, or None")

    @property
    def rate(self) -> float:
        """The discount that was given, or that of the horizon."""
        if self.discount is not None:
            return float(self.discount)
        return 0.999 if self.horizon is None else min(max(1.0 - 1.0 / self.horizon, 1e-9), _MOST)
