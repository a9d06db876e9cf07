"""The corollary for Gaussian rewards in docs/maths/optimality.md, inequality by inequality."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from belman import BelMan
from belman.exposure import Evidence
from belman.families import Gaussian
from belman.policies.belman.evidence import SHIFT
from tests.maths.bounds import at_most, judged
from tests.policies.interpreted_play import taught

pytestmark = pytest.mark.interpreted


def weak(prior_worth, pool):
    """ρ, γ and the left side of the second condition of (12)."""
    rho, beta = 2.0 ** (1.0 / 16.0) / (pool + 1.0), 1.0 / (1.0 + prior_worth)
    room = beta * (1.0 - rho) ** 2 - rho**2
    gamma = 1.0 + 1.0 / room
    assert room > 0.0
    return rho, gamma, gamma * prior_worth * 2.0 ** (1.0 / 8.0) / (pool + 1.0)


def test_12_of_the_default():
    family = Gaussian()
    worth = family.worth(family.prior)
    rho, gamma, left = weak(worth, Evidence().pool)
    assert (worth, round(rho, 3), round(gamma, 2), round(left, 4)) == (0.01, 0.174, 2.55, 0.0046)


@given(
    st.integers(1, 10**4),
    st.floats(0.001, 1.0),
    st.floats(3.0, 50.0),
    st.floats(0.0, 1e3),
    st.floats(0.0, 1e3),
)
def test_14_for_gaussian_rewards(n, prior_worth, pool, u, others):
    rho, gamma, _ = weak(prior_worth, pool)
    v = rho * u + others
    left = (n * u + prior_worth * v) ** 2 / (n + prior_worth)
    assert at_most(left, n * u * u + gamma * prior_worth * others * others)


@pytest.mark.parametrize("n", [1, 4, 60])
def test_8_for_gaussian_rewards(n):
    """E[exp(n d(μ̂, m)); μ̂ ≤ m] in closed form, with the integral by quadrature."""
    for m, best, sigma in ((0.0, 0.5, 1.0), (-1.0, 2.0, 3.0)):
        scale = sigma / math.sqrt(n)

        def density(z, n=n, m=m, best=best, sigma=sigma, scale=scale):
            x = m - z
            log = stats.norm.logpdf(x, best, scale) + n * (x - m) ** 2 / (2.0 * sigma**2)
            return math.exp(log)

        result = integrate.quad(density, 0.0, np.inf)[0]
        gap = best - m
        closed = math.exp(-n * gap**2 / (2.0 * sigma**2)) * sigma / gap
        assert result == pytest.approx(closed / math.sqrt(2.0 * math.pi * n), rel=1e-6)


def test_13_and_e_on_states_of_gaussian_arms():
    """The evidence against the best arm, and what the shift owes to others, as the proof has it."""
    family, policy = Gaussian(prior=(1.0, 0.05)), BelMan()
    prior_worth, pool = family.worth(family.prior), Evidence().pool
    rho, gamma, _ = weak(prior_worth, pool)
    rng, m, seen = np.random.default_rng(8), 0.5, 0
    for _ in range(60):
        arms = int(rng.integers(2, 9))
        rewards = [
            list(rng.normal(rng.normal(-2.0, 3.0), 1.0, int(rng.integers(0, 9))))
            for _ in range(arms)
        ]
        seat = taught(policy, family, rewards)
        means, worth, _ = judged(seat)
        shift = -float(seat.memory.pool[SHIFT])
        lows = [max(1.0 - float(np.mean(row)), 0.0) if row else 0.0 for row in rewards]
        others = math.sqrt(2.0 ** (1.0 / 8.0) / (pool + 1.0) * sum(low**2 for low in lows[1:]))
        assert at_most(shift, rho * lows[0] + others)
        n, seen = len(rewards[0]), seen + (shift > 0.0)
        u = m - float(np.mean(rewards[0])) if n else 0.0
        extra = others + abs(m - 1.0) * (1.0 + rho)
        against = worth[0] * max(m - means[0], 0.0) ** 2
        assert at_most(against, n * max(u, 0.0) ** 2 + gamma * prior_worth * extra**2)
    assert seen > 30


def test_15_the_largest_deviation_of_an_average():
    """P(sup_n (θ − μ̂_n) ≥ y) ≤ exp(−y²/(2σ²)); 20,000 paths of 300 rewards, error rate 1e-6."""
    paths = np.random.default_rng(4).normal(size=(20_000, 300))
    largest = (-np.cumsum(paths, axis=1) / np.arange(1, 301)).max(axis=1)
    for y in (0.3, 0.7, 1.0, 1.5, 2.5):
        share = float((largest >= y).mean())
        assert share <= math.exp(-y * y / 2.0) + 5.0 * math.sqrt(share / 20_000)
