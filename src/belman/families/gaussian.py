"""Gaussian rewards of known variance σ² with a Normal(m, precision κ) belief on the mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

from belman import chance
from belman.beliefs import normal
from belman.engine import kernel
from belman.families.family import ANY, LARGEST, LEAST, Family
from belman.families.family_kernels import FamilyKernels
from belman.registry import register
from belman.special import normal_cdf, normal_quantile


@kernel
def update(constants, belief, reward):
    weight = 1.0 / (constants[0] * constants[0])
    belief[1] += weight
    belief[0] += (reward - belief[0]) * weight / belief[1]


@kernel
def expected_reward(constants, belief):
    return belief[0]


@kernel
def worth(constants, belief):
    return belief[1] * constants[0] * constants[0]


@kernel
def mean_cdf(constants, belief, x):
    return normal_cdf((x - belief[0]) * math.sqrt(belief[1]))


@kernel
def mean_quantile(constants, belief, level, upper):
    score = normal_quantile(level) / math.sqrt(belief[1])
    return belief[0] - score if upper else belief[0] + score


@kernel
def sample_mean(constants, belief, rng):
    return belief[0] + chance.normal(rng) / math.sqrt(belief[1])


@kernel
def reward(constants, theta, uniform):
    return theta[0] + constants[0] * normal_quantile(uniform)


@kernel
def d(constants, mean, other, spread):
    """(μ − μ′)²/(2σ²)."""
    score = (mean - other) / constants[0]
    return 0.5 * score * score


@kernel
def terms(constants, mean, spread, out):
    out[0] = mean / constants[0]


@kernel
def weights(constants, mean, out):
    out[0] = mean / constants[0]


@kernel
def evidence(terms, arm, weights):
    score = terms[0, arm] - weights[0]
    return 0.5 * score * score


KERNELS = FamilyKernels.of(normal.KERNELS, globals())


@register
class Gaussian(Family):
    """Rewards on the line, standard deviation known; the belief on μ is Normal(mean, precision).

    The default prior is weak: mean 0, precision 1/(10σ)², the weight of a hundredth of one
    observation.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default mean 0 and precision
        1/(10σ)².
    sigma
        The standard deviation of rewards.

    >>> arm = Gaussian(sigma=2.0, prior=(0.0, 0.25))
    >>> arm.expected_reward(arm.update(arm.prior, 3.0))
    1.5
    """

    sigma: float = 1.0

    name = "gaussian"
    summed = True
    positive = ("sigma",)
    coordinates = ("mean", "precision")
    support = "finite numbers"
    kernels = KERNELS
    no_joint = (
        "for Gaussian rewards the focal term cancels in the joint projection: "
        "it would never exploit"
    )

    def default_prior(self) -> tuple[float, ...]:
        return (0.0, 0.01 / self.sigma**2)

    @property
    def reach(self) -> tuple[float, ...]:
        return (LARGEST * self.sigma, LARGEST / self.sigma**2)

    @property
    def least(self) -> tuple[float, ...]:
        return (ANY, LEAST / self.sigma**2)

    def proper(self, belief: Sequence[float]) -> bool:
        return belief[1] > 0.0

    def _proper_words(self) -> str:
        return "the precision positive"

    def supports(self, reward: float) -> bool:
        return True

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        return (self._mean_between(mean, -math.inf, math.inf),)
