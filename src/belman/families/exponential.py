"""Exponential rewards of rate θ: gamma of shape 1. E[X] is β/(α − 1); the paper's α/β is E[θ]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from belman.engine import kernel
from belman.families import gamma_known_shape as shaped
from belman.families.family import SUM_LEAST, SUM_REACH, Family, Floats


@kernel
def reward(law, theta, uniform):
    return -math.log1p(-uniform) / theta[0]


KERNELS = replace(shaped.KERNELS, reward=reward)


@dataclass(frozen=True)
class Exponential(Family):
    """Exponential rewards; the belief on their rate is Gamma(α, β), by default Gamma(1, 1).

    >>> arm = Exponential()
    >>> arm.expected_reward(arm.prior), arm.expected_reward(arm.update(arm.prior, 3.0))
    (inf, 4.0)
    """

    name = "exponential"
    summed = True
    mean_range = (0.0, math.inf)
    coordinates = ("alpha", "beta")
    support = "numbers from 0 up"
    kernels = KERNELS
    no_joint = shaped.GammaKnownShape.no_joint

    @property
    def law(self) -> Floats:
        return np.ones(1)

    def default_prior(self) -> tuple[float, ...]:
        return (1.0, 1.0)

    @property
    def reach(self) -> tuple[float, ...]:
        """The sum of rewards has a scale of its own, and only must not overflow."""
        return SUM_REACH

    @property
    def least(self) -> tuple[float, ...]:
        return SUM_LEAST

    def supports(self, reward: float) -> bool:
        return reward >= 0.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return (1.0 / self._mean_between(mean, *self.mean_range),)
