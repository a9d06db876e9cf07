"""Mostly nothing, sometimes an amount: Bernoulli(p) × amounts, with Beta(α, β) beside their belief.

The mean reward is p·M, with p and the mean amount M independent under the belief. Divergences know
of a distribution no more than its mean μ and its variance s², so they take purchases as a Poisson
number, and amounts as wide as exponential ones: the least KL over pairs of frequency and mean
amount with the product μ′ is then (4μ²/s²) ln cosh(½ ln(μ′/μ)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from belman import chance
from belman.beliefs.product import beside_chance
from belman.beliefs.stretched import STEP, beta_fall, beta_reach, half_length, position
from belman.engine import allocating_kernel, factory, kernel
from belman.errors import FamilyError, unknown
from belman.families import gamma_known_shape, log_normal, positive
from belman.families.family import LEAST, Family, Floats
from belman.families.family_kernels import FamilyKernels
from belman.families.gamma_known_shape import GammaKnownShape
from belman.families.log_normal import LogNormal
from belman.families.positive import Positive, shape_of
from belman.families.searches import searched, searched_quantile
from belman.registry import register
from belman.special import log_ratio

_TYPICAL = 1  # its place in the distribution, behind the shape of gamma amounts
_CHANCE_PRIOR = (0.5, 0.5)
_GAMMA_WEIGHT = 0.1  # of the prior on gamma amounts, in amounts; the typical one is its median
_NARROW = 0.05  # of the reach of log-odds: about their deviation
_FINEST = 16.0  # steps in one, at most: then chances are right to 0.003 whatever amounts are known


@kernel
def log_cosh(x):
    """≥ 0, with all digits near 0 and without overflow."""
    size = abs(x)
    if size > 1.0:
        return size - math.log(2.0) + math.log1p(math.exp(-2.0 * size))
    half = math.sinh(0.5 * size)
    return math.log1p(2.0 * half * half)


@kernel
def d(constants, mean, other, spread):
    """The least KL over pairs with that mean; an arm without a purchase by typical amounts."""
    if mean <= 0.0:
        return max(other, 0.0) / constants[_TYPICAL]
    if other <= 0.0:
        return math.inf
    return 4.0 * shape_of(mean, spread) * log_cosh(0.5 * log_ratio(other, mean))


@kernel
def terms(constants, mean, spread, out):
    out[0] = 0.5 * math.log(max(mean, 1e-300))
    out[1] = 4.0 * shape_of(mean, spread) if mean > 0.0 else 0.0
    out[2] = 0.0 if mean > 0.0 else 1.0 / constants[_TYPICAL]


@kernel
def weights(constants, mean, out):
    out[0] = 0.5 * math.log(max(mean, 1e-300))
    out[1] = max(mean, 0.0)


@kernel
def evidence(terms, arm, weights):
    return terms[1, arm] * log_cosh(weights[0] - terms[0, arm]) + terms[2, arm] * weights[1]


@kernel
def gamma_relative_variance(constants, belief):
    return 1.0 / constants[0]


@kernel
def gamma_log_width(constants, belief):
    return 1.0 / math.sqrt(belief[0])


@kernel
def normal_log_width(constants, belief):
    """How wide the belief on the logarithm of the mean amount is, without its tails."""
    return math.sqrt(belief[3] / (belief[2] * belief[1]))


@kernel
def _step(reach, log_width):
    """Of the line of log-odds: finer than the belief asks for where amounts are better known."""
    ratio = log_width / (_NARROW * reach)
    return STEP * min(max(ratio, 1.0 / _FINEST), 1.0)


@factory
def money_kernels(
    amounts: FamilyKernels, relative_variance: Any, log_width: Any, one: bool
) -> FamilyKernels:
    """Bernoulli × a family of positive amounts, of one parameter or of more."""

    @kernel
    def update(constants, belief, reward):
        if reward > 0.0:
            belief[0] += 1.0
            amounts.update(constants, belief[2:], reward)
        else:
            belief[1] += 1.0

    @kernel
    def expected_chance(belief):
        return belief[0] / (belief[0] + belief[1])

    @allocating_kernel
    def imagine(constants, belief):
        """A share p of one imagined amount."""
        share = expected_chance(belief)
        before = belief[2:].copy()
        amounts.imagine(constants, belief[2:])
        amounts.belief.blend(constants, belief[2:], before, share)
        belief[0] += share
        belief[1] += 1.0 - share

    @kernel
    def expected_reward(constants, belief):
        return expected_chance(belief) * amounts.expected_reward(constants, belief[2:])

    @kernel
    def worth(constants, belief):
        return belief[0] + belief[1]

    @kernel
    def spread(constants, belief):
        share = expected_chance(belief)
        amount = min(max(amounts.expected_reward(constants, belief[2:]), 1e-75), 1e75)
        wide = 1.0 - share + relative_variance(constants, belief[2:])
        return max(share * amount * amount * wide, 1e-300)

    @kernel
    def mean_cdf(constants, belief, x):
        """E[P(M ≤ x/p)] over p ~ Beta(α, β)."""
        if x <= 0.0:
            return 0.0
        a, b = belief[0], belief[1]
        left, right = beta_reach(a, b, -1.0), beta_reach(a, b, 1.0)
        length = half_length(left, right)
        step = _step(left + right, log_width(constants, belief[2:]))
        count = math.ceil(length / step)
        below, total = 0.0, 0.0
        for k in range(-count, count + 1):
            w, weight = position(left, right, length, k * step)
            weight *= math.exp(-beta_fall(a, b, w))
            inverse = 1.0 + b / a * math.exp(min(-w, 690.0))
            total += weight
            below += weight * amounts.mean_cdf(constants, belief[2:], min(x * inverse, 1e300))
        return below / total

    mean_quantile = searched_quantile(mean_cdf, expected_reward)

    @kernel
    def sample(constants, belief, rng, theta):
        theta[0] = chance.beta(rng, belief[0], belief[1])
        amounts.sample(constants, belief[2:], rng, theta[1:])

    @kernel
    def sample_mean(constants, belief, rng):
        share = chance.beta(rng, belief[0], belief[1])
        return share * min(amounts.sample_mean(constants, belief[2:], rng), 1e300)

    @kernel
    def mean(constants, theta):
        return theta[0] * amounts.mean(constants, theta[1:])

    @kernel
    def reward(constants, theta, uniform):
        if uniform < 1.0 - theta[0] or theta[0] <= 0.0:
            return 0.0
        inside = (uniform - (1.0 - theta[0])) / theta[0]
        return max(
            amounts.reward(constants, theta[1:], min(max(inside, 1e-16), 1.0 - 1e-16)), 1e-300
        )

    common_mean = searched(d)
    parts = {"d": d, "terms": terms, "weights": weights, "evidence": evidence, **locals()}
    return FamilyKernels.of(beside_chance(amounts.belief, 1 if one else 2), parts)


KERNELS = {
    "log-normal": money_kernels(
        log_normal.KERNELS, log_normal.relative_variance, normal_log_width, False
    ),
    "gamma": money_kernels(
        gamma_known_shape.KERNELS, gamma_relative_variance, gamma_log_width, True
    ),
    "any": money_kernels(positive.KERNELS, positive.relative_variance, normal_log_width, False),
}


@register
class Money(Family):
    """Rewards that are mostly 0 and sometimes an amount, such as what a visitor spends.

    `amounts` are "log-normal", "gamma" of known `shape`, or of "any" kind, by their moments.
    `typical` is about what a purchase brings, to a factor of some hundreds: it is the weak prior of
    the amounts. The belief on the chance of a purchase is Beta(α, β), by default Beta(½, ½).
    `share` and `sigma` are the chance of a purchase and the deviation of the logarithm of an
    amount that a simulation draws; a belief never reads them.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default Beta(½, ½) and the weak
        prior of the amounts.
    amounts
        What an amount is: 'log-normal', 'gamma' of known `shape`, or 'any' by its moments.
    typical
        About what a purchase brings, to a factor of some hundreds.
    shape
        The shape of amounts, where they are 'gamma'.
    share
        The chance of a purchase in a simulation; a belief never reads it.
    sigma
        The standard deviation of the logarithm of an amount in a simulation; a belief never reads
        it.

    >>> shop = Money(typical=30.0)
    >>> belief = shop.prior
    >>> for spent in [0.0, 0.0, 25.0, 0.0, 0.0, 0.0, 40.0, 0.0]:
    ...     belief = shop.update(belief, spent)
    >>> round(shop.expected_reward(belief), 1)
    15.3
    """

    amounts: str = "log-normal"
    typical: float = 1.0
    shape: float = 1.0
    share: float = 0.03
    sigma: float = 1.0

    name = "money"
    mean_range = (0.0, math.inf)
    support = "numbers from 0 up"
    closed_form = False
    positive = ("typical", "shape", "share", "sigma")
    no_joint = "the normaliser E[exp(X/τ)] of unbounded amounts is infinite"

    def __post_init__(self) -> None:
        if self.amounts not in KERNELS:
            raise FamilyError(unknown("distribution of amounts", self.amounts, KERNELS))
        self._check_positive()
        if self.share > 1.0:
            raise FamilyError(f"share={self.share!r} is not a chance: it must be at most 1")
        super().__post_init__()

    @property
    def amount(self) -> Family:
        """The family of the amounts alone."""
        if self.amounts == "gamma":
            known = 1.0 + _GAMMA_WEIGHT * self.shape
            median = (known - 1.0 / 3.0) / self.shape  # of Gamma(known), within 4 %
            return GammaKnownShape(self.shape, prior=(known, median * self.typical))
        kind = LogNormal if self.amounts == "log-normal" else Positive
        return kind(self.typical, self.sigma)

    @property
    def kernels(self) -> FamilyKernels:  # type: ignore[override]
        """Those of its distribution of amounts."""
        return KERNELS[self.amounts]

    @property
    def constants(self) -> Floats:
        kind = list(KERNELS).index(self.amounts)
        return np.array([self.shape, self.typical, self.share, self.sigma, kind], dtype=np.float64)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        """Successes and failures of the chance of an amount, then those of the amounts."""
        return ("buys", "passes", *self.amount.coordinates)

    @property
    def parameters(self) -> int:  # type: ignore[override]
        return 1 + self.amount.parameters

    @property
    def conjugate(self) -> bool:  # type: ignore[override]
        return self.amount.conjugate

    @property
    def mean_exists(self) -> bool:  # type: ignore[override]
        return self.amount.mean_exists

    def default_prior(self) -> tuple[float, ...]:
        return (*_CHANCE_PRIOR, *self.amount.prior)

    def proper(self, belief: Sequence[float]) -> bool:
        return belief[0] > 0.0 and belief[1] > 0.0 and self.amount.proper(belief[2:])

    @property
    def least(self) -> tuple[float, ...]:
        return (LEAST, LEAST, *self.amount.least)

    def _proper_words(self) -> str:
        return f"the first two positive, and of the rest {self.amount._proper_words()}"

    def supports(self, reward: float) -> bool:
        return reward >= 0.0

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        inside = self._mean_between(mean, *self.mean_range)
        return (self.share, *self.amount.parameter_of(inside / self.share))

    def spread_of(self, theta: Sequence[float]) -> float:
        share, amount = theta[0], self.amount
        mean = amount.mean_of(theta[1:])
        wide = (
            1.0 / self.shape if self.amounts == "gamma" else amount.spread_of(theta[1:]) / mean**2
        )
        return share * mean**2 * (1.0 - share + wide)
