"""Slow, obvious twins of what the package does fast: textbook formulas in mpmath, grids and sums.
Nothing here is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np
from scipy import special, stats

#: A context of our own, with 40 digits: the global one stays as it is.
mp = mpmath.ctx_mp.MPContext()
mp.dps = 40

# Chances below and above x, with x·f(x), from integrals away from x.


@cache
def _nodes() -> list[tuple[Any, Any]]:
    return mpmath.calculus.quadrature.GaussLegendre(mp).calc_nodes(4, mp.prec)


def integral(exponent: Callable[[Any], Any], width: Any) -> Any:
    """∫₀^∞ exp(exponent(u)) du of a concave exponent that falls, by Gauss–Legendre on panels of
    doubling width.
    """
    total, low, high = mp.mpf(0), mp.mpf(0), mp.mpf(width)
    while True:
        middle, half = (low + high) / 2, (high - low) / 2
        part = half * mp.fsum(
            weight * mp.exp(exponent(middle + half * node)) for node, weight in _nodes()
        )
        total += part
        if part < total * mp.mpf(10) ** -25:
            return total
        low, high = high, 2 * high


def beta_chances(a: float, b: float, x: Any, y: Any = None) -> tuple[Any, Any, Any]:
    """P(θ ≤ x), P(θ > x) and x(1 − x)f(x) under Beta(a, b), the smaller chance by integrating over
    the logit of θ.
    """
    a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
    y = 1 - x if y is None else mp.mpf(y)
    if a * y < b * x:
        above, below, front = beta_chances(b, a, y, x)
        return below, above, front
    front = mp.exp(a * mp.log(x) + b * mp.log(y) - log_beta(a, b))
    width = 1 / (mp.sqrt((a + b) * x * y) + a * y - b * x + 1)
    below = front * integral(lambda u: -a * u - (a + b) * mp.log1p(x * mp.expm1(-u)), width)
    return below, 1 - below, front


def gamma_chances(a: float, x: Any) -> tuple[Any, Any, Any]:
    """P(a, x), Q(a, x) and x f(x) under Gamma(a, 1), the smaller by integrating over ln θ."""
    a, x = mp.mpf(a), mp.mpf(x)
    front = mp.exp(a * mp.log(x) - x - mp.loggamma(a))
    width = 1 / (mp.sqrt(x) + abs(a - x) + 1)
    if x > a:
        above = front * integral(lambda u: a * u - x * mp.expm1(u), width)
        return 1 - above, above, front
    below = front * integral(lambda u: -a * u - x * mp.expm1(-u), width)
    return below, 1 - below, front


def student_chances(freedom: float, x: Any) -> tuple[Any, Any, Any]:
    """P(X ≤ x), P(X > x) and |x| f(x) under Student's distribution, x ≠ 0: ν/(ν + X²) is Beta(ν/2,
    ½).
    """
    square = mp.mpf(x) ** 2
    total = mp.mpf(freedom) + square
    below, _, front = beta_chances(
        mp.mpf(freedom) / 2, mp.mpf(1) / 2, freedom / total, square / total
    )
    return (below / 2, 1 - below / 2, front) if x < 0 else (1 - below / 2, below / 2, front)


def normal_chances(x: Any) -> tuple[Any, Any, Any]:
    """P(X ≤ x), P(X > x) and |x| f(x) under the standard normal distribution."""
    x = mp.mpf(x)
    return (
        mp.erfc(-x / mp.sqrt(2)) / 2,
        mp.erfc(x / mp.sqrt(2)) / 2,
        abs(x) * mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi),
    )


def log_beta(a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(mp.mpf(a) + mp.mpf(b))


def stirling(x: Any) -> Any:
    """ln Γ(x) − (x − ½) ln x + x − ½ ln 2π."""
    return mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2


# Divergences between beliefs, from the textbook, with digits to spare.


def beta_divergence(belief: Any, other: Any) -> Any:
    (a, b), (c, d) = map(mp.mpf, belief), map(mp.mpf, other)
    slopes = (a - c) * mp.digamma(a) + (b - d) * mp.digamma(b) + (c - a + d - b) * mp.digamma(a + b)
    return log_beta(c, d) - log_beta(a, b) + slopes


def gamma_divergence(belief: Any, other: Any) -> Any:
    (a, r), (c, s) = map(mp.mpf, belief), map(mp.mpf, other)
    return (
        (a - c) * mp.digamma(a)
        - mp.loggamma(a)
        + mp.loggamma(c)
        + c * mp.log(r / s)
        + a * (s - r) / r
    )


def normal_divergence(belief: Any, other: Any) -> Any:
    (m, k), (n, j) = map(mp.mpf, belief), map(mp.mpf, other)
    return (mp.log(k / j) + j / k - 1 + j * (m - n) ** 2) / 2


def normal_gamma_divergence(belief: Any, other: Any) -> Any:
    """Of the precision, and of the mean given the precision, averaged."""
    m, k, a, r = map(mp.mpf, belief)
    n, j = map(mp.mpf, other[:2])
    return (
        gamma_divergence(belief[2:], other[2:])
        + (mp.log(k / j) + j / k - 1 + j * a / r * (m - n) ** 2) / 2
    )


# Beliefs: log-densities, statistics, and grids on which sums are integrals.


def beta_log_density(belief: Any, theta: Any) -> Any:
    return stats.beta.logpdf(theta, *belief)


def gamma_log_density(belief: Any, theta: Any) -> Any:
    return stats.gamma.logpdf(theta, belief[0], scale=1 / belief[1])


def normal_log_density(belief: Any, theta: Any) -> Any:
    return stats.norm.logpdf(theta, belief[0], belief[1] ** -0.5)


def normal_gamma_log_density(belief: Any, theta: Any) -> Any:
    m, k, a, r = belief
    mean, precision = theta[..., 0], theta[..., 1]
    return stats.norm.logpdf(mean, m, (k * precision) ** -0.5) + gamma_log_density(
        (a, r), precision
    )


def beta_statistics(theta: Any) -> Any:
    return np.log(theta), np.log1p(-theta)


def gamma_statistics(theta: Any) -> Any:
    return np.log(theta), -theta


def normal_statistics(theta: Any) -> Any:
    return theta, -theta * theta / 2


def normal_gamma_statistics(theta: Any) -> Any:
    mean, precision = theta[..., 0], theta[..., 1]
    return np.log(precision), -precision, precision * mean, -precision * mean * mean / 2


def line_grid(
    log_density: Callable[[Any], Any], low: float, high: float, points: int = 2001
) -> tuple[Any, Any]:
    """Points of (low, high) and weights f(x)·dx: the trapezium rule after a change of variable that
    stretches the ends.

    On a smooth integrand that dies at both ends it is exact to many digits.
    """
    bounded = math.isfinite(low), math.isfinite(high)

    def stretch(v: Any) -> tuple[Any, Any]:
        if all(bounded):
            return low + (high - low) * special.expit(v), special.log_expit(v) + special.log_expit(
                -v
            ) + math.log(high - low)
        if bounded[0]:
            return low + np.exp(v), v
        return np.sinh(v), np.logaddexp(v, -v) - math.log(2)

    def exponent(v: Any) -> Any:
        x, log_slope = stretch(v)
        with np.errstate(all="ignore"):
            value = np.where((x > low) & (x < high), log_density(x) + log_slope, -np.inf)
        return np.where(np.isnan(value), -np.inf, value)

    wide = np.linspace(-300, 36 if bounded[1] else 300, 30_001)
    mass = exponent(wide)
    inside = np.flatnonzero(mass > mass.max() - 50)
    v = np.linspace(wide[max(inside[0] - 1, 0)], wide[min(inside[-1] + 1, wide.size - 1)], points)
    return stretch(v)[0], np.exp(exponent(v)) * (v[1] - v[0])


def normal_gamma_grid(belief: Any) -> tuple[Any, Any]:
    """Points (mean, precision) and weights: a line grid in the precision, Gauss–Hermite in the mean
    given it.
    """
    precision, weight = line_grid(lambda x: gamma_log_density(belief[2:], x), 0.0, math.inf, 401)
    score, share = np.polynomial.hermite_e.hermegauss(20)
    mean = belief[0] + score / np.sqrt(belief[1] * precision)[:, None]
    points = np.stack([mean, np.broadcast_to(precision[:, None], mean.shape)], axis=-1)
    return points.reshape(-1, 2), (weight[:, None] * share / share.sum()).ravel()


# Reward distributions, from scipy.stats.


@dataclass(frozen=True)
class RewardDistribution:
    """A distribution of rewards: the logarithm of its density or masses, its distribution function
    and where it lives.
    """

    log_density: Callable[[Any], Any]
    cdf: Callable[[Any], Any]
    support: tuple[float, float]
    discrete: bool = False
    atom: float | None = None

    def cdf_before(self, x: Any) -> Any:
        """P(X < x)."""
        if self.discrete:
            return self.cdf(np.asarray(x) - 1)
        return self.cdf(np.nextafter(x, -np.inf)) if self.atom is not None else self.cdf(x)

    def grid(self) -> tuple[Any, Any]:
        """Points and their probabilities, so that sums over them are expectations."""
        if self.discrete:
            last = self.support[0]
            while self.cdf(last) < 1 - 1e-16 and last < self.support[1]:
                last = 2 * last + 10
            x = np.arange(self.support[0], min(self.support[1], last) + 1)
            return x, np.exp(self.log_density(x))
        if self.atom is None:
            return line_grid(self.log_density, *self.support)
        node, weight = np.polynomial.legendre.leggauss(200)
        x = self.atom * (node + 1) / 2
        points = np.append(x, self.atom)
        return points, np.append(
            np.exp(self.log_density(x)) * weight * self.atom / 2,
            np.exp(self.log_density(self.atom)),
        )

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        x, weight = self.grid()
        mean = float(weight @ x)
        return mean, float(weight @ (x - mean) ** 2)

    def divergence(self, other: RewardDistribution) -> float:
        """KL(self ‖ other)."""
        x, weight = self.grid()
        x, weight = x[weight > 0], weight[weight > 0]
        return float(weight @ (self.log_density(x) - other.log_density(x)))


def _cut_exponential(rate: Any, bound: float) -> RewardDistribution:
    distribution = stats.expon(scale=1 / rate)
    return RewardDistribution(
        lambda x: np.where(
            np.asarray(x) < bound, distribution.logpdf(x), distribution.logsf(bound)
        ),
        lambda x: np.where(np.asarray(x) < bound, distribution.cdf(x), 1.0),
        (0.0, bound),
        atom=bound,
    )


def reward_distribution(family: Any, *theta: Any) -> RewardDistribution | None:
    """The distribution f_θ of a family (θ may be arrays), or None for a family that is not known
    here.
    """

    def continuous(distribution: Any, low: float, high: float) -> RewardDistribution:
        return RewardDistribution(distribution.logpdf, distribution.cdf, (low, high))

    def discrete(distribution: Any, low: float, high: float) -> RewardDistribution:
        return RewardDistribution(distribution.logpmf, distribution.cdf, (low, high), discrete=True)

    distributions: dict[str, Callable[..., RewardDistribution]] = {
        "bernoulli": lambda p: discrete(stats.bernoulli(p), 0, 1),
        "exponential": lambda rate: continuous(stats.expon(scale=1 / rate), 0, math.inf),
        "bounded-exponential": lambda rate: _cut_exponential(rate, family.bound),
        "poisson": lambda rate: discrete(stats.poisson(rate), 0, math.inf),
        "gaussian": lambda mean: continuous(stats.norm(mean, family.sigma), -math.inf, math.inf),
        "gaussian-unknown": lambda mean, precision: continuous(
            stats.norm(mean, precision**-0.5), -math.inf, math.inf
        ),
        "gamma": lambda rate: continuous(stats.gamma(family.shape, scale=1 / rate), 0, math.inf),
        "geometric": lambda p: discrete(stats.geom(p), 1, math.inf),
        "log-normal": lambda mean, precision: RewardDistribution(
            lambda x: stats.norm.logpdf(np.log(x), mean, precision**-0.5) - np.log(x),
            lambda x: stats.norm.cdf(np.log(x), mean, precision**-0.5),
            (0, math.inf),
        ),
        "chi-squared": lambda half: continuous(stats.chi2(2 * half), 0, math.inf),
        "beta": lambda a: continuous(stats.beta(a, family.b), 0, 1),
    }
    return distributions[family.name](*theta) if family.name in distributions else None


def unknown_variance_divergence(mean: float, other: float, variance: float) -> float:
    """The least KL from N(mean, variance) to a normal distribution of the other mean, over its
    variance.
    """
    candidates = variance * np.exp(np.linspace(-12, 12, 200_001))
    return float(
        np.min(
            0.5
            * (np.log(candidates / variance) + (variance + (mean - other) ** 2) / candidates - 1)
        )
    )


def log_normal_divergence(mean: float, other: float, variance: float) -> float:
    """The least KL from the log-normal distribution of that mean and variance to one of the other
    mean.
    """
    own = math.log1p(variance / mean**2)
    rivals = own * np.exp(np.linspace(-6, 6, 400_001))
    apart = math.log(mean / other) - (own - rivals) / 2
    return float(np.min(np.log(rivals / own) + (own + apart**2) / rivals - 1)) / 2


#: Where the mean does not fix the distribution: the least KL from that mean and variance to the
#: other mean.
LEAST_DIVERGENCES = {
    "gaussian-unknown": unknown_variance_divergence,
    "log-normal": log_normal_divergence,
}


def exponential_moment(family: Any, theta: Any, pull: float) -> Any:
    """E_θ[exp(pull·X)] of the families whose rewards are bounded."""
    if family.name == "bernoulli":
        return 1 - theta + theta * math.exp(pull)
    excess = (pull - theta) * family.bound
    return theta * family.bound * special.exprel(excess) + np.exp(excess)
