"""What the rewards of one arm say against a mean, so that one may look at any time.

Rewards of an arm are independent whatever the policy does. So the likelihood of all of them under a
mixture of distributions, over their likelihood under the true distribution, is a martingale that
starts at 1: by Ville's inequality it ever reaches 1/δ with a chance of at most δ. The means at
which it is below 1/δ are a confidence sequence. A martingale here is a function of the mean, least
at its `centre` and growing from there to both `ends`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.families import Bernoulli, Bounded
from belman.families.family import Family
from belman.families.gaussian_unknown import GaussianUnknown
from belman.families.mirror import Mirror

Floats = NDArray[np.float64]

_TINY = 1e-300
#: Stakes of the bets on a guard, as shares of the largest: a few for each power of ten of the
#: variance.
BETS = np.concatenate([np.logspace(-4.0, -0.5, 22), [0.5, 0.7, 0.9]])


class Martingale(Protocol):
    """The logarithm of a martingale as a function of the mean: least at `centre`, growing to both
    `ends`.
    """

    @property
    def centre(self) -> float:
        """A mean at which it is least."""

    @property
    def ends(self) -> tuple[float, float]:
        """Between which all means lie."""

    def log(self, mean: float) -> float:
        """Compute the logarithm of the martingale for a true mean.

        Parameters
        ----------
        mean
            The true mean that is assumed, from one of `ends` to the other.

        Returns
        -------
        float
            ln of the martingale. If the mean is the true one, it ever reaches ln(1/δ) with a chance
            of at most δ.
        """


class Mixture(NamedTuple):
    """A mixture martingale as a function of the mean."""

    centre: float
    ends: tuple[float, float]
    log: Callable[[float], float]


def no_mixture(family: Family) -> str:
    """Why a family has no martingale that is a function of the mean; empty where it has one.

    >>> from belman.families import LogNormal
    >>> no_mixture(LogNormal())
    'the mean of log-normal rewards depends on several parameters, and each would have to be known'
    >>> no_mixture(Bernoulli())
    ''
    """
    bare = family.of if isinstance(family, Mirror) else family
    if bare.parameters == 1 or isinstance(bare, (Bounded, GaussianUnknown)):
        return ""
    depends = "depends on several parameters, and each would have to be known"
    return f"the mean of {bare.name} rewards {depends}"


def mixture(
    family: Family, prior: ArrayLike, belief: ArrayLike, plays: float, average: float
) -> Martingale:
    """Compute the mixture over a conjugate prior: ln m(θ) = ln prior(θ) − ln belief(θ).

    ∫ Π f_θ dπ = exp(A(η_n) − A(η_0)) where the prior is conjugate, and the rest of the ratio is the
    likelihood at θ: what is left is the prior's density over the belief's. Where the average reward
    says all, the martingale at other means follows from one point by n·d(average, mean). Rewards in
    [0, 1] that are not 0 or 1 make a Bernoulli mixture a supermartingale, which is valid too. For
    Gaussian rewards of unknown variance the likelihood is the largest over all variances.

    Parameters
    ----------
    family
        The family of the rewards.
    prior
        The belief before the first reward.
    belief
        The belief after them all.
    plays
        How many rewards there were; without any the logarithm is 0 at all means.
    average
        Their average.

    Returns
    -------
    Martingale
        Its logarithm by the mean, on the scale of the family.

    >>> from belman.families import Bernoulli
    >>> result = mixture(Bernoulli(), (1.0, 1.0), (4.0, 8.0), 10.0, 0.3)
    >>> round(result.log(0.9), 4), round(result.log(0.3), 4)
    (9.2488, -1.0767)
    """
    bare = family.of if isinstance(family, Mirror) else family
    if isinstance(bare, Bounded):  # a distribution that is not known is bet on as a coin
        coin = Bernoulli() if bare is family else Mirror(Bernoulli())
        return mixture(coin, bare.as_coin(prior), bare.as_coin(belief), plays, average)
    if plays <= 0.0:
        middle = family.mean_quantile(prior, 0.5)
        return Mixture(middle, family.mean_range, lambda mean: 0.0)
    if isinstance(bare, GaussianUnknown):
        return _of_unknown_variance(bare, prior, belief, isinstance(family, Mirror))
    start, now = np.asarray(prior, dtype=np.float64), np.asarray(belief, dtype=np.float64)

    def densities(mean: float) -> float:
        theta = np.array([family.parameter_of(_inside(family, mean))[0]])
        return float(family.log_density(start, theta)[0] - family.log_density(now, theta)[0])

    if not family.bregman:
        return Mixture(_least(family, densities, now), family.mean_range, densities)
    point = _inside(family, family.mean_quantile(now, 0.5))
    at_point = densities(point) - plays * family.reward_divergence(average, point)
    divergence = _divergence(family)
    below, above = _bounds(family)

    def by_divergence(mean: float) -> float:
        return at_point + plays * divergence(average, min(max(mean, below), above))

    return Mixture(average, family.mean_range, by_divergence)


def _divergence(family: Family) -> Callable[[float, float], float]:
    """d(μ, μ′) of a family, with its distribution at hand: thousands of them make one interval."""
    if not family.closed_form:
        return family.reward_divergence
    kernel, constants = family.kernels.d, family.constants

    def divergence(mean: float, other: float) -> float:
        with np.errstate(all="ignore"):
            return float(kernel(constants, mean, other, 1.0))

    return divergence


def _inside(family: Family, mean: float) -> float:
    """A mean strictly inside the range, next to an end that it has reached."""
    below, above = _bounds(family)
    return min(max(mean, below), above)


def _bounds(family: Family) -> tuple[float, float]:
    """The least and the largest mean strictly inside the range."""
    low, high = family.mean_range
    below = low + max(abs(low) * 2.0**-52, _TINY) if math.isfinite(low) else -1.0 / _TINY
    above = high - max(abs(high) * 2.0**-52, _TINY) if math.isfinite(high) else 1.0 / _TINY
    return below, above


def _least(family: Family, log: Callable[[float], float], belief: Floats) -> float:
    """The mean of the largest likelihood, which lies well inside the belief unless it is silent."""
    from scipy.optimize import minimize_scalar

    low, high = (family.mean_quantile(belief, 1e-9, upper=upper) for upper in (False, True))
    result = minimize_scalar(log, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return float(result.x)


@lru_cache(maxsize=64)
def _at_prior(family: GaussianUnknown, *prior: float) -> float:
    """Return A(η_0), which every cut of every arm asks for."""
    return family.log_partition(prior)


def _of_unknown_variance(
    family: GaussianUnknown, prior: ArrayLike, belief: ArrayLike, mirrored: bool
) -> Martingale:
    """A Normal-gamma mixture over the largest likelihood at a mean.

    With Q(μ) = Σ(x − μ)², ln m = A(η_n) − A(η_0) + n/2·(1 + ln(Q(μ)/n)).
    """
    m0, kappa0, alpha0, beta0 = (float(number) for number in np.asarray(prior))
    m, kappa, alpha, beta = (float(number) for number in np.asarray(belief))
    plays = 2.0 * (alpha - alpha0)
    average = m + kappa0 / plays * (m - m0)
    within = 2.0 * (beta - beta0) - kappa0 * plays / kappa * (average - m0) ** 2
    gain = family.log_partition(belief) - _at_prior(family, m0, kappa0, alpha0, beta0)
    sign = -1.0 if mirrored else 1.0

    # one reward, or equal ones, are infinitely likely at their own value: nothing is known yet
    known = plays > 1.5 and within > 1e-12 * plays * (average * average + _TINY)
    deviation = math.sqrt(within / plays) if known else 0.0

    def log(mean: float) -> float:
        around = math.hypot(deviation, sign * mean - average)  # √(Q/n), whose square may overflow
        return gain + plays * (0.5 + math.log(around))

    return Mixture(sign * average, (-math.inf, math.inf), log if known else lambda mean: -math.inf)
