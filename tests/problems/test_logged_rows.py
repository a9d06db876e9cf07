"""A log with propensities as a problem: what every arm would have earned, without bias."""

from __future__ import annotations

import numpy as np
import pytest

from belman import errors, problems


def logged(rows: int, seed: int):
    """Arm 1 is better far from 0 and was preferred there, along a curve that no line fits; (x, arm,
    reward, chance, means).
    """
    luck = np.random.default_rng(seed)
    x = luck.normal(size=(rows, 2))
    squares = x[:, 0] ** 2
    means = np.stack([0.5 - 0.2 * squares, 0.5 + 0.3 * squares], axis=1)
    likely = np.where(squares > 1, 0.8, 0.2)
    arm = (luck.random(rows) < likely).astype(int)
    reward = means[np.arange(rows), arm] + 0.1 * luck.normal(size=rows)
    return x, arm, reward, np.where(arm == 1, likely, 1 - likely), means


def test_every_arm_has_the_mean_that_it_would_have_had():
    """Over 3,000 rows averages are within five standard errors (once in a million)."""
    x, arm, reward, chance, means = logged(3_000, 1)
    problem = problems.from_table(x, actions=arm, rewards=reward, propensities=chance)
    off = problem.earnings.values - means
    error = off.std(axis=0) / np.sqrt(len(off))
    assert (np.abs(off.mean(axis=0)) < 5 * error).all()
    naive = [reward[arm == a].mean() for a in (0, 1)] - means.mean(axis=0)
    assert (np.abs(naive) > 5 * error).all()  # the log alone would mislead


@pytest.mark.parametrize(
    "wrong",
    [{"propensities": [0.5, 0.0]}, {"actions": [1]}, {"rewards": [1.0, np.nan]}, {"actions": None}],
)
def test_what_is_no_log_is_refused(wrong):
    log = {"actions": [0, 1], "rewards": [1.0, 0.0], "propensities": [0.5, 0.5]}
    with pytest.raises(errors.SettingError):
        problems.from_table([[1.0], [2.0]], **{**log, **wrong})
