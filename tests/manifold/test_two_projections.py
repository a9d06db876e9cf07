"""The two projections of the default: rewards to the leader's level, the pooled belief to an arm's.
All are identities, held against sums over the rewards and against `divergence`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import belman
from belman import manifold
from belman.families import Bernoulli, Exponential, Gaussian, Poisson
from tests.members import CLOSED, member, random_beliefs

pytestmark = pytest.mark.interpreted

COUNTS = np.arange(0.0, 120.0)
STEPS = np.arange(0.0005, 120.0, 0.001)  # the middles of steps

REWARDS = pytest.mark.parametrize(
    ("family", "points", "chances", "mean", "level"),
    [
        (Bernoulli(), np.array([0.0, 1.0]), np.array([0.8, 0.2]), 0.2, 0.7),
        (Poisson(), COUNTS, stats.poisson(2.0).pmf(COUNTS), 2.0, 5.5),
        (Exponential(), STEPS, stats.expon(scale=2.0).pdf(STEPS) * 0.001, 2.0, 3.1),
        (Gaussian(), STEPS - 60.0, stats.norm(0.3).pdf(STEPS - 60.0) * 0.001, 0.3, 1.7),
    ],
    ids=["bernoulli", "poisson", "exponential", "gaussian"],
)


def kl(first, second):
    there = (first > 0.0) & (second > 0.0)
    return float(first[there] @ np.log(first[there] / second[there]))


@REWARDS
def test_rewards_at_the_level_of_the_leader_are_the_arm_s_own_tilted(
    family, points, chances, mean, level
):
    """f exp(λx)/Z has the leader's mean, and KL(f ‖ it) is d(μ, μ_L): the evidence of one reward.
    Of the family's distributions that are as good, none is nearer.
    """
    lifted = chances * np.exp(manifold.focal_tilt(family, mean, level) * points)
    lifted /= lifted.sum()
    assert lifted @ points == pytest.approx(level, rel=1e-6)
    distance = family.reward_divergence(mean, level)
    assert kl(chances, lifted) == pytest.approx(distance, rel=1e-5)
    better = np.linspace(level, 0.99 if family.name == "bernoulli" else 4.0 * level, 50)
    assert min(family.reward_divergence(mean, one) for one in better) == distance


@REWARDS
def test_no_rewards_of_that_mean_are_nearer_the_other_way(family, points, chances, mean, level):
    """KL(f′ ‖ f) is least, among all f′ with the leader's mean, at the tilt: d(μ_L, μ) and no
    less. Tried are the tilt moved along random directions that leave sum and mean as they are.
    """
    lifted = chances * np.exp(manifold.focal_tilt(family, mean, level) * points)
    lifted /= lifted.sum()
    least = kl(lifted, chances)
    assert least == pytest.approx(family.reward_divergence(level, mean), rel=1e-5)
    rng = np.random.default_rng(3)
    weigh = np.vstack([lifted, lifted * points])
    for _ in range(20 if points.size > 2 else 0):
        step = rng.uniform(-1.0, 1.0, points.size)
        step -= np.array([np.ones(points.size), points]).T @ np.linalg.solve(
            weigh @ np.array([np.ones(points.size), points]).T, weigh @ step
        )
        other = lifted * (1.0 + 0.9 * step / np.abs(step).max())
        assert other.sum() == pytest.approx(1.0)
        assert other @ points == pytest.approx(level, rel=1e-6)
        assert kl(other, chances) >= least


def test_the_tilt_is_the_difference_of_natural_parameters():
    tilt = manifold.focal_tilt
    for mean, level in ((0.1, 0.3), (0.7, 0.2), (0.5, 0.5)):
        odds = [math.log(x / (1.0 - x)) for x in (mean, level)]
        assert tilt(Bernoulli(), mean, level) == pytest.approx(odds[1] - odds[0])
        assert tilt(Poisson(), mean, level) == pytest.approx(math.log(level / mean))
        assert tilt(Exponential(), mean, level) == pytest.approx(1.0 / mean - 1.0 / level)
        assert tilt(Gaussian(2.0), mean, level) == pytest.approx((level - mean) / 4.0)


@pytest.mark.parametrize("name", CLOSED)
def test_a_belief_at_another_worth_has_the_same_mean(name):
    family = member(name)
    if not family.conjugate or name == "bounded-exponential":
        pytest.skip("what a belief is worth is not a sum over rewards")
    for belief in random_beliefs(family, np.random.default_rng(5), 6):
        worth, mean = family.worth(belief), family.expected_reward(belief)
        if not (worth > 0.0 and math.isfinite(mean)):
            continue
        for more in (1.0, 3.0, 400.0):
            result = manifold.at_worth(family, belief, worth * more)
            assert family.worth(result) == pytest.approx(worth * more, rel=1e-9)
            assert family.expected_reward(result) == pytest.approx(mean, rel=1e-9)


def test_the_distance_on_beliefs_is_twice_the_kl_from_the_pooled_belief():
    """For Normal beliefs exactly; for Beta beliefs as they narrow."""
    family = Gaussian()
    for worth in (0.3, 2.0, 17.0):
        for x in (0.0, 0.4, 3.0, 9.0):
            pooled = manifold.at_worth(family, (1.3, worth), worth * math.exp(x))
            result = float(manifold.distance_on_beliefs(x))
            assert 2.0 * family.divergence(pooled, (1.3, worth)) == pytest.approx(result, abs=1e-9)
            assert result == pytest.approx(x - 1.0 + math.exp(-x), abs=1e-12)
    narrow = (3e4, 7e4)
    pooled = manifold.at_worth(Bernoulli(), narrow, 1e5 * math.exp(2.0))
    result = float(manifold.distance_on_beliefs(2.0))
    assert 2.0 * Bernoulli().divergence(pooled, narrow) == pytest.approx(result, rel=1e-4)


def test_the_pooled_belief_has_the_rewards_of_all_arms():
    """K times the worth of the natural pseudobelief, if it is worth what all arms are."""
    family, rows = Bernoulli(), np.array([(3.0, 1.0), (1.0, 1.0), (5.0, 9.0)])
    assert manifold.pooled(family, rows, rows.sum()) == pytest.approx(rows.sum(axis=0))
    assert manifold.pooled(family, rows, 1.0) == pytest.approx(rows.mean(axis=0))  # no fewer
    silent = belman.families.Exponential()
    assert manifold.pooled(silent, [silent.prior] * 2, 3.0) == pytest.approx(silent.prior)
