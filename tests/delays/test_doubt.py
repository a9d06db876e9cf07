"""What not knowing F does to intervals, beside draws and the distribution of the prior."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman.delays import DelayDistribution, chance_below, intervals
from belman.delays.counts import CELLS, PRIOR, Counts, estimate
from belman.delays.silence import relative_doubt

NONE = np.array(0.0)


def test_without_doubt_intervals_are_those_of_the_belief():
    for row in ([1.0, 1.0], [3.0, 96.0], [400.0, 12_000.0]):
        ends = intervals(np.array(row), NONE, 0.025)
        assert ends == pytest.approx(stats.beta(*row).ppf([0.025, 0.975]), rel=1e-4)


@pytest.mark.parametrize("mean", [0.2, 0.7, 0.97])
def test_ends_are_quantiles_of_a_chance_over_an_unknown_share(mean):
    """400,000 draws: a share of 2.5 % has an error of 0.00025; five of them are allowed."""
    rng = np.random.default_rng(1)
    share = rng.beta(PRIOR * mean, PRIOR * (1.0 - mean), 400_000)
    chances = np.minimum(rng.beta(30.0, 970.0, share.size) * mean / share, 1.0)
    doubt = np.array((1.0 - mean) / (mean * (PRIOR + 1.0)))  # the relative variance of the share
    belief = np.array([30.0, 970.0])
    low, high = intervals(belief, doubt, 0.025)
    assert np.mean(chances < low) == pytest.approx(0.025, abs=0.00125)
    assert high == 1.0 or np.mean(chances > high) == pytest.approx(0.025, abs=0.00125)
    assert chance_below(belief, doubt, low) == pytest.approx(0.025, abs=1e-6)


def test_before_anything_is_told_the_share_to_come_has_the_distribution_of_the_prior():
    """Of a Dirichlet process F(s) is Beta's: its mean, and its variance over the square of that."""
    counts = Counts.blank(1)
    counts.head[0] = 10**6
    cdf, doubt = np.zeros(CELLS + 1), np.zeros(CELLS + 1)
    estimate(counts, PRIOR, cdf, doubt)
    edges = np.arange(1, CELLS + 1) / CELLS
    mean = np.sqrt(edges)
    assert cdf[1:] == pytest.approx(mean)
    assert np.expm1(doubt[1:]) == pytest.approx((1.0 - mean) / (mean * (PRIOR + 1.0)), abs=1e-12)


def test_doubt_is_that_of_the_failures_that_count():
    """Tickets of one age alone: as much as F is in doubt there, less what is settled."""
    counts = Counts.blank(1)
    counts.head[0] = 10**6
    counts.silent[0, (10**6 - 64) % CELLS] = 100
    cdf, doubt = np.zeros(CELLS + 1), np.zeros(CELLS + 1)
    estimate(counts, PRIOR, cdf, doubt)
    share = cdf[64]
    known = relative_doubt(counts, cdf, doubt, 0.5, 0, 100.0 * share)
    assert known == pytest.approx((1.0 - share) / (share * (PRIOR + 1.0)))
    settled = relative_doubt(counts, cdf, doubt, 0.5, 0, 300.0 * share)
    assert settled == pytest.approx(known / 9.0)


def test_doubt_falls_as_windows_close():
    distribution, rng = DelayDistribution(window=256.0, arms=1), np.random.default_rng(2)
    asked = np.arange(0.0, 1024.0, 0.25)
    late = np.where(rng.random(asked.size) < 0.1, rng.exponential(64.0, asked.size), math.inf)
    result, told = {}, [(when + wait, 1, when) for when, wait in zip(asked, late, strict=True)]
    events = sorted([(when, 0, when) for when in asked] + [one for one in told if one[0] < 1024.0])
    closing = iter(zip(asked, late, strict=True))
    due = next(closing)
    for now, what, when in events:
        while due[0] + 256.0 <= now:
            distribution.closed(0, due[0], due[0] + due[1] if due[1] < 256.0 else None)
            due = next(closing)
        if what == 0:
            distribution.asked(0, when)
        elif now - when < 256.0:
            distribution.told(0, when, now)
        if now in (128.0, 256.0, 512.0):
            result[now] = distribution.counts(now, [(1.0, 1.0)])[0, 2]
    assert result[128.0] > 5.0 * result[256.0] > 25.0 * result[512.0] > 0.0
