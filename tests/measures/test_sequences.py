"""Martingales against integrals by mpmath, their expectation by enumeration, intervals against a
grid of pairs, and how often they are ever wrong.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from belman.errors import SettingError
from belman.families import (
    Bernoulli,
    BetaRewards,
    BoundedExponential,
    Exponential,
    Gaussian,
    GaussianUnknown,
    Poisson,
)
from belman.families.mirror import Mirror
from belman.families.tally import learnt
from belman.measures import (
    log_separation,
    mixture,
    policy_value_sequence,
)
from belman.measures.sequences import difference_sequence, mean_sequence, ratio_sequence

REWARDS = {
    "bernoulli": [1.0, 0.0, 0.0, 1.0, 0.0],
    "poisson": [2.0, 0.0, 3.0, 1.0],
    "exponential": [0.3, 2.0, 0.9],
    "gaussian": [0.5, -1.0, 2.0],
}
DISTRIBUTIONS = {
    "bernoulli": (Bernoulli(prior=(2.0, 3.0)), (0, 1), lambda t, x: t**x * (1 - t) ** (1 - x)),
    "poisson": (Poisson(prior=(2.0, 1.5)), (0, mpmath.inf), lambda t, x: t**x * mpmath.exp(-t)),
    "exponential": (
        Exponential(prior=(2.0, 1.5)), (0, mpmath.inf), lambda t, x: t * mpmath.exp(-t * x)
    ),
    "gaussian": (
        Gaussian(prior=(0.2, 0.7)),
        (-mpmath.inf, mpmath.inf),
        lambda t, x: mpmath.exp(-((x - t) ** 2) / 2),
    ),
}  # fmt: skip
PRIORS = {
    "bernoulli": lambda t: stats.beta(2.0, 3.0).pdf(float(t)),
    "poisson": lambda t: stats.gamma(2.0, scale=1 / 1.5).pdf(float(t)),
    "exponential": lambda t: stats.gamma(2.0, scale=1 / 1.5).pdf(float(t)),
    "gaussian": lambda t: stats.norm(0.2, 0.7**-0.5).pdf(float(t)),
}


def of(family, rewards):
    belief = learnt(family, family.prior, rewards)
    average = float(np.mean(rewards)) if len(rewards) else 0.0
    return mixture(family, family.prior, belief, len(rewards), average)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_mixture_is_its_integral(name):
    family, ends, density = DISTRIBUTIONS[name]
    rewards = REWARDS[name]
    result = of(family, rewards)

    def product(theta):
        return mpmath.fprod(density(theta, x) for x in rewards)

    points = [ends[0], 0.3, 1, ends[1]] if ends[1] != 1 else [0, 0.3, 1]
    whole = mpmath.quad(lambda t: product(t) * PRIORS[name](t), points)
    for mean in (0.2, 0.45, 0.8):
        theta = family.parameter_of(mean)[0]
        assert result.log(mean) == pytest.approx(
            float(mpmath.log(whole / product(theta))), abs=1e-7
        )
    mirrored = of(Mirror(family), [-x for x in rewards])
    assert mirrored.log(-0.45) == pytest.approx(result.log(0.45), abs=1e-9)


def test_unknown_variance_is_an_integral_over_the_largest_likelihood():
    rewards = np.array([9.5, 11.0, 10.2, 8.7])
    family = GaussianUnknown(prior=(9.0, 0.5, 2.0, 1.5))
    result = of(family, rewards)

    def given_precision(rate):
        """The mean is integrated in closed form: rewards are jointly normal."""
        cover = (np.eye(4) + np.ones((4, 4)) / 0.5) / rate
        joint = stats.multivariate_normal(np.full(4, 9.0), cover).pdf(rewards)
        return joint * stats.gamma(2.0, scale=1 / 1.5).pdf(rate)

    whole = mpmath.quad(lambda rate: given_precision(float(rate)), [1e-9, 0.5, 2, 8, 60])
    for mean in (8.0, 9.85, 12.0):
        around = float(((rewards - mean) ** 2).mean())
        most = stats.norm(mean, math.sqrt(around)).logpdf(rewards).sum()
        assert result.log(mean) == pytest.approx(float(mpmath.log(whole)) - most, abs=1e-6)
    assert mean_sequence(of(family, rewards[:1]), 0.05) == (-math.inf, math.inf)
    assert mean_sequence(of(family, [3.0, 3.0]), 0.05) == (-math.inf, math.inf)


@pytest.mark.parametrize("mean", [0.1, 0.6])
def test_coins_make_a_martingale_and_shares_less(mean):
    """The expectation over every sequence of four rewards, by enumeration."""
    family = Bernoulli()
    coins = ((0.0, 1.0 - mean), (1.0, mean))
    shares = ((0.5 * mean, 0.5), (1.5 * mean, 0.5))
    for constants, exact in ((coins, True), (shares, False)):
        total = sum(
            math.prod(chance for _, chance in path)
            * math.exp(of(family, [x for x, _ in path]).log(mean))
            for path in itertools.product(constants, repeat=4)
        )
        assert total == pytest.approx(1.0, abs=1e-9) if exact else total < 1.0


def test_normal_differences_have_a_closed_form():
    family = Gaussian(sigma=2.0)
    rng = np.random.default_rng(1)
    one, other = rng.normal(1.0, 2.0, 80), rng.normal(0.5, 2.0, 50)
    mine, control = of(family, one), of(family, other)
    spare = math.log(20.0) - mine.log(mine.centre) - control.log(control.centre)
    radius = math.sqrt(2.0 * spare * 4.0 * (1 / 80 + 1 / 50))
    gap = one.mean() - other.mean()
    result = difference_sequence(mine, control, 0.05)
    assert result == pytest.approx((gap - radius, gap + radius), rel=1e-6)


@pytest.mark.parametrize(
    ("wins", "plays"), [((40, 30), (100, 100)), ((0, 3), (7, 60)), ((9, 0), (9, 30))]
)
def test_coins_against_a_grid_of_pairs(wins, plays):
    rows = [[1.0] * k + [0.0] * (n - k) for k, n in zip(wins, plays, strict=True)]
    mine, control = (of(Bernoulli(), row) for row in rows)
    grid = (np.arange(800) + 0.5) / 800
    logs = [np.array([part.log(float(p)) for p in grid]) for part in (mine, control)]
    inside = logs[0][:, None] + logs[1][None, :] < math.log(20.0)
    gaps = (grid[:, None] - grid[None, :])[inside]
    result = difference_sequence(mine, control, 0.05)
    assert result == pytest.approx((gaps.min(), gaps.max()), abs=3e-3)
    shares = (grid[:, None] / grid[None, :] - 1.0)[inside]
    assert ratio_sequence(mine, control, 0.05)[0] == pytest.approx(shares.min(), abs=0.02)
    common = min(logs[0] + logs[1])
    assert log_separation([mine, control]) == pytest.approx(common, abs=0.02)


def test_a_product_is_tighter_than_two_intervals():
    rows = [[1.0] * k + [0.0] * (1_000 - k) for k in (400, 300)]
    mine, control = (of(Bernoulli(), row) for row in rows)
    low, high = difference_sequence(mine, control, 0.05)
    one, other = mean_sequence(mine, 0.025), mean_sequence(control, 0.025)
    assert high - low < 0.85 * (one[1] - one[0] + other[1] - other[0])


def test_before_any_reward_nothing_is_known():
    blank, told = of(Bernoulli(), []), of(Bernoulli(), [1.0, 0.0])
    assert mean_sequence(blank, 0.05) == (0.0, 1.0)
    low, high = difference_sequence(blank, told, 0.05)
    assert low < -0.9
    assert high > 0.9
    assert log_separation([blank, told]) <= 0.0


@pytest.mark.parametrize("counts", [(1, 10**9), (3 * 10**6, 10**9), (0, 10**6), (10**6, 10**6)])
def test_large_counts(counts):
    wins, plays = counts
    result = mixture(
        Bernoulli(), (1.0, 1.0), (1.0 + wins, 1.0 + plays - wins), plays, wins / plays
    )  # fmt: skip
    low, high = mean_sequence(result, 0.05)
    assert 0.0 <= low <= wins / plays <= high <= 1.0
    assert high - low < 12.0 / math.sqrt(plays)


@pytest.mark.parametrize("family", [Exponential(), BoundedExponential(bound=2.0), BetaRewards()])
def test_other_families_cover(family):
    rng = np.random.default_rng(3)
    mean = 0.4
    theta = family.parameter_of(mean)[0]
    draws = rng.beta(theta, 1.0, 300) if family.name == "beta" else rng.exponential(1 / theta, 300)
    result = of(family, np.minimum(draws, 2.0) if family.name.startswith("bounded") else draws)
    low, high = mean_sequence(result, 0.001)
    assert low < mean < high < 2.0 * mean


def test_ever_wrong_as_seldom_as_said():
    """150 runs of 500 coins at δ = 0.1, looked at 20 times, with a policy that plays an arm the
    more the luckier it was. A valid sequence fails this test with a chance below 1e-6.
    """
    rng, runs, delta = np.random.default_rng(11), 150, 0.1
    wrong = 0
    for _ in range(runs):
        wins, plays, bad = np.zeros(2), np.zeros(2), False
        for _ in range(20):
            lucky = (wins[0] + 1) / (plays[0] + 2) > (wins[1] + 1) / (plays[1] + 2)
            batch = np.array([20, 5]) if lucky else np.array([5, 20])
            wins, plays = wins + rng.binomial(batch, 0.3), plays + batch
            logs = [
                mixture(Bernoulli(), (1.0, 1.0), (1 + k, 1 + n - k), n, k / n).log(0.3)
                for k, n in zip(wins, plays, strict=True)
            ]
            bad = bad or sum(logs) >= -math.log(delta)
        wrong += bad
    assert wrong <= stats.binom.ppf(1.0 - 1e-6, runs, delta)


def test_weighted_rewards_hold_the_mean():
    """200 logs at δ = 0.1 with changing chances; a valid one fails with a chance below 1e-6."""
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(200):
        chances = np.where(np.arange(600) % 2 == 0, 0.1, 0.6)
        chosen, rewards = rng.random(600) < chances, (rng.random(600) < 0.3) * 1.0
        low, high = policy_value_sequence(rewards, chosen / chances, 0.1)
        wrong += not low <= 0.3 <= high
    assert wrong <= stats.binom.ppf(1.0 - 1e-6, 200, 0.1)
    with pytest.raises(SettingError, match="from 0 to 1"):
        policy_value_sequence(np.array([2.0]), np.array([1.0]), 0.1)


def policy_log(seed, turns):
    """Rewards, weights and values of an arm whose mean moves, under chances that do."""
    rng = np.random.default_rng(seed)
    values = 0.3 + 0.2 * np.sin(np.arange(turns) / 100.0)
    chances = np.where(rng.random(turns) < 0.5, 0.1, 0.7)
    rewards = (rng.random(turns) < values).astype(float)
    return rewards, (rng.random(turns) < chances) / chances, values


def test_values_of_a_policy_end_where_the_supermartingale_reaches_its_bar():
    """A slow twin: the mean of exp(λs − ψ(λ)V), term by term."""
    rewards, weights, _ = policy_log(1, 300)
    low, high = policy_value_sequence(rewards, weights, 0.1)
    for terms, least in ((weights * rewards, low), (weights * (1.0 - rewards), 1.0 - high)):
        spread, total = 0.0, 0.0
        for n, term in enumerate(terms):
            spread += (term - min((total + 0.5) / (n + 1.0), 1.0)) ** 2
            total += term
        excess = total - len(terms) * least
        rates = [0.5**k for k in range(1, 13)]
        mean = np.mean([np.exp(a * excess + (np.log1p(-a) + a) * spread) for a in rates])
        assert mean == pytest.approx(1.0 / 0.05, rel=1e-6)
    with pytest.raises(SettingError, match="from 0 to 1"):
        policy_value_sequence(np.array([2.0]), np.array([1.0]), 0.1)


def test_values_of_a_policy_that_change_are_held_at_every_look():
    """Of 100 logs at most 17 are ever missed at δ = 0.1: more are once in 100 runs at most."""
    missed = 0
    for seed in range(100):
        rewards, weights, values = policy_log(seed, 400)
        ends = [policy_value_sequence(rewards[:n], weights[:n], 0.1) for n in (20, 60, 150, 400)]
        truths = [values[:n].mean() for n in (20, 60, 150, 400)]
        missed += any(not a <= one <= b for (a, b), one in zip(ends, truths, strict=True))
    assert missed <= 17


@pytest.mark.parametrize("reward", [5e-324, 1e-310, 1e-300])
def test_an_average_that_is_hardly_above_the_end_has_an_interval(reward):
    """A step towards the end that rounds to nothing would be taken for ever."""
    result = mixture(Bernoulli(), (1.0, 1.0), (1.0 + reward, 2.0), 1.0, reward)
    low, high = mean_sequence(result, 0.05)
    assert low == 0.0
    assert 0.9 < high <= 1.0
