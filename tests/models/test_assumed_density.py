"""Logistic and Poisson beliefs against quadrature on grids, in one dimension and in two."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from belman.models import Logistic, PoissonLog, logistic, poisson_log
from tests.models.learning import covariance, learnt


def log_odds_chance(eta, reward):
    return reward * eta - np.logaddexp(0.0, eta)


def count_chance(eta, reward):
    with np.errstate(over="ignore"):
        return reward * eta - np.exp(eta) - special.gammaln(reward + 1.0)


DISTRIBUTIONS = {
    "logistic": (Logistic(), logistic.assimilate, log_odds_chance, (0.0, 0.3, 1.0)),
    "poisson": (PoissonLog(), poisson_log.assimilate, count_chance, (0.0, 1.0, 3.0, 50.0)),
}


def drawn_rewards(constants, eta, rng):
    if constants == "logistic":
        return (rng.random(len(eta)) < special.expit(eta)).astype(float)
    return rng.poisson(np.exp(eta)).astype(float)


@pytest.mark.parametrize("constants", DISTRIBUTIONS)
@pytest.mark.parametrize("v", [1e-6, 0.01, 0.3, 1.0, 4.0, 25.0, 100.0])
def test_one_reward_moves_the_predictor_by_its_two_moments(constants, v):
    _, match, chance, rewards = DISTRIBUTIONS[constants]
    for eta in (-8.0, -3.0, -1.0, 0.0, 0.5, 2.0, 6.0):
        for reward in rewards:
            pull, noise, fit = match(None, None, eta, v, reward)
            wide = np.linspace(eta - 60.0, eta + 60.0, 120_001)
            middle = wide[np.argmax(chance(wide, reward) - 0.5 * (wide - eta) ** 2 / v)]
            reach = 12.0 * math.sqrt(v) + 2e-3
            x = np.linspace(middle - reach, middle + reach, 200_001)
            height = chance(x, reward) - 0.5 * (x - eta) ** 2 / v
            weight = np.exp(height - height.max())
            mean = (weight * x).sum() / weight.sum()
            variance = (weight * (x - mean) ** 2).sum() / weight.sum()
            total = math.log(weight.sum() * (x[1] - x[0])) + height.max()
            assert eta + v * pull == pytest.approx(mean, abs=0.01 * math.sqrt(variance))
            assert v * noise / (v + noise) == pytest.approx(variance, rel=0.01)
            assert fit == pytest.approx(total - 0.5 * math.log(2.0 * math.pi * v), abs=0.01)


def on_a_grid(height):
    """Mean and covariance of a density of two coefficients, given by its logarithm."""
    line = np.linspace(-4.0, 4.0, 401)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1)
    weight = height(grid)
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    mean = (weight[..., None] * grid).sum(axis=(0, 1))
    apart = grid - mean
    return mean, np.einsum("ij,ijk,ijl->kl", weight, apart, apart)


@pytest.mark.parametrize("constants", DISTRIBUTIONS)
def test_one_reward_gives_two_coefficients_the_moments_of_a_grid(constants):
    model, _, chance, rewards = DISTRIBUTIONS[constants]
    for row in ([1.0, 0.5], [-0.3, 2.0]):
        for reward in rewards[:3]:
            belief = learnt(model, 2, [row], [reward])
            mean, wide = on_a_grid(
                lambda grid, row=row, reward=reward: (
                    chance(grid @ row, reward) - 0.5 * (grid**2).sum(axis=-1)
                )
            )
            np.testing.assert_allclose(belief.mean[0], mean, atol=0.01)
            np.testing.assert_allclose(covariance(belief), wide, atol=0.01)


@pytest.mark.parametrize("constants", DISTRIBUTIONS)
def test_forty_rewards_leave_beliefs_near_those_of_a_grid(constants):
    """Assumed density forgets third moments at every reward: the mean is within a sixth of a
    standard deviation, and that within 10 %.
    """
    model, _, chance, _ = DISTRIBUTIONS[constants]
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(40, 2))
    rewards = drawn_rewards(constants, rows @ np.array([0.8, -0.5]), rng)
    belief = learnt(model, 2, rows, rewards)
    mean, wide = on_a_grid(
        lambda grid: (
            sum(chance(grid @ row, reward) for row, reward in zip(rows, rewards, strict=True))
            - 0.5 * (grid**2).sum(axis=-1)
        )
    )
    deviations = np.sqrt(np.diag(wide))
    np.testing.assert_allclose(belief.mean[0], mean, atol=deviations.min() / 6.0)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance(belief))), deviations, rtol=0.1)


@pytest.mark.parametrize("constants", DISTRIBUTIONS)
def test_intervals_hold_the_truth_about_as_often_as_they_say(constants):
    """600 worlds of 3 coefficients: 92–97 % lie in 95 % intervals."""
    model, _, _, _ = DISTRIBUTIONS[constants]
    rng = np.random.default_rng(9)
    inside = 0
    for _ in range(600):
        theta, rows = rng.normal(size=3), rng.normal(size=(50, 3)) / math.sqrt(3.0)
        rewards = drawn_rewards(constants, rows @ theta, rng)
        belief = learnt(model, 3, rows, rewards)
        deviations = np.sqrt(np.diag(covariance(belief)))
        inside += int((np.abs(belief.mean[0] - theta) < 1.96 * deviations).sum())
    assert 0.92 < inside / 1_800 < 0.97


@pytest.mark.parametrize("constants", DISTRIBUTIONS)
def test_ten_thousand_rewards_at_the_edges_leave_numbers(constants):
    model, _, _, rewards = DISTRIBUTIONS[constants]
    rows = np.zeros((10_000, 3))
    rows[::2, 0], rows[1::2, 0] = 1e3, 1e-6
    rows[:, 1] = rows[:, 0]
    belief = learnt(model, 3, rows, np.resize(np.array([rewards[0], rewards[-1]]), 10_000))
    assert np.isfinite(belief.mean).all()
    assert np.isfinite(belief.root).all()
    assert (np.diag(belief.root[0]) > 0.0).all()
    assert covariance(belief)[2, 2] == 1.0


@pytest.mark.parametrize("constants", DISTRIBUTIONS)
def test_rewards_of_the_lab_have_the_mean_that_is_said(constants):
    """A million levels, evenly spaced: the average is the mean reward to four digits."""
    model, _, _, _ = DISTRIBUTIONS[constants]
    levels = (np.arange(2_000) + 0.5) / 2_000
    for eta in (-2.0, 0.0, 1.5):
        drawn = [model.kernels.reward(model.constants, eta, level) for level in levels]
        assert np.mean(drawn) == pytest.approx(model.kernels.mean(model.constants, eta), abs=2e-3)
