"""Gittins indices by normal beliefs: published numbers, backward induction, and exact ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman import Bernoulli, Gaussian
from belman.policies import FiniteGittins, NormalGittins
from belman.policies.finite_gittins import correction, lift
from tests.policies.interpreted_play import Seat, taught

pytestmark = pytest.mark.interpreted


def worth_of_playing(mean, n, turns, discount=1.0):
    """What playing now, of k turns, is worth, with leave to go at 0 ever after; by induction."""
    grid = np.linspace(-5.0, 5.0, 2_001)
    score, weight = np.polynomial.hermite_e.hermegauss(21)
    weight = weight / weight.sum()
    value = np.zeros_like(grid)
    for step in range(turns - 1, -1, -1):
        known = n + step
        then = grid[:, None] + score / math.sqrt(known * (known + 1))
        future = np.interp(then, grid, value)
        beyond = then > grid[-1]
        slope = np.sum(discount ** np.arange(turns - step - 1))
        future[beyond] += (then[beyond] - grid[-1]) * slope
        playing = grid + discount * future @ weight
        value = np.maximum(0.0, playing)
    return np.interp(mean, grid, playing)


@pytest.mark.parametrize(("n", "k"), [(1, 5), (1, 20), (3, 10), (10, 20)])
def test_the_finite_index_is_where_playing_is_worth_nothing(n, k):
    """Playing at the index below 0 is worth nothing, and a tenth of a deviation above it is not."""
    found = lift(FiniteGittins(k).params(Gaussian()), math.log(k / n), correction(n)) / math.sqrt(n)
    error = 0.06 / math.sqrt(n)
    assert worth_of_playing(-found - error, n, k) < 0.0
    assert worth_of_playing(-found + error, n, k) > 0.0


@pytest.mark.parametrize("discount", [0.5, 0.9])
def test_normal_gittins_indices_by_value_iteration(discount):
    """v(1) beside another value iteration, that ends where γ^k < 1e-4."""
    found = NormalGittins(discount=discount).lift(1.0)
    turns = int(math.log(1e-4) / math.log(discount))
    low, high = 0.0, 3.0
    for _ in range(10):
        middle = 0.5 * (low + high)
        stays = worth_of_playing(-middle, 1, turns, discount) > 0.0
        low, high = (middle, high) if stays else (low, middle)
    assert found == pytest.approx(0.5 * (low + high), abs=6e-3)


def test_gaussian_arms_have_their_index_and_nothing_else_matters():
    """Rewards scaled and shifted scale and shift the index."""
    rewards = [[0.3, 0.9], [0.1, 0.2, 0.4]]
    plain = taught(NormalGittins(discount=0.9), Gaussian(1.0, prior=(0.0, 1.0)), rewards)
    scaled = taught(
        NormalGittins(discount=0.9),
        Gaussian(2.0, prior=(5.0, 0.25)),
        [[5.0 + 2.0 * x for x in row] for row in rewards],
    )
    assert scaled.indices(6) == pytest.approx(5.0 + 2.0 * plain.indices(6), rel=1e-9)
    mean = (0.0 + 0.3 + 0.9) / 3
    lift_of_three = NormalGittins(discount=0.9).lift(3.0) / math.sqrt(3)
    assert plain.index[0] == pytest.approx(mean + lift_of_three, rel=1e-6)


def test_coins_are_near_their_exact_index():
    """Within 0.03 of the indices of Beta(2, 2), (3, 3) and (4, 4) in Gittins's table for 0.9."""
    seat = taught(NormalGittins(discount=0.9), Bernoulli(), [[0, 1], [0, 1] * 2, [0, 1] * 3])
    assert seat.indices(13) == pytest.approx([0.6346, 0.6010, 0.5809], abs=0.03)


def test_indices_fall_with_the_turns_left():
    seat = taught(FiniteGittins(1_000), Bernoulli(), [[1, 0, 1], [0, 0, 1, 1, 1]])
    rows = [seat.indices(turn).copy() for turn in (9, 500, 900, 999, 1_000, 1_001)]
    assert (np.diff(rows, axis=0) <= 0.0).all()
    assert rows[-1] == pytest.approx([0.6, 4 / 7])
    assert rows[-2] == pytest.approx(rows[-1])


def test_a_long_horizon_goes_on_past_the_table():
    params = FiniteGittins(10).params(Gaussian())
    lifts = [lift(params, math.log(k), correction(1.0)) for k in (100.0, 1e4, 1e6, 1e9, 1e15)]
    assert (np.diff(lifts) > 0.0).all()
    assert lifts[-1] < stats.norm.isf(1e-15) + 2.0


def test_both_play():
    for policy in (NormalGittins(discount=0.9), FiniteGittins(150)):
        rng, seat = np.random.default_rng(1), Seat(policy, Bernoulli(), 2)
        for turn in range(1, 151):
            arm = seat.ask(turn)
            seat.tell(arm, float(rng.random() < [0.2, 0.8][arm]))
        assert seat.ledger.plays[1] > 100
