"""Tests of soundness: they are martingales (by enumeration), find what is wrong, and seldom cry."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from belman.errors import SettingError
from belman.families import Bernoulli, GaussianUnknown
from belman.measures import Drift, SampleRatio, told_shares
from belman.measures.soundness import _WORTH


def test_batches_do_not_matter_where_chances_stay():
    chances = np.array([0.2, 0.5, 0.3])
    rng = np.random.default_rng(3)
    counts = rng.multinomial(50, chances, size=9)
    whole, parts = SampleRatio("abc"), SampleRatio("abc")
    whole.add(counts.sum(axis=0), chances)
    for row in counts:
        parts.add(row, chances)
    n = counts.sum(axis=0)
    closed = (gammaln(_WORTH * chances + n) - gammaln(_WORTH * chances) - n * np.log(chances)).sum()
    closed += gammaln(_WORTH) - gammaln(_WORTH + n.sum())
    assert whole.log_odds == pytest.approx(closed, abs=1e-9)
    assert parts.log_odds == pytest.approx(whole.log_odds, abs=1e-8)


def test_changing_chances_make_a_martingale():
    """The expected odds over every sequence of six tickets are 1."""
    plan = [(0.5, 0.3, 0.2), (0.1, 0.9, 0.0), (0.3, 0.3, 0.4)] * 2
    total = 0.0
    for path in itertools.product(range(3), repeat=len(plan)):
        chance = math.prod(row[arm] for row, arm in zip(plan, path, strict=True))
        if chance > 0.0:
            test = SampleRatio("abc", worth=3.0)
            for row, arm in zip(plan, path, strict=True):
                test.add(np.eye(3)[arm], row)
            total += chance * math.exp(test.log_odds)
    assert total == pytest.approx(1.0, abs=1e-9)


def test_false_alarms_are_as_rare_as_said():
    """300 studies of 100 looks at a risk of 0.1: a valid test fails with a chance below 1e-6."""
    rng, alarms = np.random.default_rng(2), 0
    for _ in range(300):
        test, ever = SampleRatio("ab", worth=50.0), False
        for look in range(100):
            share = 0.5 if look % 2 else 0.8
            mine = rng.binomial(20, share)
            test.add([mine, 20 - mine], [share, 1.0 - share])
            ever = ever or test.log_odds >= math.log(10.0)
        alarms += ever
    assert alarms <= stats.binom.ppf(1.0 - 1e-6, 300, 0.1)


def test_what_cannot_be_is_found_at_once():
    test = SampleRatio(["a", "b"])
    test.add([10, 1], [1.0, 0.0])
    assert test.finding().alarm
    assert math.isinf(test.finding().odds)
    assert test.finding().to_dict()["odds"] == "inf"


@pytest.mark.parametrize(
    ("counts", "chances"), [([1], [1.0]), ([1, 2], [0.5, 0.6]), ([-1, 2], [0.5, 0.5])]
)
def test_counts_and_chances_that_are_none(counts, chances):
    with pytest.raises(SettingError):
        SampleRatio("ab").add(counts, chances)


def test_told_shares_are_odds_that_average_below_one():
    for rate in (0.2, 0.9):
        constants = stats.binom(5, rate)
        total = sum(
            constants.pmf(j)
            * constants.pmf(k)
            * told_shares({"a": 5, "b": 5}, {"a": j, "b": k}).odds
            for j in range(6)
            for k in range(6)
        )
        assert total <= 1.0 + 1e-9


def test_missing_rewards_are_found():
    result = told_shares({"a": 10_000, "b": 10_000, "c": 0}, {"a": 9_990, "b": 9_790})
    assert result.alarm
    assert "97.9 % of b" in result.sentence
    assert not told_shares({"a": 100, "b": 100}, {"a": 99, "b": 97}).alarm
    assert not told_shares({"a": 100}, {"a": 9}).alarm
    with pytest.raises(SettingError, match="cannot have been told"):
        told_shares({"a": 3}, {"a": 4})


def odds_of_drift(family, rewards):
    drift = Drift("a", family)
    drift.add(rewards)
    return drift.finding().odds


def test_drift_is_odds_that_average_below_one():
    for rate in (0.3, 0.7):
        total = sum(
            rate ** sum(path) * (1 - rate) ** (6 - sum(path)) * odds_of_drift(Bernoulli(), path)
            for path in itertools.product((0.0, 1.0), repeat=6)
        )
        assert total <= 1.0 + 1e-9


def test_a_change_is_found_and_luck_is_not():
    rng = np.random.default_rng(4)
    steady, later = rng.normal(5.0, 2.0, 500), rng.normal(6.5, 2.0, 500)
    prior = GaussianUnknown(prior=(5.0, 0.01, 1.0, 4.0))
    assert odds_of_drift(prior, np.concatenate([steady, later])) > 100.0
    assert odds_of_drift(prior, rng.normal(5.0, 2.0, 1_000)) < 100.0
    drift, alone = Drift("a", Bernoulli()), Drift("a", Bernoulli())
    for reward in (rng.random(300) < 0.4) * 1.0:
        drift.add([reward])
        alone.add(np.array([reward]))
    assert drift.finding() == alone.finding()
    assert Drift("a", Bernoulli()).finding().alarm is False
