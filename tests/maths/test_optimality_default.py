"""That the default is in the class of docs/maths/optimality.md, and obeys the bounds of the proof:
(6), (7), (9) to (11), on states of the policy itself.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import BelMan
from belman.exposure import Evidence
from belman.families import Bernoulli
from belman.policies.belman.evidence import (
    SHIFT,
    beyond_worth,
    counted_until,
    doubted_from,
    phi,
    phi_until,
    phi_until_slopes,
)
from tests.maths.bounds import ROUNDING, at_most, d_plus, judged
from tests.policies.interpreted_play import Seat, taught

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("reach", [0.5, 8.5, 40.0, math.inf])
def test_9_phi_lacks_at_most_the_greed_and_rises(reach):
    """For K = 1, 2, …, 10⁶ arms under the default gain, and for the largest greed there is."""
    x = np.concatenate([np.linspace(-20.0, 0.0, 50), np.geomspace(1e-6, 800.0, 700)])
    for arms in (1, 2, 3, 5, 20, 1_000, 10**6, 10**140):
        greed = float(Evidence().pull(np.array([1.0]), arms)[0])
        counted = np.array([phi(value, greed, reach) for value in x])
        lack, above = x - counted, np.maximum(x, 0.0)
        fading = greed / (1.0 + (above / reach) ** 4)
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


def test_sharp_rewards_are_counted_within_the_class():
    """min(φ(x + λ), x) lacks at most κ + ln 10, for |λ| ≤ ln 10."""
    greed = 2.25 * math.log(20.0)
    for x in np.linspace(-8.0, 40.0, 400):
        for less in np.linspace(-math.log(10.0), math.log(10.0), 9):
            counted = min(phi(x + less, greed, 8.5), x)
            assert x - greed - math.log(10.0) - ROUNDING <= counted <= x


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


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.29, 0.71), (2.94, 7.06)])
def test_11_with_many_arms_it_stays_one(prior):
    mean, shift = prior_means(prior, 300, [0.0] * 60)
    assert 0.0 < mean + shift < 0.2 * mean


def test_11_while_it_plays():
    watched = Watched(BelMan(), (0.05,) * 12, (0,) * 12, 600, 3)
    shifts = [float(seat.memory.pool[SHIFT]) for _, _, seat in watched.turns_played()]
    assert min(shifts) < -0.2
    assert all(0.0 <= 0.5 + shift <= 0.5 for shift in shifts)


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


def limits(family, seat, m, n, greed, more=0.0):
    """(ν₁ + `more`) e^(κ + E) now, and R_n, with which it is replaced."""
    (means, worth, _), prior = judged(seat), family.worth(family.prior)
    against = worth[0] * d_plus(means[0], m)
    hits = seat.ledger.sums[0]
    bound = (n + prior + more) * math.exp(
        greed + (n * d_plus(hits / n, m) if n else 0.0) - prior * math.log1p(-m)
    )
    return (worth[0] + more) * math.exp(greed + against), bound


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
            result, worth, plays = judged(seat)
            n = int(plays[0])
            assert turn == 1.0 + plays.sum()
            assert worth == pytest.approx(plays + worth0, rel=1e-12)
            for m in levels:
                if result.max() >= m:
                    kinds[0] += 1
                    right = math.log(turn) + math.log(max(1.0, 1.0 / worth0))
                    assert at_most(worth[arm] * d_plus(result[arm], m), right)
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


LACKING = 6.0  # κ_T: what φ lacks at most where it is known when play ends


@pytest.mark.parametrize("reach", [0.5, 8.5, 40.0])
def test_where_play_ends_phi_lacks_a_bounded_number_of_nats_and_rises(reach):
    """What is documented bounds what it lacks; slopes of water-filling are those of φ."""
    x = np.geomspace(1e-3, 1e4, 800)
    for arms in (1, 2, 3, 20, 1_000, 10**6):
        greed = float(Evidence().pull(np.array([1.0]), arms)[0])
        doubted = doubted_from(greed, reach)
        assert doubted == pytest.approx(reach * (0.25 + 0.05 * greed))
        for share in (-1.0, 0.5, 4.0, np.inf):
            counted = np.array([phi_until(value, share, doubted) for value in x])
            assert np.all((counted >= 0.0) & (counted <= x * (1.0 + 1e-15)))
            assert np.all(x - counted <= LACKING)
            assert np.all(np.diff(counted) > 0.0)
            for value in (0.1, 1.0, 3.0, 5.0, 9.0, 30.0):
                by_turns, by_least = phi_until_slopes(value, share, doubted)
                before, after = (phi_until(value + h, share, doubted) for h in (-1e-5, 1e-5))
                slope = by_turns + (by_least if value < share else 0.0)
                assert slope == pytest.approx((after - before) / 2e-5, rel=1e-5)
                if 0.0 < share < value:
                    less, more = (phi_until(value, share + h, doubted) for h in (-1e-5, 1e-5))
                    assert by_least == pytest.approx((more - less) / 2e-5, rel=1e-4, abs=1e-9)
    assert phi_until(0.0, 0.0, 0.0) == 0.0
    assert phi_until(3.0, 2.0, math.inf) == pytest.approx(9.0 / 9.0)  # the prior is not doubted
    assert phi_until(3.0, 2.0, 0.0) == pytest.approx(3.0)  # and here at once
    assert counted_until(3.0, 2.0, 4.0, 2.0) <= 3.0


def test_where_it_is_known_when_play_ends():
    family, horizon, kinds = Bernoulli(), 500, [0, 0]
    for means, zeros in GAMES:
        levels = [means[0] * share for share in (0.6, 0.9, 0.99)]
        count, most = {}, {}
        watched = Watched(BelMan.until(horizon), means, zeros, horizon, 5)
        for turn, arm, seat in watched.turns_played():
            result, worth, plays = judged(seat)
            n, left = int(plays[0]), horizon - turn
            for m in levels:
                if result.max() >= m:
                    kinds[0] += 1
                    assert at_most(worth[arm] * d_plus(result[arm], m), math.log(horizon))
                elif arm != 0:
                    kinds[1] += 1
                    now, bound = limits(family, seat, m, n, LACKING, beyond_worth(0.0))
                    assert at_most(min(worth[arm], left), 2.0 * now)
                    count[m, n, arm] = count.get((m, n, arm), 0) + 1
                    most[m, n, arm] = 4.0 * bound + 2.0
        assert all(count[key] <= most[key] for key in count)
    assert min(kinds) > 100
