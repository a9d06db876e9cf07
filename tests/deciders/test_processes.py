"""The bank of processes beside the textbook's formulas, SciPy's Student t, and draws of its own."""

import itertools

import numpy as np
import pytest
from scipy import stats

from belman.deciders.box import processes
from belman.deciders.box.processes import LENGTHS, NOISES, Processes, correlation, squares


def told(bank, places, rewards):
    for place, reward in zip(places, rewards, strict=True):
        bank.tell(place, reward)
    return bank


@pytest.fixture
def seen():
    luck = np.random.default_rng(5)
    places = luck.random((40, 2))
    places[20] = places[3]  # the same place again
    rewards = 7.0 + 3.0 * np.sin(5.0 * places[:, 0]) + luck.normal(size=40)
    return places, rewards


def test_appended_rows_are_those_of_a_batch_solve(seen):
    places, rewards = seen
    watched = np.random.default_rng(6).random((9, 2))
    bank = told(Processes(watched), places, rewards)
    standard = (rewards - rewards.mean()) / rewards.std()
    weights, means, variances = [], [], []
    for length, noise in itertools.product(LENGTHS, NOISES):
        own = processes._CONSTANT + correlation(squares(places, places), length)
        covariance = own + noise * np.eye(40)
        across = processes._CONSTANT + correlation(squares(places, watched), length)
        mean = across.T @ np.linalg.solve(covariance, standard)
        left = processes._CONSTANT + 1.0 - (across * np.linalg.solve(covariance, across)).sum(0)
        rate = 1.0 + 0.5 * standard @ np.linalg.solve(covariance, standard)
        weights.append(stats.multivariate_t(None, covariance, df=2.0).logpdf(standard))
        means.append(rewards.mean() + rewards.std() * mean)
        variances.append(rewards.var() * rate / 20.0 * left)
    share = np.exp(np.array(weights) - max(weights))
    share /= share.sum()
    mean = share @ np.array(means)
    variance = share @ (np.array(variances) + (np.array(means) - mean) ** 2)
    for found in (bank.watched_moments(), bank.moments(watched)):
        np.testing.assert_allclose(found.weights, share, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-8)
        np.testing.assert_allclose(found.variance, variance, rtol=1e-7)


def test_quantiles_have_the_chance_they_say(seen):
    found = told(Processes(seen[0][:3]), *seen).watched_moments()
    for chance in (0.001, 0.025, 0.5, 0.9, 0.999):
        np.testing.assert_allclose(found.chance_below(found.quantile(chance)), chance, rtol=1e-6)


def test_one_process_is_scipys_student(seen, monkeypatch):
    monkeypatch.setattr(processes, "LENGTHS", (0.2,))
    monkeypatch.setattr(processes, "NOISES", (1.0,))
    found = told(Processes(seen[0][:3]), *seen).watched_moments()
    constants = stats.t(found.freedom, found.centre[0], found.scale[0])
    np.testing.assert_allclose(found.quantile(0.9), constants.ppf(0.9), rtol=1e-9)
    np.testing.assert_allclose(found.variance, constants.var(), rtol=1e-9)


def test_intervals_hold_as_often_as_they_say():
    """240 intervals of 120 draws, two each; that 95 % ones hold in 90 to 98.8 % fails by chance
    about twice in 1,000 times where the level is right.
    """
    luck, watched = np.random.default_rng(8), np.array([[0.3], [0.9]])
    held = 0
    for _ in range(120):
        places = luck.random((15, 1))
        length, noise = luck.choice(LENGTHS[1:4]), luck.choice(NOISES[:3])
        everywhere = np.vstack([places, watched])
        constants = correlation(squares(everywhere, everywhere), length) + 1e-9 * np.eye(17)
        truth = np.linalg.cholesky(constants) @ luck.normal(size=17) + luck.normal() * 2.0
        rewards = truth[:15] + np.sqrt(noise) * luck.normal(size=15)
        found = told(Processes(watched), places, rewards).watched_moments()
        low, high = found.quantile(0.025), found.quantile(0.975)
        held += int(((low <= truth[15:]) & (truth[15:] <= high)).sum())
    assert 0.9 <= held / 240 <= 0.988


def test_nothing_told_is_believed_of_all_places_alike():
    found = Processes(np.array([[0.1], [0.9]])).watched_moments()
    assert found.mean.tolist() == [0.0, 0.0]
    assert found.variance[0] == found.variance[1] > 0
