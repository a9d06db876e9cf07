"""Gittins indices by normal beliefs: published numbers, backward induction, and exact ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman.families import Bernoulli, Gaussian
from belman.policies import BrezziLaiGittins, FiniteGittins, LattimoreGittins, NormalGittins
from belman.policies.gittins import finite
from belman.policies.gittins.finite import correction
from belman.policies.gittins.finite import finite_gittins_lift as lift
from belman.policies.gittins.normal import boundary
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
    result = lift(FiniteGittins(k).params(Gaussian()), math.log(k / n), correction(n)) / math.sqrt(
        n
    )
    error = 0.06 / math.sqrt(n)
    assert worth_of_playing(-result - error, n, k) < 0.0
    assert worth_of_playing(-result + error, n, k) > 0.0


@pytest.mark.parametrize("discount", [0.5, 0.9])
def test_normal_gittins_indices_by_value_iteration(discount):
    """v(1) beside another value iteration, that ends where γ^k < 1e-4."""
    result = NormalGittins(discount=discount).lift(1.0)
    turns = int(math.log(1e-4) / math.log(discount))
    low, high = 0.0, 3.0
    for _ in range(10):
        middle = 0.5 * (low + high)
        stays = worth_of_playing(-middle, 1, turns, discount) > 0.0
        low, high = (middle, high) if stays else (low, middle)
    assert result == pytest.approx(0.5 * (low + high), abs=6e-3)


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


def test_brezzi_and_lai_beside_the_definition():
    """Every piece of ψ, at beliefs N(m, 1/n) about the means of rewards N(mean, 1)."""
    rate = -math.log(0.99)

    def psi(x):
        if x > 15.0:
            return math.sqrt(2 * math.log(x) - math.log(math.log(x)) - math.log(16 * math.pi))
        for least, level, slope in [(5.0, 0.77, 0.58), (1.0, 0.63, 0.26), (0.2, 0.49, 0.11)]:
            if x > least:
                return level - slope / math.sqrt(x)
        return math.sqrt(x / 2.0)

    counts = [2, 9, 45, 150, 800]
    assert [1 / (rate * (n + 1)) for n in counts] == pytest.approx(
        [33.2, 9.95, 2.16, 0.659, 0.124], rel=1e-2
    )
    rewards = [[0.5] * n for n in counts]
    seat = taught(BrezziLaiGittins(discount=0.99), Gaussian(1.0, prior=(0.0, 1.0)), rewards)
    wanted = [0.5 * n / (n + 1) + psi(1 / (rate * (n + 1))) / math.sqrt(n + 1) for n in counts]
    assert seat.indices(2_000) == pytest.approx(wanted, rel=1e-6)


def test_brezzi_and_lai_are_as_far_from_the_index_as_their_docstring_says():
    counts = np.geomspace(1.0, 400.0, 30)
    exact = [NormalGittins(discount=0.999).lift(n) for n in counts]
    closed = [boundary(1 / (-math.log(0.999) * n)) for n in counts]
    assert 0.7 < np.abs(np.subtract(exact, closed)).max() < 0.75


def test_lattimore_beside_the_definition():
    rewards, left = [[0.5], [0.2] * 9, [0.4] * 60], 900
    seat = taught(LattimoreGittins(1_000), Gaussian(1.0, prior=(0.0, 1.0)), rewards)
    wanted = []
    for row in rewards:
        n = len(row) + 1
        log, log_ratio = (max(math.log(x), 1.0) for x in (left, left / n))
        beta = 0.25 * min(left / log**1.5, left / n / math.sqrt(log_ratio))
        wanted.append(sum(row) / n + math.sqrt(2.0 * max(math.log(beta), 0.0) / n))
    assert seat.indices(101) == pytest.approx(wanted, rel=1e-6)


def test_lattimore_is_near_the_index():
    """In deviations, for beliefs worth 1 to 10 rewards and 100 to 10,000 turns."""
    params = FiniteGittins(10).params(Gaussian())
    for k in (100, 1_000, 10_000):
        for n in (1, 3, 10):
            scale = math.log(0.25)
            closed = finite.lattimore_gittins_lift(
                math.log(k / n), scale, finite.most(math.log(k), scale)
            )
            assert closed == pytest.approx(lift(params, math.log(k / n), correction(n)), abs=0.42)


def test_all_play():
    for policy in (
        NormalGittins(discount=0.9),
        FiniteGittins(150),
        BrezziLaiGittins(discount=0.9),
        LattimoreGittins(150),
    ):
        rng, seat = np.random.default_rng(1), Seat(policy, Bernoulli(), 2)
        for turn in range(1, 151):
            arm = seat.ask(turn)
            seat.tell(arm, float(rng.random() < [0.2, 0.8][arm]))
        assert seat.ledger.plays[1] > 100
