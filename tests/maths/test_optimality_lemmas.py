"""The lemmas of docs/maths/optimality.md, by the numbers of their inequalities: on random cases and
by exact sums over binomial chances.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from tests.maths.bounds import ROUNDING, at_most, d, d_plus, moment

chances = st.floats(0.0, 1.0)
inner = st.floats(0.001, 0.999)
worths = st.floats(0.01, 50.0)


CASES = [
    (n, m, best)
    for n in (1, 2, 3, 7, 20, 100, 900)
    for best in (0.02, 0.3, 0.5, 0.9, 0.999)
    for m in best * np.array([0.1, 0.5, 0.9, 0.99])
]


@given(st.integers(0, 10**6), chances, chances, inner, worths)
def test_1_what_the_prior_adds(n, mean, p, m, prior_worth):
    judged = (n * mean + prior_worth * p) / (n + prior_worth)
    left = (n + prior_worth) * d_plus(judged, m)
    assert at_most(left, n * d_plus(mean, m) - prior_worth * math.log1p(-m))


@given(chances, inner, inner)
def test_2_a_difference_of_divergences(share, one, other):
    m, best = sorted((one, other))
    x = share * m
    assert at_most(d(m, best), d(x, best) - d(x, m))


def test_3_the_exponential_moment():
    for n, m, best in CASES:
        bound = (1.0 - n * math.log1p(-m)) * math.exp(-n * d(m, best))
        assert at_most(moment(n, m, best), bound), (n, m, best)


def test_3_by_parts():
    """The identity in its proof, the integral by quadrature."""
    for n, m, best in ((1, 0.4, 0.5), (5, 0.25, 0.6), (30, 0.7, 0.8)):

        def slope(x, n=n, m=m, best=best):
            steep = n * math.log(m * (1.0 - x) / ((1.0 - m) * x))
            return steep * math.exp(n * d(x, m)) * stats.binom.cdf(math.floor(n * x), n, best)

        jumps = [k / n for k in range(n + 1) if k / n < m]
        edges = [*jumps, m]
        parts = [integrate.quad(slope, low, high)[0] for low, high in itertools.pairwise(edges)]
        total = stats.binom.cdf(math.floor(n * m), n, best) + sum(parts)
        assert total == pytest.approx(moment(n, m, best), rel=1e-6)


def test_3_holds_for_rewards_between_0_and_1():
    """Averages of n rewards of 0, ½ and 1, whose distribution is the sum of two halves a reward."""
    for n, m, win, even in ((4, 0.3, 0.3, 0.4), (40, 0.5, 0.5, 0.2), (200, 0.55, 0.4, 0.4)):
        constants = np.array([1.0])
        for _ in range(n):
            constants = np.convolve(constants, [1.0 - win - even, even, win])
        best, mean = win + even / 2.0, np.arange(constants.size) / (2.0 * n)
        low = mean <= m
        result = float((constants[low] * np.exp(n * d(mean[low], m))).sum())
        assert at_most(result, (1.0 - n * math.log1p(-m)) * math.exp(-n * d(m, best)))


def test_4_means_that_are_too_low():
    seen = 0
    for n, m, best in CASES:
        for prior_worth in (0.01, 2.0, 20.0):
            between = (m + best) / 2.0
            edge = m + prior_worth * m / n
            below = math.ceil(n * edge - ROUNDING) - 1
            if n >= prior_worth * m / (between - m):
                seen += 1
                bound = math.exp(-n * d(between, best))
                assert at_most(stats.binom.cdf(below, n, best), bound), (n, m, best)
            hits = np.arange(n + 1)
            for p in (0.0, 0.3, 1.0):
                judged = (hits + prior_worth * p) / (n + prior_worth)
                assert np.all(hits[judged < m - ROUNDING] / n < edge)
    assert seen > 100


def test_5_means_that_are_too_high():
    for n in (1, 5, 30, 200, 3_000):
        for mean in (0.0, 0.01, 0.4, 0.8):
            for epsilon in (0.01, 0.05, 0.19):
                for prior_worth in (0.01, 2.0, 20.0):
                    if n >= 2.0 * prior_worth / epsilon:
                        most = (mean + epsilon) * (n + prior_worth) - prior_worth
                        chance = stats.binom.sf(math.floor(most + ROUNDING), n, mean)
                        assert at_most(chance, math.exp(-n * epsilon * epsilon / 2.0))


def test_8_converges():
    """The terms of the series are below those of (3) and (4), and these fall geometrically."""
    m, best, prior_worth = 0.85, 0.9, 2.0
    total, tail = 1.0 + prior_worth, []
    for n in range(1, 1_601):
        edge = math.ceil(n * m + prior_worth * m) - 1
        between = stats.binom.cdf(edge, n, best) - stats.binom.cdf(math.floor(n * m), n, best)
        term = (n + prior_worth + 1.0) * (moment(n, m, best) + between)
        total += term
        tail.append(term)
    assert math.isfinite(total)
    assert sum(tail[1_200:]) < 1e-4 * total
