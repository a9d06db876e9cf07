"""Linear beliefs against batch solutions, exact ones included, and positive whatever comes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from belman.errors import FamilyError, PriorError, RewardError
from belman.models import Block, Linear
from tests.models.learning import covariance, learnt


def batch(rows, rewards, noise, scales):
    """The mean and the covariance, by one solve."""
    precision = np.diag(1.0 / np.square(scales)) + rows.T @ rows / noise**2
    return np.linalg.solve(precision, rows.T @ rewards / noise**2), np.linalg.inv(precision)


def test_ten_thousand_rewards_give_what_one_solve_gives():
    rng = np.random.default_rng(1)
    rows, scales = rng.normal(size=(10_000, 6)), np.array([1.0, 1.0, 0.5, 0.5, 2.0, 2.0])
    rewards = rows @ rng.normal(size=6) + 0.3 * rng.normal(size=10_000)
    blocks = [Block(2), Block(2, 0.5), Block(2, 2.0)]
    belief = learnt(Linear(noise=0.3), blocks, rows, rewards)
    mean, inverse = batch(rows, rewards, 0.3, scales)
    np.testing.assert_allclose(belief.mean[0], mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(covariance(belief, 0.09), inverse, rtol=1e-9, atol=1e-9 * 1e-5)


def test_condition_numbers_of_a_million_millions_cost_no_digits_that_matter():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, 4)) * np.array([1e3, 1.0, 1e-3, 1.0])
    rows[:, 3] = rows[:, 1] * (1.0 + 1e-6 * rng.normal(size=300))  # almost the same feature
    rewards = rows @ np.array([1e-3, 0.5, 2.0, -0.5]) + rng.normal(size=300)
    belief = learnt(Linear(), 4, rows, rewards)
    with mpmath.workdps(60):
        exact = mpmath.matrix(rows.tolist())
        precision = mpmath.eye(4) + exact.T * exact
        inverse = precision**-1
        mean = inverse * (exact.T * mpmath.matrix(rewards.tolist()))
        deviations = [mpmath.sqrt(inverse[i, i]) for i in range(4)]
        wide = covariance(belief)
        assert np.linalg.cond(np.array(precision.tolist(), dtype=float)) > 1e8
        for i in range(4):
            assert abs(belief.mean[0, i] - mean[i]) < 1e-9 * deviations[i] + 1e-9 * abs(mean[i])
            for j in range(4):
                apart = abs(wide[i, j] - inverse[i, j])
                assert apart < 1e-9 * deviations[i] * deviations[j]


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6])
def test_collinear_constant_and_absent_features_leave_beliefs_positive(scale):
    rng = np.random.default_rng(3)
    rows = np.zeros((5_000, 5))
    rows[:, 0] = scale * rng.normal(size=5_000)
    rows[:, 1] = rows[:, 0]  # the same
    rows[:, 2] = 1.0  # constant
    rows[:, 3] = 3.0 * rows[:, 0] - 2.0  # a combination
    belief = learnt(Linear(noise=1e-3), [Block(5, 1e3)], rows, rows[:, 0] / scale)
    wide = covariance(belief, 1e-6)
    assert np.isfinite(belief.mean).all()
    assert (np.diag(belief.root[0]) > 0.0).all()
    assert wide[4, 4] == pytest.approx(1e6)  # never seen: the prior
    assert belief.mean[0, 4] == 0.0


def test_unknown_noise_is_the_normal_inverse_gamma_distribution():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(500, 3))
    rewards = rows @ np.array([1.0, -1.0, 0.5]) + 2.5 * rng.normal(size=500)
    belief = learnt(Linear(noise=1.0, unknown=True), 3, rows, rewards)
    precision = np.eye(3) + rows.T @ rows
    mean = np.linalg.solve(precision, rows.T @ rewards)
    rate = 0.5 + 0.5 * (rewards @ rewards - mean @ precision @ mean)
    np.testing.assert_allclose(belief.mean[0], mean, rtol=1e-10)
    np.testing.assert_allclose(belief.noise[0], [0.5 + 250.0, rate], rtol=1e-10)


def test_the_bank_is_weighed_by_the_marginal_likelihood():
    rng = np.random.default_rng(5)
    rows = np.eye(6)[np.arange(60) % 6]
    rewards = rows @ (0.3 * rng.normal(size=6)) + rng.normal(size=60)
    model = Linear()
    belief = learnt(model, [Block(1), Block(5, 1.0, pooled=True)], rows, rewards)
    logs = []
    for prior in belief.prior:
        constants = stats.multivariate_normal(np.zeros(60), np.eye(60) + (rows * prior**2) @ rows.T)
        logs.append(constants.logpdf(rewards))
    shares = np.exp(np.array(logs) - max(logs))
    np.testing.assert_allclose(belief.share, shares / shares.sum(), rtol=1e-8)


@pytest.mark.parametrize("keep", [0.9, 0.4])
def test_what_fades_is_a_walk_with_the_prior_as_its_distribution(keep):
    """The slow twin: a Kalman filter in which the oldest coefficient moves to the prior, and all
    that would keep less than half. The last one counts in every fifth reward alone, and is spared.
    """
    rng = np.random.default_rng(6)
    rows, rewards = rng.normal(size=(40, 3)), rng.normal(size=40)
    rows[np.arange(40) % 5 != 0, 2] = 0.0
    belief = learnt(Linear(keep=keep), [Block(3, 2.0)], rows, rewards)
    mean, wide, age = np.zeros(3), 4.0 * np.eye(3), np.zeros(3)
    faded = np.ones(3)
    for row, reward in zip(rows, rewards, strict=True):
        age += row != 0.0
        chosen = (np.arange(3) == age.argmax()) | (keep**age < 0.5)
        kept = np.where(chosen, keep**age, 1.0)
        faded, age = faded * kept, np.where(chosen, 0.0, age)
        mean = np.sqrt(kept) * mean
        wide = np.sqrt(np.outer(kept, kept)) * wide + np.diag(1.0 - kept) * 4.0
        gain = wide @ row / (1.0 + row @ wide @ row)
        mean = mean + gain * (reward - row @ mean)
        wide = wide - np.outer(gain, wide @ row)
    np.testing.assert_allclose(belief.mean[0], mean, rtol=1e-10)
    np.testing.assert_allclose(covariance(belief), wide, rtol=1e-9, atol=1e-12)
    assert faded[2] >= keep**8 > faded[0]


def test_intervals_hold_the_truth_as_often_as_they_say():
    """2,000 worlds: the share in 95 % intervals lies in 93.5–96.5 % but once in 400 sets."""
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(500):
        theta, rows = rng.normal(size=4), rng.normal(size=(30, 4))
        rewards = rows @ theta + rng.normal(size=30)
        belief = learnt(Linear(), 4, rows, rewards)
        deviations = np.sqrt(np.diag(covariance(belief)))
        inside += int((np.abs(belief.mean[0] - theta) < 1.96 * deviations).sum())
    assert 0.935 < inside / 2_000 < 0.965


def test_doors():
    with pytest.raises(FamilyError, match="noise=0 is not valid"):
        Linear(noise=0)
    with pytest.raises(FamilyError, match="keep=2"):
        Linear(keep=2)
    with pytest.raises(PriorError, match="is not a valid prior"):
        Linear().belief([Block(2, 0.0)])
    with pytest.raises(PriorError, match="0 features"):
        Linear().belief(0)
    for bad in ("1", None, float("nan"), float("inf")):
        with pytest.raises(RewardError, match="linear rewards are finite numbers"):
            Linear().check_reward(bad)
    with pytest.raises(RewardError, match=r"no reward of a linear model may be larger than 1e\+12"):
        Linear().check_reward(1e30)
