"""The generic family against closed forms (Poisson and exponential distributions written as generic
ones) and against mpmath.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from belman import chance
from belman.beliefs.quadrature import RewardDistribution
from belman.engine import entry, kernel
from belman.errors import FamilyError, PriorError, RewardError
from belman.families import BetaRewards, ChiSquared, Exponential, OneParameter, Poisson

CHANCE_OF_FALSE_ALARM = 1e-6


# Distributions whose conjugate is known, one for each kind of range: the line, half-lines, an
# interval.


@kernel
def identity(constants, x):
    return x


@kernel
def negative(constants, x):
    return -x


@kernel
def exponential(constants, theta):
    return math.exp(theta)


@kernel
def minus_log(constants, theta):
    return -math.log(theta)


@kernel
def minus_log_negative(constants, theta):
    return -math.log(-theta)


@kernel
def inverse(constants, theta):
    return 1.0 / theta


@kernel
def minus_inverse(constants, theta):
    return -1.0 / theta


@kernel
def no_quantile(constants, theta, uniform):
    return math.nan


@kernel
def softplus(constants, theta):
    return max(theta, 0.0) + math.log1p(math.exp(-abs(theta)))


@kernel
def logistic(constants, theta):
    return math.exp(min(theta, 0.0)) / (1.0 + math.exp(-abs(theta)))


class GenericPoisson(OneParameter):
    """θ = ln λ on the line, so that λ ~ Gamma(χ, ν); neither B′ nor the inverse of the mean is
    given.
    """

    name, support = "generic poisson", "whole numbers"
    reward_distribution = RewardDistribution(identity, exponential, exponential, no_quantile)
    statistic_range = mean_range = (0.0, math.inf)

    def supports(self, reward):
        return reward >= 0.0


class GenericExponential(OneParameter):
    """θ = −rate below 0, so that the rate is Gamma(ν + 1, χ)."""

    name, support = "generic exponential", "positive numbers"
    reward_distribution = RewardDistribution(
        identity, minus_log_negative, minus_inverse, no_quantile, slope=minus_inverse
    )
    range = (-math.inf, 0.0)
    statistic_range = mean_range = (0.0, math.inf)

    def supports(self, reward):
        return reward > 0.0


class FallingMean(GenericExponential):
    """The same with θ = rate above 0 and T(x) = −x, so that the mean falls as θ rises: the rate is
    Gamma(ν + 1, −χ).
    """

    name = "falling mean"
    reward_distribution = RewardDistribution(
        negative, minus_log, inverse, no_quantile, slope=minus_inverse
    )
    range = (0.0, math.inf)
    statistic_range = (-math.inf, 0.0)


class CutBernoulli(OneParameter):
    """Log-odds θ between −2 and 3 only, an interval at whose ends the belief does not vanish."""

    name, support = "cut bernoulli", "0 or 1"
    reward_distribution = RewardDistribution(
        identity, softplus, logistic, no_quantile, slope=logistic
    )
    range = (-2.0, 3.0)

    def supports(self, reward):
        return reward in (0.0, 1.0)


class LogOdds(CutBernoulli):
    """The same on the whole line, so that the chance of a success is Beta(χ, ν − χ)."""

    name, range = "log-odds", (-math.inf, math.inf)


# Beliefs by mpmath: the trapezoidal rule in u = ln θ, which converges geometrically.

DISTRIBUTIONS = {
    "chi-squared": (ChiSquared(), mp.loggamma, mp.digamma, lambda t: 2 * t),
    "beta": (
        BetaRewards(b=2.5),
        lambda t: mp.loggamma(t) + mp.loggamma(2.5) - mp.loggamma(t + 2.5),
        lambda t: mp.digamma(t) - mp.digamma(t + 2.5),
        lambda t: t / (t + 2.5),
    ),
}
BELIEFS = [
    ("chi-squared", -0.03, 0.1),
    ("chi-squared", 0.3, 1.0),
    ("chi-squared", -40.0, 30.0),
    ("chi-squared", 2e9, 1e9),
    ("beta", -0.02, 0.1),
    ("beta", -1.0, 0.5),
    ("beta", -4e3, 1e4),
    ("beta", -5e8, 1e9),
]


@dataclass
class Reference:
    log_partition: mp.mpf
    points: list[mp.mpf]
    chances: list[mp.mpf]

    def mean(self, function):
        return mp.fsum(p * function(t) for p, t in zip(self.chances, self.points, strict=True))

    def covariance(self, one, two):
        first, second = self.mean(one), self.mean(two)
        return self.mean(lambda t: (one(t) - first) * (two(t) - second))


@cache
def reference(name, chi, nu):
    _, partition, slope, _ = DISTRIBUTIONS[name]

    def height(u):
        return chi * mp.exp(u) - nu * partition(mp.exp(u)) + u

    with mp.workdps(30):
        low, high = mp.mpf(-60), mp.mpf(60)
        for _ in range(110):
            mode = (low + high) / 2
            rising = (chi - nu * slope(mp.exp(mode))) * mp.exp(mode) + 1 > 0
            low, high = (mode, high) if rising else (low, mode)
        peak = height(mode)
        ends = []
        for side in (-1, 1):
            z = mp.mpf(1)
            while peak - height(mode + side * z) > 60:
                z /= 2
            while peak - height(mode + side * z) < 60:
                z *= mp.mpf("1.1")
            ends.append(mode + side * z)
        nodes = 600 if nu < 2 else 200
        step = (ends[1] - ends[0]) / nodes
        line = [ends[0] + step * k for k in range(nodes + 1)]
        weights = [mp.exp(height(u) - peak) for u in line]
        total = mp.fsum(weights)
        return Reference(
            peak + mp.log(total * step), [mp.exp(u) for u in line], [w / total for w in weights]
        )


@pytest.mark.parametrize(("name", "chi", "nu"), BELIEFS)
def test_belief_is_its_integral(name, chi, nu):
    family, partition, _, mean = DISTRIBUTIONS[name]
    with mp.workdps(30):
        exact = reference(name, chi, nu)
        point = [exact.mean(lambda t: t), -exact.mean(partition)]
        variances = [
            exact.covariance(lambda t: t, lambda t: t),
            -exact.covariance(lambda t: t, partition),
            exact.covariance(partition, partition),
        ]
        expected = exact.mean(mean)
    belief = (chi, nu)
    metric = family.metric(belief)
    assert family.log_partition(belief) == pytest.approx(float(exact.log_partition), rel=1e-11)
    assert family.mean_parameters(belief) == pytest.approx([float(x) for x in point], rel=1e-11)
    assert [metric[0, 0], metric[0, 1], metric[1, 1]] == pytest.approx(
        [float(x) for x in variances], rel=2e-11, abs=0.0
    )
    assert metric[1, 0] == metric[0, 1]
    assert family.expected_reward(belief) == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.parametrize(
    ("a", "b"), [(5.0, 5.0), (0.5, 0.5), (0.05, 0.05), (5e-3, 5e-3), (5e-3, 0.015), (3.0, 400.0)]
)
def test_a_belief_that_bends_in_a_small_part_of_its_range(a, b):
    """The fewer rewards it is worth, the longer are its tails, in log-odds, beside the one place
    where its logarithm is no straight line.
    """
    family, belief = LogOdds(), (a, a + b)
    exact = [mp.digamma(a) - mp.digamma(b), mp.digamma(b) - mp.digamma(a + b)]
    assert family.mean_parameters(belief) == pytest.approx(
        [float(one) for one in exact], rel=1e-10, abs=1e-10
    )
    variances = [mp.psi(1, a) + mp.psi(1, b), mp.psi(1, b) - mp.psi(1, a + b)]
    metric = family.metric(belief)
    assert [metric[0, 0], metric[1, 1]] == pytest.approx(
        [float(one) for one in variances], rel=1e-8
    )
    assert family.log_partition(belief) == pytest.approx(float(mp.log(mp.beta(a, b))), rel=1e-11)
    chances = [0.1, 0.5, 0.9]
    assert [family.mean_cdf(belief, x) for x in chances] == pytest.approx(
        stats.beta(a, b).cdf(chances), rel=1e-9
    )


@pytest.mark.parametrize(
    ("name", "belief", "other"),
    [
        ("chi-squared", (0.3, 1.0), (0.9, 2.0)),
        ("chi-squared", (0.3, 1.0), (0.300001, 1.000001)),
        ("chi-squared", (2e9, 1e9), (2e9 + 1.0, 1e9 + 1.0)),
        ("chi-squared", (2e9, 1e9), (2.0002e9, 1.0001e9)),
        ("beta", (-1.0, 0.5), (-40.0, 30.0)),
        ("beta", (-4e3, 1e4), (-1.0, 0.5)),
        ("beta", (-5e8, 1e9), (-5e8 - 0.3, 1e9 + 1.0)),
    ],
)
def test_divergence_is_exact_near_and_far(name, belief, other):
    family, partition, *_ = DISTRIBUTIONS[name]
    with mp.workdps(30):
        own, rival = reference(name, *belief), reference(name, *other)
        steps = mp.mpf(belief[0]) - mp.mpf(other[0]), mp.mpf(belief[1]) - mp.mpf(other[1])
        linear = own.mean(lambda t: steps[0] * t - steps[1] * partition(t))
        exact = linear - own.log_partition + rival.log_partition
    assert family.divergence(belief, other) == pytest.approx(float(exact), rel=1e-9, abs=0.0)
    assert family.divergence(belief, belief) == 0.0


@pytest.mark.parametrize("nu", [0.1, 0.5, 3.0, 1e3, 1e6, 1e9])
def test_beta_rewards_with_b_one_have_a_gamma_belief(nu):
    family, gamma = BetaRewards(), Exponential()
    belief, other = (-0.7 * nu, nu), (-0.6 * nu - 0.3, nu + 1.0)
    twin, rival = (nu + 1.0, 0.7 * nu), (nu + 2.0, 0.6 * nu + 0.3)
    scale = np.sqrt(np.diag(gamma.metric(twin)))
    assert family.log_partition(belief) == pytest.approx(gamma.log_partition(twin), rel=1e-12)
    assert family.mean_parameters(belief) == pytest.approx(
        gamma.mean_parameters(twin)[[1, 0]] * [-1, 1], rel=1e-12
    )
    metric = gamma.metric(twin)[::-1, ::-1] * [[1, -1], [-1, 1]]
    assert family.metric(belief) / np.outer(scale[::-1], scale[::-1]) == pytest.approx(
        metric / np.outer(scale[::-1], scale[::-1]), abs=1e-10
    )
    assert family.divergence(belief, other) == pytest.approx(
        gamma.divergence(twin, rival), rel=1e-9, abs=0.0
    )
    for theta in np.array([0.5, 1.0, 2.0]) * twin[0] / twin[1]:
        with mp.workdps(30):
            shape, rate = mp.mpf(nu) + 1, -mp.mpf(belief[0])
            exact = (
                (shape - 1) * mp.log(theta)
                - rate * theta
                - mp.loggamma(shape)
                + shape * mp.log(rate)
            )
        assert float(family.log_density(belief, theta)) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("family", [ChiSquared(), BetaRewards(b=0.3), BetaRewards(b=4.0)], ids=repr)
def test_solve_inverts_the_mean_parameters(family):
    rng = np.random.default_rng(5)
    for trial in range(60):
        nu = 10 ** rng.uniform(-1, 9)
        chi = (
            nu * rng.normal(0.0, 2.0)
            if isinstance(family, ChiSquared)
            else -nu * math.exp(rng.normal(0.0, 2.0))
        )
        target = family.mean_parameters((chi, nu))
        guess = [(1.1 * chi, 1.1 * nu), family.prior, (1.0, 1.0)][
            trial % 3
        ]  # the last is no belief where rewards are beta
        result = family.from_mean_parameters(target, guess)
        assert family.mean_parameters(result) == pytest.approx(target, rel=1e-10)
        if nu < 1e4:
            assert result == pytest.approx([chi, nu], rel=1e-8)


@pytest.mark.parametrize("family", [ChiSquared(), BetaRewards(b=0.5), BetaRewards(b=5.0)], ids=repr)
def test_solve_of_a_wide_average_is_the_least_of_its_objective(family):
    """Beliefs far apart have a barycentre at the floor of ν, or below ν = 0; it beats every other
    belief.
    """
    beliefs = (
        [(-8.0, 4.0), (-900.0, 30.0)]
        if isinstance(family, BetaRewards)
        else [(-80.0, 4.0), (150.0, 30.0)]
    )
    floor = -1.0 / max(1.0, family.b) if isinstance(family, BetaRewards) else 0.0
    target = np.mean([family.mean_parameters(belief) for belief in beliefs], axis=0)
    result = family.from_mean_parameters(target)
    least = family.log_partition(result) - result @ target
    rng = np.random.default_rng(6)
    for _ in range(100):
        other = result * np.exp(0.2 * rng.normal(size=2)) + [0.0, 0.05 * rng.random()]
        other[1] = max(other[1], floor)
        assert family.log_partition(other) - other @ target >= least - 1e-12 * abs(least)


@pytest.mark.interpreted
@pytest.mark.parametrize("nu", [0.2, 1.0, 30.0, 1e4, 1e6])
def test_generic_poisson_is_poisson(nu):
    """With B′ from Richardson's extrapolation, which is good to about 1e-13."""
    family, closed = GenericPoisson(), Poisson()
    belief, other = (2.5 * nu, nu), (2.5 * nu + 4.0, nu + 1.0)
    assert family.log_partition(belief) == pytest.approx(closed.log_partition(belief), rel=1e-10)
    assert family.divergence(belief, other) == pytest.approx(
        closed.divergence(belief, other), rel=1e-8
    )
    assert family.expected_reward(belief) == pytest.approx(2.5, rel=1e-10)
    for level in (1e-9, 0.01, 0.5):
        for upper in (False, True):
            quantile = closed.mean_quantile(belief, level, upper=upper)
            assert family.mean_quantile(belief, level, upper=upper) == pytest.approx(
                quantile, rel=1e-9
            )
    assert family.parameter_of(7.0) == pytest.approx((math.log(7.0),), rel=1e-14)


@pytest.mark.interpreted
@pytest.mark.parametrize("nu", [0.15, 1.0, 50.0, 1e9])
def test_generic_exponential_is_exponential(nu):
    family, closed = GenericExponential(), Exponential()
    belief, twin = (3.0 * nu, nu), (nu + 1.0, 3.0 * nu)
    assert family.log_partition(belief) == pytest.approx(closed.log_partition(twin), rel=1e-11)
    assert family.expected_reward(belief) == pytest.approx(closed.expected_reward(twin), rel=1e-9)
    assert family.expected_reward((3.0, -0.2)) == math.inf
    assert family.reward_divergence(2.0, 3.0) == pytest.approx(
        closed.reward_divergence(2.0, 3.0), rel=1e-12
    )


@pytest.mark.interpreted
@pytest.mark.parametrize("nu", [0.15, 1.0, 50.0, 1e9])
def test_a_mean_that_falls_with_the_parameter(nu):
    family, closed = FallingMean(), Exponential()
    belief, twin = (-3.0 * nu, nu), (nu + 1.0, 3.0 * nu)
    for level in (1e-9, 1e-3, 0.3):
        for upper in (False, True):
            quantile = family.mean_quantile(belief, level, upper=upper)
            if nu < 1e3:  # SciPy's far tails are no reference beyond
                assert quantile == pytest.approx(
                    closed.mean_quantile(twin, level, upper=upper), rel=1e-9
                )
            assert family.mean_cdf(belief, quantile) == pytest.approx(
                1.0 - level if upper else level, rel=1e-9
            )


@pytest.mark.parametrize("nu", [0.4, 8.0, 1e9])
def test_tails_of_the_expected_reward_are_the_integral_of_the_density(nu):
    """On both sides, down to 1e-12, by mpmath on the Gamma(ν + 1) distribution of θ."""
    family = BetaRewards()
    with mp.workdps(30):
        spread = 1 / mp.sqrt(nu + 1) if nu > 50 else mp.mpf(2)
        for level in (1e-12, 1e-6, 0.01, 0.4):
            for side in (-1, 1):
                mean = family.mean_quantile((-2.0 * nu, nu), level, upper=side > 0)
                edge = mp.log(2 * nu * mp.mpf(mean) / (1 - mp.mpf(mean)))

                def density(u):
                    return mp.exp((nu + 1) * u - mp.exp(u) - mp.loggamma(nu + 1))

                reach = (
                    [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0]
                    if nu > 50 or side < 0
                    else [0.0, 0.2, 0.5, 1.0, 2.0, 3.0]
                )
                mass = abs(mp.quad(density, [edge + side * k * spread for k in reach]))
                assert float(mass) == pytest.approx(level, rel=2e-8)
                assert family.mean_cdf((-2.0 * nu, nu), mean) == pytest.approx(
                    level if side < 0 else 1.0 - level, rel=1e-8
                )


@pytest.mark.interpreted
def test_an_interval_whose_ends_carry_density():
    """E[T] under the predictive has boundary terms there."""
    family, belief = CutBernoulli(), np.array([-3.0, 2.0])

    def density(t):
        return mp.exp(belief[0] * t - belief[1] * mp.log1p(mp.exp(t)))

    with mp.workdps(25):
        total = mp.quad(density, [-2, 0, 3])
        statistic = mp.quad(lambda t: density(t) / (1 + mp.exp(-t)), [-2, 0, 3]) / total
    assert family.log_partition(belief) == pytest.approx(float(mp.log(total)), rel=1e-10)
    assert family.expected_reward(belief) == pytest.approx(float(statistic), rel=1e-10)
    imagined = belief.copy()
    family.kernels.imagine(family.constants, imagined)
    assert imagined == pytest.approx([-3.0 + float(statistic), 3.0], rel=1e-9)
    assert np.isneginf(family.log_density(belief, [-2.5, 3.5])).all()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_imagined_statistic_is_the_expected_one(name):
    family, _, slope, _ = DISTRIBUTIONS[name]
    chi, nu = (0.3, 1.0) if name == "chi-squared" else (-1.0, 0.5)
    with mp.workdps(30):
        expected = reference(name, chi, nu).mean(slope)
    imagined = np.array([chi, nu])
    family.kernels.imagine(family.constants, imagined)
    # E[B′] has a slow tail at 0, which the reference cuts at e⁻⁶⁰
    assert imagined == pytest.approx([chi + float(expected), nu + 1.0], rel=1e-7)


@pytest.mark.parametrize(
    ("family", "reward", "likelihood"),
    [
        (ChiSquared(), 5.0, lambda theta: stats.chi2.pdf(5.0, 2.0 * theta)),
        (BetaRewards(b=2.5), 0.3, lambda theta: stats.beta.pdf(0.3, theta, 2.5)),
    ],
    ids=["chi-squared", "beta"],
)
def test_update_is_bayes_on_a_grid(family, reward, likelihood):
    grid = np.exp(np.linspace(-25.0, 6.0, 4001))
    prior = family.update(family.prior, reward)
    product = np.exp(family.log_density(prior, grid)) * likelihood(grid)
    product /= np.trapezoid(product * grid, np.log(grid))
    posterior = np.exp(family.log_density(family.update(prior, reward), grid))
    assert posterior == pytest.approx(product, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "parameter", "other", "accuracy"),
    [
        ("chi-squared", 2.5, 4.0, 1e-12),
        ("chi-squared", 2.5, 2.5 + 2.0**-20, 1e-8),
        ("beta", 3.0, 0.5, 1e-12),
    ],
)
def test_reward_divergence_and_its_linear_form(name, parameter, other, accuracy):
    family, partition, slope, _ = DISTRIBUTIONS[name]
    means = [family.mean_of(theta) for theta in (parameter, other)]
    assert family.parameter_of(means[0]) == pytest.approx((parameter,), rel=1e-14)
    with mp.workdps(40):
        first, second = (mp.mpf(family.parameter_of(mean)[0]) for mean in means)
        exact = float(partition(second) - partition(first) - slope(first) * (second - first))
    assert family.reward_divergence(*means) == pytest.approx(exact, rel=accuracy, abs=0.0)
    assert family.reward_divergence(means[0], means[0]) == 0.0
    terms, weights = np.zeros((3, 1)), np.zeros(3)
    column = np.zeros(3)
    family.kernels.terms(family.constants, means[0], 1.0, column)
    terms[:, 0] = column
    family.kernels.weights(family.constants, means[1], weights)
    assert family.kernels.evidence(terms, 0, weights) == pytest.approx(
        exact, rel=1e-9, abs=1e-13 * abs(terms).max()
    )


def test_draws_follow_their_distributions():
    """Kolmogorov–Smirnov, with one chance in a million each to fail by accident."""
    beta, chi = BetaRewards(), ChiSquared()
    for nu in (0.3, 40.0):
        draws = beta.sample_parameters((-2.0 * nu, nu), chance.generator(1, int(nu)), 20_000)[:, 0]
        assert (
            stats.kstest(draws, stats.gamma(nu + 1.0, scale=0.5 / nu).cdf).pvalue
            > CHANCE_OF_FALSE_ALARM
        )
    rewards = chi.sample_rewards(1.7, chance.generator(2), 20_000)
    assert stats.kstest(rewards, stats.chi2(3.4).cdf).pvalue > CHANCE_OF_FALSE_ALARM
    rewards = BetaRewards(b=2.5).sample_rewards(0.8, chance.generator(3), 20_000)
    assert stats.kstest(rewards, stats.beta(0.8, 2.5).cdf).pvalue > CHANCE_OF_FALSE_ALARM
    theta = chi.sample_parameters((0.3, 2.0), chance.generator(4), 1)[0, 0]
    belief, rng = np.array([0.3, 2.0]), chance.generator(4)
    drawn = entry(chi.kernels.sample_mean)(constants=chi.constants, belief=belief, rng=rng)
    assert drawn == 2.0 * theta


@pytest.mark.parametrize(
    ("family", "least", "largest"), [(ChiSquared(), 0.0, math.inf), (BetaRewards(b=0.01), 0.0, 1.0)]
)
def test_rewards_stay_inside_the_open_support(family, least, largest):
    """So that T(x) is finite even where shapes of 1e-3 send rewards to the ends."""
    rewards = family.sample_rewards(1e-3, chance.generator(9), 1000)
    assert ((rewards > least) & (rewards < largest)).all()
    assert np.isfinite(family.update(family.prior, rewards.min())).all()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_extreme_beliefs_give_numbers(name):
    family = DISTRIBUTIONS[name][0]
    for nu in (1e-3, 0.1, 1e9, 1e15):
        for ratio in (1e-6, 1.0, 30.0):
            belief = (-ratio * nu, nu)
            answers = [
                family.log_partition(belief),
                *family.mean_parameters(belief),
                *family.metric(belief).ravel(),
                family.expected_reward(belief),
                family.mean_quantile(belief, 1e-9),
                family.mean_quantile(belief, 1e-9, upper=True),
                family.divergence(belief, (-1.0, 1.0)),
                family.divergence((-1.0, 1.0), belief),
            ]
            assert np.isfinite(answers).all(), (belief, answers)
            assert family.mean_cdf(belief, 1e-9) >= 0.0


def test_doors():
    assert ChiSquared().prior == (0.0, 1.0)
    assert BetaRewards(b=2.0).prior == (-1.0, 1.0)
    with pytest.raises(PriorError, match="nu positive and chi/nu strictly between -inf and 0"):
        BetaRewards(prior=(0.5, 1.0))
    with pytest.raises(PriorError, match="nu positive"):
        ChiSquared(prior=(0.5, 0.0))
    with pytest.raises(RewardError, match="strictly between 0 and 1"):
        BetaRewards().update((-1.0, 1.0), 1.0)
    with pytest.raises(RewardError, match="positive numbers"):
        ChiSquared().update((0.0, 1.0), 0.0)
    with pytest.raises(FamilyError, match="b=0"):
        BetaRewards(b=0)
    with pytest.raises(FamilyError, match="mean 1"):
        BetaRewards().parameter_of(1.5)
    with pytest.raises(FamilyError, match="mean -1"):
        GenericPoisson().parameter_of(-1.0)


def test_code_from_the_cache_is_not_another_distribution(tmp_path):
    """The kernels of two distributions share their names: a process that compiles one and loads the
    other must not mix them.
    """
    program = """
import sys
from belman.families import BetaRewards, ChiSquared
for name in sys.argv[1:]:
    print({"beta": BetaRewards(b=2.5), "chi": ChiSquared()}[name].reward_divergence(0.3, 0.4))
"""
    environment = {**os.environ, "BELMAN_CACHE": str(tmp_path)}

    def run(*names):
        command = [sys.executable, "-c", program, *names]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout.split()

    alone = run("beta")
    assert run("chi", "beta")[1:] == alone
