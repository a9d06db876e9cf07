"""Linear rewards φᵀθ + noise: known noise, or unknown with a Normal–inverse-gamma belief.

Beliefs are kept in units of the noise, S = σ² LLᵀ, so that both have the same update. Rewards from
0 to 1, and counts, can be believed to be linear too; ln of the chance of one is then that of a
coin, or of a Poisson distribution, with that mean.
"""

from __future__ import annotations

import math
from dataclasses import replace

from belman import chance
from belman.engine import kernel
from belman.errors import FamilyError
from belman.models.model import SETTING, Model, ModelKernels
from belman.registry import register
from belman.special import log_gamma, normal_cdf, normal_quantile

_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
_LEAST_RATE = 0.01  # of a reward, and of none: a line leaves the chances that there are
_LEAST_COUNT = 0.01  # the mean of counts, for the same reason


@kernel
def assimilate(constants, noise, eta, v, reward):
    surprise, spread = reward - eta, 1.0 + v
    if noise[0] > 0.0:
        shape, rate = noise[0], noise[1]
        noise[0] = shape + 0.5
        noise[1] = rate + 0.5 * surprise * surprise / spread
        # Student's distribution of 2·shape degrees, scale² = rate/shape·spread
        fit = log_gamma(noise[0]) - log_gamma(shape) - 0.5 * math.log(2.0 * math.pi * rate * spread)
        fit -= noise[0] * math.log(noise[1] / rate)
    else:
        score = surprise / constants[SETTING]
        fit = -0.5 * score * score / spread - _HALF_LOG_TAU - math.log(constants[SETTING])
        fit -= 0.5 * math.log(spread)
    return surprise / spread, 1.0, fit


@kernel
def scale(constants, noise):
    """σ², or rate/shape: the squared scale of Student's distribution, which is what marginals
    have.
    """
    return noise[1] / noise[0] if noise[0] > 0.0 else constants[SETTING] * constants[SETTING]


@kernel
def draw_scale(constants, noise, rng):
    if noise[0] > 0.0:
        return noise[1] / chance.gamma(rng, noise[0])
    return constants[SETTING] * constants[SETTING]


@kernel
def information(constants, eta):
    return 1.0


@kernel
def mean(constants, eta):
    return eta


@kernel
def expected(constants, eta, v):
    return eta


@kernel
def reward(constants, eta, uniform):
    return eta + constants[SETTING] * normal_quantile(uniform)


@kernel
def assimilate_rate(constants, noise, eta, v, reward):
    step, rest, _ = assimilate(constants, noise, eta, v, reward)
    rate = min(max(eta, _LEAST_RATE), 1.0 - _LEAST_RATE)
    return step, rest, reward * math.log(rate) + (1.0 - reward) * math.log1p(-rate)


@kernel
def mean_rate(constants, eta):
    return min(max(eta, 0.0), 1.0)


@kernel
def expected_rate(constants, eta, v):
    return min(max(eta, 0.0), 1.0)


@kernel
def positive_part(eta, variance):
    """What is expected of N(η, variance) where it is above 0, and of 0 elsewhere."""
    if not variance > 0.0:
        return max(eta, 0.0)
    deviation = math.sqrt(variance)
    z = eta / deviation
    density = math.exp(-0.5 * z * z - _HALF_LOG_TAU)
    return max(eta * normal_cdf(z) + deviation * density, 0.0)


@kernel
def assimilate_count(constants, noise, eta, v, reward):
    count = max(positive_part(eta, scale(constants, noise) * v), _LEAST_COUNT)
    step, rest, _ = assimilate(constants, noise, eta, v, reward)
    return step, rest, reward * math.log(count) - count - log_gamma(reward + 1.0)


@kernel
def mean_count(constants, eta):
    return max(eta, 0.0)


@kernel
def expected_count(constants, eta, v):
    return positive_part(eta, v)


KERNELS = ModelKernels.of(globals())
COUNTS = replace(KERNELS, assimilate=assimilate_count, mean=mean_count, expected=expected_count)
RATES = replace(KERNELS, assimilate=assimilate_rate, mean=mean_rate, expected=expected_rate)


@register
class Linear(Model):
    """Rewards φᵀθ plus Gaussian noise.

    Prior scales of coefficients are in units of rewards if the noise is known, and else shrink and
    grow with it.

    Parameters
    ----------
    noise
        The standard deviation of the noise, from 1e-9 to 1e9.
    unknown
        Whether the noise is learnt; `noise` is then a first guess that counts as one reward.
    keep
        What a belief keeps of the past at every reward, above 0 and at most 1; 1 never forgets.
    drift
        Whether a contextual agent has a fading belief beside this one, and goes by the better of
        the two.
    covariance
        "full" for a covariance of all coefficients, "diagonal" for a variance of each.

    Raises
    ------
    FamilyError
        If a setting is invalid.

    >>> model = Linear(noise=0.5)
    >>> model.kernels.expected(model.constants, 1.25, 0.1)
    1.25
    """

    noise: float = 1.0
    unknown: bool = False

    name = "linear"
    support = "finite numbers"
    kernels = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        is_number = isinstance(self.noise, (int, float)) and not isinstance(self.noise, bool)
        if not is_number or not 1e-9 <= self.noise <= 1e9:
            allowed = "it must be a number from 1e-9 to 1e9"
            raise FamilyError(f"noise={self.noise!r} is not valid: {allowed}")
        if not isinstance(self.unknown, bool):
            raise FamilyError(
                f"unknown={self.unknown!r} is not valid: it is neither True nor False"
            )

    @property
    def setting(self) -> float:
        return float(self.noise)

    @property
    def unit(self) -> float:
        return float(self.noise)

    @property
    def first_noise(self) -> tuple[float, float]:
        return (0.5, 0.5 * self.noise**2) if self.unknown else (0.0, 0.0)

    def supports(self, reward: float) -> bool:
        return True


@register
class LinearRates(Linear):
    """Rewards from 0 to 1 whose mean is φᵀθ, scored as chances: comparable with `Logistic`.

    Parameters
    ----------
    noise
        The standard deviation of the noise, from 1e-9 to 1e9.
    unknown
        Whether the noise is learnt; `noise` is then a first guess that counts as one reward.
    keep
        What a belief keeps of the past at every reward, above 0 and at most 1; 1 never forgets.
    drift
        Whether a contextual agent has a fading belief beside this one, and goes by the better of
        the two.
    covariance
        "full" for a covariance of all coefficients, "diagonal" for a variance of each.

    Raises
    ------
    FamilyError
        If a setting is invalid.

    >>> import numpy as np
    >>> model = LinearRates(unknown=True)
    >>> _, _, fit = model.kernels.assimilate(model.constants, np.array([0.5, 0.5]), 0.75, 1.0, 1.0)
    >>> round(math.exp(fit), 6)
    0.75
    """

    name = "linear-rates"
    support = "numbers from 0 to 1"
    kernels = RATES

    def supports(self, reward: float) -> bool:
        return 0.0 <= reward <= 1.0


@register
class LinearCounts(Linear):
    """Counts whose mean is φᵀθ, or 0 below, scored as Poisson ones: comparable with `PoissonLog`.

    Parameters
    ----------
    noise
        The standard deviation of the noise, from 1e-9 to 1e9.
    unknown
        Whether the noise is learnt; `noise` is then a first guess that counts as one reward.
    keep
        What a belief keeps of the past at every reward, above 0 and at most 1; 1 never forgets.
    drift
        Whether a contextual agent has a fading belief beside this one, and goes by the better of
        the two.
    covariance
        "full" for a covariance of all coefficients, "diagonal" for a variance of each.

    Raises
    ------
    FamilyError
        If a setting is invalid.

    >>> import numpy as np
    >>> model = LinearCounts(unknown=True)
    >>> _, _, fit = model.kernels.assimilate(model.constants, np.array([0.5, 0.5]), 2.0, 0.01, 0.0)
    >>> round(fit, 6)
    -2.0
    """

    name = "linear-counts"
    support = "whole numbers from 0 up"
    kernels = COUNTS

    def supports(self, reward: float) -> bool:
        return reward >= 0.0 and reward == math.floor(reward)
