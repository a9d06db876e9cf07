"""Every inequality of docs/maths/optimality.md, by its number there: on random cases, by exact sums
over binomial chances, and on states of the policy itself.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from belman import BelMan
from belman.exposure import Evidence
from belman.families import Bernoulli, Gaussian
from belman.policies.evidence import MEAN, SHIFT, WORTH, phi
from tests.policies.interpreted_play import Seat, taught

pytestmark = pytest.mark.interpreted

ROUNDING = 1e-9
chances = st.floats(0.0, 1.0)
inner = st.floats(0.001, 0.999)
worths = st.floats(0.01, 50.0)


def d(x, y):
    return special.rel_entr(x, y) + special.rel_entr(1.0 - x, 1.0 - y)


def d_plus(x, m):
    """d(x, m) for x ≤ m, else 0."""
    return d(min(x, m), m)


def at_most(left, right):
    return left <= right + ROUNDING * (1.0 + abs(right))


# The class of rules: (9), (10).


@pytest.mark.parametrize("reach", [0.5, 7.5, 40.0, math.inf])
def test_9_phi_lacks_at_most_the_greed_and_rises(reach):
    """For K = 1, 2, …, 10⁶ arms under the default gain, and for the largest greed there is."""
    x = np.concatenate([np.linspace(-20.0, 0.0, 50), np.geomspace(1e-6, 800.0, 700)])
    for arms in (1, 2, 3, 5, 20, 1_000, 10**6, 10**140):
        greed = float(Evidence().pull(np.array([1.0]), arms)[0])
        counted = np.array([phi(value, greed, reach) for value in x])
        lack, above = x - counted, np.maximum(x, 0.0)
        fading = greed / (1.0 + (above / reach) ** 6)
        assert np.all(lack >= -ROUNDING)
        assert np.all(lack <= np.minimum(above, fading) + ROUNDING)
        assert np.all(lack <= greed + ROUNDING)
        assert np.all(np.diff(counted) > 0.0)
        assert np.all(counted[x >= 0.0] >= 0.0)


@pytest.mark.parametrize("kappa", [0.01, 0.87, 2.8, 7.0, 100.0])
def test_10_two_projections_lack_at_most_kappa_and_rise(kappa):
    """The two-projections form, κ(y − 1 + e^(−y)), and 2 KL of Normal beliefs at κ = 1."""
    x = np.geomspace(1e-4, 2_000.0, 2_000)
    y = x / kappa
    counted = kappa * (y + np.expm1(-y))
    lack = x - counted
    assert np.all((lack >= -ROUNDING) & (lack <= kappa + ROUNDING))
    assert lack == pytest.approx(-kappa * np.expm1(-y), abs=1e-9)
    assert np.all(np.diff(counted) > 0.0)
    for share in (0.5, 2.0, 30.0):  # KL of N(0, 1/(share·ν)) from N(0, 1/ν)
        kl = 0.5 * (1.0 / share - 1.0 + math.log(share))
        assert 2.0 * kl == pytest.approx(math.log(share) - 1.0 + math.exp(-math.log(share)))


# The lemmas: (1) to (5).


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


def moment(n, m, best):
    """E[exp(n d(μ̂, m)); μ̂ ≤ m], the sum over all outcomes of n coins."""
    hits = np.arange(math.floor(n * m) + 1)
    logs = stats.binom.logpmf(hits, n, best) + n * d(hits / n, m)
    return float(np.exp(special.logsumexp(logs)))


CASES = [
    (n, m, best)
    for n in (1, 2, 3, 7, 20, 100, 900)
    for best in (0.02, 0.3, 0.5, 0.9, 0.999)
    for m in best * np.array([0.1, 0.5, 0.9, 0.99])
]


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
    """Averages of n rewards of 0, ½ and 1, whose law is the sum of two halves a reward."""
    for n, m, win, even in ((4, 0.3, 0.3, 0.4), (40, 0.5, 0.5, 0.2), (200, 0.55, 0.4, 0.4)):
        law = np.array([1.0])
        for _ in range(n):
            law = np.convolve(law, [1.0 - win - even, even, win])
        best, mean = win + even / 2.0, np.arange(law.size) / (2.0 * n)
        low = mean <= m
        found = float((law[low] * np.exp(n * d(mean[low], m))).sum())
        assert at_most(found, (1.0 - n * math.log1p(-m)) * math.exp(-n * d(m, best)))


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


# The proof: (6), (7) and the count of turns, on states of the policy.


class Watched:
    """A policy at arms of these means, of which some begin with rewards that are 0."""

    def __init__(self, policy, means, zeros, turns, seed, family=None):
        rng = np.random.default_rng(seed)
        self.seat = Seat(policy, family or Bernoulli(), len(means), seed)
        self.means, self.zeros, self.turns, self.rng = means, zeros, turns, rng

    def draw(self, arm):
        if self.seat.ledger.plays[arm] < self.zeros[arm]:
            return 0.0
        return float(self.rng.random() < self.means[arm])

    def turns_played(self):
        """The turn, the arm that is played, and the seat before it is told the reward."""
        for turn in range(1, self.turns + 1):
            arm = self.seat.ask(turn)
            yield turn, arm, self.seat
            self.seat.tell(arm, self.draw(arm))


GAMES = [
    ((0.9, 0.8), (4, 0)),
    ((0.9, 0.8), (0, 0)),
    ((0.5, 0.45, 0.4, 0.35, 0.3), (6, 0, 0, 0, 0)),
    ((0.6, 0.6, 0.4), (3, 3, 0)),
    ((0.1, 0.05, 0.02), (0, 0, 5)),
    ((1.0, 0.9), (0, 0)),
    ((0.25, 0.2, *(0.05,) * 6), (8, 0, *(0,) * 6)),
]


def judged(seat):
    memory = seat.memory
    return memory.judged[MEAN].copy(), memory.judged[WORTH].copy(), seat.ledger.plays.copy()


def limits(family, seat, m, n, greed):
    """ν₁e^(κ + E) now, and R_n, with which it is replaced."""
    (means, worth, _), prior = judged(seat), family.worth(family.prior)
    against = worth[0] * d_plus(means[0], m)
    hits = seat.ledger.sums[0]
    bound = (n + prior) * math.exp(
        greed + (n * d_plus(hits / n, m) if n else 0.0) - prior * math.log1p(-m)
    )
    return worth[0] * math.exp(greed + against), bound


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.2, 0.3), (6.0, 2.0)])
def test_6_7_and_the_turns_of_kind_b(prior):
    """Every turn of seven games against every level m; that there are turns of both kinds."""
    family, worth0 = Bernoulli(prior=prior), sum(prior)
    kinds = [0, 0]
    for means, zeros in GAMES:
        greed = float(Evidence().pull(np.array([1.0]), len(means))[0])
        levels = [means[0] * share for share in (0.6, 0.9, 0.99)]
        count, most = {}, {}
        for turn, arm, seat in Watched(BelMan(), means, zeros, 500, 11, family).turns_played():
            found, worth, plays = judged(seat)
            n = int(plays[0])
            assert turn == 1.0 + plays.sum()
            assert worth == pytest.approx(plays + worth0, rel=1e-12)
            for m in levels:
                if found.max() >= m:
                    kinds[0] += 1
                    right = math.log(turn) + math.log(max(1.0, 1.0 / worth0))
                    assert at_most(worth[arm] * d_plus(found[arm], m), right)
                elif arm != 0:
                    kinds[1] += 1
                    now, bound = limits(family, seat, m, n, greed)
                    assert at_most(worth[arm], now)
                    assert at_most(now, bound)
                    assert n == 0 or seat.ledger.sums[0] / n < m + worth0 * m / n
                    count[m, n, arm] = count.get((m, n, arm), 0) + 1
                    most[m, n, arm] = bound + 1.0
        assert all(count[key] <= most[key] for key in count)
    assert min(kinds) > 100


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


# The default is in the class: (11).


def prior_means(prior, arms, rewards):
    family = Bernoulli(prior=prior)
    seat = taught(BelMan(), family, [rewards] * arms)
    return family.expected_reward(prior), seat.memory.pool[SHIFT]


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.29, 0.71), (3.0, 7.0), (9.0, 1.0)])
def test_11_the_shifted_prior_mean_is_a_chance(prior):
    for arms in (1, 2, 30, 112):
        for zeros in (1, 40):
            mean, shift = prior_means(prior, arms, [0.0] * zeros)
            assert shift <= 0.0
            assert -ROUNDING <= mean + shift <= mean


def test_11_the_prior_is_never_shifted_up():
    assert prior_means((1.0, 1.0), 5, [1.0] * 9) == (0.5, 0.0)


def test_11_with_more_arms_the_default_prior_stays_and_another_may_not():
    mean, shift = prior_means((1.0, 1.0), 300, [0.0] * 60)
    assert mean + shift == 0.0
    mean, shift = prior_means((0.29, 0.71), 300, [0.0] * 60)
    assert -0.05 * mean < mean + shift < 0.0


def test_11_while_it_plays():
    watched = Watched(BelMan(), (0.05,) * 12, (0,) * 12, 600, 3)
    shifts = [float(seat.memory.pool[SHIFT]) for _, _, seat in watched.turns_played()]
    assert min(shifts) < -0.2
    assert all(0.0 <= 0.5 + shift <= 0.5 for shift in shifts)


# The corollaries.


def test_where_it_is_known_when_play_ends():
    family, horizon, kinds = Bernoulli(), 500, [0, 0]
    for means, zeros in GAMES:
        greed = float(Evidence().pull(np.array([1.0]), len(means))[0])
        levels = [means[0] * share for share in (0.6, 0.9, 0.99)]
        count, most = {}, {}
        watched = Watched(BelMan.until(horizon), means, zeros, horizon, 5)
        for turn, arm, seat in watched.turns_played():
            found, worth, plays = judged(seat)
            n, clock = int(plays[0]), min(turn, horizon - turn + 1)
            for m in levels:
                if found.max() >= m:
                    kinds[0] += 1
                    assert at_most(worth[arm] * d_plus(found[arm], m), math.log(horizon))
                elif arm != 0:
                    kinds[1] += 1
                    now, bound = limits(family, seat, m, n, greed)
                    assert at_most(worth[arm] if clock > worth[arm] else clock, now)
                    count[m, n, arm] = count.get((m, n, arm), 0) + 1
                    most[m, n, arm] = 3.0 * bound + 1.0
        assert all(count[key] <= most[key] for key in count)
    assert min(kinds) > 100


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

        found = integrate.quad(density, 0.0, np.inf)[0]
        gap = best - m
        closed = math.exp(-n * gap**2 / (2.0 * sigma**2)) * sigma / gap
        assert found == pytest.approx(closed / math.sqrt(2.0 * math.pi * n), rel=1e-6)


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


def test_sharp_rewards_are_counted_within_the_class():
    """min(φ(x + λ), x) lacks at most κ + ln 10, for |λ| ≤ ln 10."""
    greed = 2.25 * math.log(20.0)
    for x in np.linspace(-8.0, 40.0, 400):
        for less in np.linspace(-math.log(10.0), math.log(10.0), 9):
            counted = min(phi(x + less, greed, 7.5), x)
            assert x - greed - math.log(10.0) - ROUNDING <= counted <= x
