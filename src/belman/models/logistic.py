"""Rewards 0 and 1 (or between them) whose log-odds are φᵀθ."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from belman.engine import kernel
from belman.models.model import Model, ModelKernels
from belman.models.moment_matching import curving, draw_scale, matching, scale  # noqa: F401
from belman.registry import register

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@kernel
def sigmoid(x):
    """1/(1 + e^(−x)), without overflow; with one power for x and −x, and no branch, so that what
    calls it twice, or `log_chance` too, has the power worked out once.
    """
    power = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else power) / (1.0 + power)


@kernel
def log_chance(reward, eta):
    return reward * eta - max(eta, 0.0) - math.log1p(math.exp(-abs(eta)))


@kernel
def score(reward, eta):
    return reward - sigmoid(eta)


@kernel
def curvature(reward, eta):
    return sigmoid(eta) * sigmoid(-eta)


assimilate = matching(log_chance, score, curvature)


@kernel
def information(constants, eta):
    return sigmoid(eta) * sigmoid(-eta)


@kernel
def mean(constants, eta):
    return sigmoid(eta)


@kernel
def expected(constants, eta, v):
    total, spread = 0.0, math.sqrt(v)
    for i in range(_NODES.size):
        total += _WEIGHTS[i] * sigmoid(eta + spread * _NODES[i])
    return total


@kernel
def reward(constants, eta, uniform):
    return 1.0 if uniform >= sigmoid(-eta) else 0.0


KERNELS = ModelKernels.of(globals())
LAPLACE = replace(KERNELS, assimilate=curving(log_chance, score, curvature))


@register
class Logistic(Model):
    """Rewards 0 and 1, or between them: the log-odds of 1 are φᵀθ.

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

    >>> model = Logistic()
    >>> model.kernels.mean(model.constants, 0.0)
    0.5
    """

    laplace: bool = False

    name = "logistic"
    support = "numbers from 0 to 1"

    @property
    def kernels(self) -> ModelKernels:
        return LAPLACE if self.laplace else KERNELS

    def supports(self, reward: float) -> bool:
        return 0.0 <= reward <= 1.0
