"""What silence counts, beside Bayes' theorem on a grid of chances."""

from __future__ import annotations

import numpy as np
import pytest

from belman.delays.counts import CELLS, Counts
from belman.delays.silence import count_silence, share

CDF = -np.expm1(-np.arange(CELLS + 1) / 64.0)
CDF /= CDF[-1]
HEAD = 10**6


def window_of(rng, p, closed, out):
    """Some closed tickets, and open ones of all ages: counts, α, β, F of the silent ones."""
    counts = Counts.blank(1)
    counts.head[0] = HEAD
    ages = rng.integers(0, CELLS, out)
    known = np.interp(np.where(ages == 0, 0.0, ages - 0.5), np.arange(CELLS + 1), CDF)
    told = rng.random(out) < p * known
    np.add.at(counts.silent[0], (HEAD - ages[~told]) % CELLS, 1)
    counts.successes[0] = told.sum()
    won = int(rng.binomial(closed, p))
    return counts, 1.0 + won, 1.0 + closed - won, known[~told]


@pytest.mark.parametrize("p", [0.001, 0.03, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(("closed", "out"), [(100, 100), (1000, 2000), (100, 1000)])
def test_mean_and_deviation_are_those_of_bayes_on_a_grid(p, closed, out):
    counts, won, lost, known = window_of(np.random.default_rng(8), p, closed, out)
    more = np.zeros(2)
    count_silence(counts, CDF, 0.0, 0, won, lost, more)
    a, b = won + more[0], lost + more[1]
    grid = np.linspace(0.0, 1.0, 20_001)[1:-1]
    log = (won + counts.successes[0] - 1.0) * np.log(grid) + (lost - 1.0) * np.log1p(-grid)
    for value, number in zip(*np.unique(known, return_counts=True), strict=True):
        log += number * np.log1p(-grid * value)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ grid
    deviation = np.sqrt(weight @ (grid - mean) ** 2)
    assert (
        abs(a / (a + b) - mean) < 0.1 * deviation
    )  # of third order: the distribution is a little skew
    assert np.sqrt(a * b / (a + b + 1.0)) / (a + b) == pytest.approx(deviation, rel=0.01)


@pytest.mark.parametrize("p", [1e-9, 0.03, 0.5, 0.999])
def test_a_share_has_the_slope_and_the_curvature_of_the_likelihood(p):
    for known in (0.0, 1e-6, 0.3, 0.9, 1.0):
        won, lost = share(p, known)
        g = known / (1.0 - p * known)
        assert won / p - lost / (1.0 - p) == pytest.approx(-g, rel=1e-9)
        assert won / p**2 + lost / (1.0 - p) ** 2 == pytest.approx(g * g, rel=1e-6, abs=1e-9)


def test_ends():
    assert share(0.3, 0.0) == (0.0, 0.0)
    assert share(0.3, 1.0) == pytest.approx((0.0, 1.0))
    assert share(1e-12, 0.4) == pytest.approx((0.0, 0.4), abs=1e-9)


@pytest.mark.parametrize("prior", [(1e-3, 1e-3), (1.0, 1.0), (1e9, 1e9), (1e-3, 1e9)])
def test_beliefs_stay_proper_at_the_edges(prior):
    counts = Counts.blank(1)
    counts.head[0] = HEAD
    counts.silent[0, :] = 10_000
    more = np.zeros(2)
    count_silence(counts, CDF, 0.5, 0, *prior, more)
    assert np.isfinite(more).all()
    assert prior[0] + more[0] > 0.0
    assert 0.0 <= more[1] <= 10_000.0 * (CELLS + 1)
