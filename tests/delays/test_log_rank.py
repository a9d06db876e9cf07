"""The test that delays do not differ between arms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from belman import codec
from belman.delays import DelayDistribution
from belman.delays.counts import CELLS, Counts
from belman.delays.log_rank import RATE, difference_found, log_rank
from belman.engine import entry


def histogram(delays):
    return np.bincount(delays, minlength=CELLS)


def test_two_arms_as_scipy_has_it():
    rng = np.random.default_rng(2)
    for scale in (60.0, 75.0, 120.0):
        a = np.minimum(rng.exponential(60.0, 80), CELLS - 1).astype(int)
        b = np.minimum(rng.exponential(scale, 120), CELLS - 1).astype(int)
        expected = stats.logrank(a.astype(float), b.astype(float)).pvalue
        assert log_rank(np.array([histogram(a), histogram(b)])) == pytest.approx(expected, rel=1e-9)


def test_arms_with_few_delays_are_left_out():
    rng = np.random.default_rng(2)
    two = [histogram(rng.integers(0, CELLS, 90)) for _ in range(2)]
    few = histogram(np.zeros(9, dtype=int))
    assert log_rank(np.array([two[0], few, two[1]])) == log_rank(np.array(two))
    assert log_rank(np.array([two[0], few])) == 1.0


def alarms(runs, arms, number, slow, seed):
    """How many of some runs, with a look at every doubling, raise an alarm."""
    rng, result = np.random.default_rng(seed), 0
    for _ in range(runs):
        counts = Counts.blank(arms)
        look = entry(difference_found).hold(counts=counts)
        share = rng.dirichlet(np.ones(arms))
        who = rng.choice(arms, number, p=share)
        scale = np.where(who == 0, slow, 60.0)
        delays = np.minimum(rng.exponential(scale), CELLS - 1).astype(int)
        done = 0
        for size in (128, 256, 512, 1024, 2048):
            np.add.at(counts.complete, (who[done:size], delays[done:size]), 1)
            counts.watch[0] = done = min(size, number)
            if look() < 1.0:
                result += 1
                break
    return result


def test_false_alarms_over_all_looks_are_as_rare_as_promised():
    """Of 2,000 runs with five looks each at most RATE raise one; more than 33 have chance 0.2 %."""
    assert alarms(2_000, 4, 2_048, 60.0, 5) <= stats.binom.ppf(0.998, 2_000, RATE)


def test_delays_that_differ_are_found():
    """An arm that takes half as long again, 2,000 delays: found in nine of ten runs and more."""
    assert alarms(100, 2, 2_048, 90.0, 6) >= 90


def test_an_alarm_ends_early_learning_and_says_why():
    distribution = DelayDistribution(window=256.0, arms=2)
    rng = np.random.default_rng(1)
    for number in range(600):
        arm = number % 2
        distribution.asked(arm, float(number))
        distribution.told(
            arm, float(number), number + min(rng.exponential(20.0 + 60.0 * arm), 255.0)
        )
        distribution.closed(
            arm, float(number), number + min(rng.exponential(20.0 + 60.0 * arm), 255.0)
        )
    distribution.asked(0, 600.0)
    assert distribution.alarm is not None
    assert distribution.alarm.startswith("delays differ between arms (log-rank test on ")
    assert distribution.alarm.endswith(
        "open tickets count when their window closes, and not before"
    )
    assert (distribution.counts(800.0, np.ones((2, 2))) == 0.0).all()
    assert codec.read(DelayDistribution, codec.write(distribution), {}).alarm == distribution.alarm
