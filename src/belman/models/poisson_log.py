"""Counts whose mean has φᵀθ as its logarithm."""

from __future__ import annotations

import math
from dataclasses import replace

from belman.engine import kernel
from belman.models.model import Model, ModelKernels
from belman.models.moment_matching import curving, draw_scale, matching, scale  # noqa: F401
from belman.registry import register
from belman.special import log_gamma, normal_quantile

_HIGHEST = 300.0  # of a logarithm of a mean: e³⁰⁰ counts as all that is higher
_MANY = 700.0  # a mean from which a count is drawn as a normal number


@kernel
def _exp(eta):
    return math.exp(min(eta, _HIGHEST))


@kernel
def log_chance(reward, eta):
    return reward * eta - _exp(eta) - log_gamma(reward + 1.0)


@kernel
def score(reward, eta):
    return reward - _exp(eta)


@kernel
def curvature(reward, eta):
    return _exp(eta)


assimilate = matching(log_chance, score, curvature)


@kernel
def information(constants, eta):
    return _exp(eta)


@kernel
def mean(constants, eta):
    return _exp(eta)


@kernel
def expected(constants, eta, v):
    return _exp(eta + 0.5 * v)


@kernel
def reward(constants, eta, uniform):
    rate = _exp(eta)
    if rate > _MANY:
        return max(math.floor(rate + math.sqrt(rate) * normal_quantile(uniform) + 0.5), 0.0)
    chance = math.exp(-rate)
    below, count = chance, 0.0
    while below < uniform and count < 4.0 * _MANY:
        count += 1.0
        chance *= rate / count
        below += chance
    return count


KERNELS = ModelKernels.of(globals())
LAPLACE = replace(KERNELS, assimilate=curving(log_chance, score, curvature))


@register
class PoissonLog(Model):
    """Counts: the logarithm of their mean is φᵀθ.

    Parameters
    ----------
    laplace
        Whether a reward sets the belief by the mode of the posterior and the curvature there; by
        default by its mean and its variance.
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

    >>> model = PoissonLog()
    >>> model.kernels.mean(model.constants, 0.0)
    1.0
    """

    laplace: bool = False

    name = "poisson-log"
    support = "whole numbers from 0 up"

    @property
    def kernels(self) -> ModelKernels:
        return LAPLACE if self.laplace else KERNELS

    def supports(self, reward: float) -> bool:
        return reward >= 0.0 and reward == math.floor(reward)
