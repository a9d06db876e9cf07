"""Rivals that are near the best possible, beside plain forms of their definitions."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from belman.errors import PolicyError
from belman.families import Bernoulli, Gaussian
from belman.policies import (
    POKER,
    UCBDT,
    ExactGittins,
    IRSIndex,
    IRSVEmax,
    IRSVZero,
    OptimisticGittins,
)
from belman.policies.gittins import exact, exact_table
from belman.policies.thompson.irs import worth_trying
from tests.policies.interpreted_play import taught

pytestmark = pytest.mark.interpreted


# Exact Gittins indices


def naive_index(alpha, beta, left):
    """The known reward beside which playing on is worth nothing more, by bisection."""

    def worth(level):
        @functools.cache
        def value(a, b, m):
            if m == 0:
                return 0.0
            p = a / (a + b)
            return max(
                0.0, p - level + p * value(a + 1, b, m - 1) + (1 - p) * value(a, b + 1, m - 1)
            )

        return value(alpha, beta, left)

    low, high = alpha / (alpha + beta), 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if worth(middle) > 1e-13 else (low, middle)
    return 0.5 * (low + high)


HORIZON = 8


@pytest.fixture(scope="module")
def small_tables():
    """Tables for eight turns on a coarse mesh, as they are made, but not kept on disk."""

    @functools.cache
    def made(horizon, alpha, beta):
        table = exact_table.indices(horizon, alpha, beta, mesh=400)
        return np.concatenate([[horizon, alpha, beta], table])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_params", made)
        yield made


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 2.0)])
def test_the_exact_index_is_where_playing_on_is_worth_nothing(small_tables, prior):
    params = small_tables(HORIZON, *prior)
    for played in range(HORIZON):
        for wins in range(played + 1):
            for losses in range(played + 1 - wins):
                a, b = prior[0] + wins, prior[1] + losses
                result = exact.exact_index(params, played, a, b)
                assert result == pytest.approx(naive_index(a, b, HORIZON - played), abs=3e-5)


def test_between_the_counts_of_the_table_and_beyond_them(small_tables):
    """Interpolated, above the expected reward, and less above it the more is known."""
    params = small_tables(HORIZON, 1.0, 1.0)
    ends = [exact.exact_index(params, 4, 2.0 + i, 2.0) for i in (0.0, 0.25, 1.0)]
    assert ends[0] < ends[1] < ends[2]
    assert ends[1] == pytest.approx(0.75 * ends[0] + 0.25 * ends[2])
    lifts = [exact.exact_index(params, 3, n, n) - 0.5 for n in (2.5, 5.0, 50.0, 5e8)]
    assert lifts[0] > lifts[1] > lifts[2] > lifts[3] >= 0.0
    assert exact.exact_index(params, HORIZON, 3.0, 1.0) == 0.75  # after the last turn


def test_the_exact_index_is_played(small_tables):
    seat = taught(ExactGittins(HORIZON), Bernoulli(), [[1, 0], [0], []])
    wanted = [naive_index(2.0, 2.0, 5), naive_index(1.0, 2.0, 5), naive_index(1.0, 1.0, 5)]
    assert seat.indices(4) == pytest.approx(wanted, abs=3e-5)
    with pytest.raises(PolicyError, match="bernoulli rewards only, not gaussian"):
        ExactGittins(5).check(Gaussian(), 2)
    with pytest.raises(PolicyError, match="has tables up to 300 turns, not 301"):
        ExactGittins(301).check(Bernoulli(), 2)


# Optimistic Gittins indices


@pytest.mark.parametrize("turn", [1, 2, 17, 4_000])
def test_optimistic_indices_solve_their_equation(turn):
    """λ = (1 − γ) E[X] + γ E max(θ, λ) with γ = 1 − 1/t, by quadrature."""
    seat = taught(OptimisticGittins(), Bernoulli(), [[1, 1, 0], [0, 0, 0, 0, 1], []])
    discount = 1.0 - 1.0 / turn
    for (a, b), level in zip([(3, 2), (2, 5), (1, 1)], seat.indices(turn), strict=True):
        distribution = stats.beta(a, b)
        above = integrate.quad(lambda x, density=distribution.pdf: x * density(x), level, 1.0)[0]
        most = level * distribution.cdf(level) + above
        assert level == pytest.approx((1.0 - discount) * a / (a + b) + discount * most, abs=1e-9)


def test_optimistic_indices_of_gaussian_rewards():
    seat = taught(OptimisticGittins(), Gaussian(1.0, prior=(0.0, 1.0)), [[1.0, 0.4], [-0.2]])
    for (mean, worth), level in zip([(1.4 / 3, 3), (-0.1, 2)], seat.indices(50), strict=True):
        distribution = stats.norm(mean, 1.0 / math.sqrt(worth))
        hope = integrate.quad(lambda x: (x - level) * distribution.pdf(x), level, level + 12.0)[0]  # noqa: B023
        assert level == pytest.approx(mean + 49.0 * hope, rel=1e-3)


# POKER and UCB-DT

REWARDS = [[1, 0, 1, 1], [0, 0, 1], [1], [0, 1, 0, 0, 0]]


def test_poker_by_its_formula():
    """√4 = 2: the gain is half of what the third average lacks to the first."""
    means = [np.mean(row) for row in REWARDS]
    widths = [np.std(row) for row in REWARDS]
    widths[2] = np.mean([widths[0], widths[1], widths[3]])
    ordered = sorted(means, reverse=True)
    gain = (ordered[0] - ordered[2]) / 2.0
    wanted = [
        mean + gain * 87 * stats.norm(mean, width / math.sqrt(len(row))).sf(ordered[0] + gain)
        for mean, width, row in zip(means, widths, REWARDS, strict=True)
    ]
    assert taught(POKER(100), Bernoulli(), REWARDS).indices(14) == pytest.approx(wanted)


def test_poker_plays_two_arms_twice_first_and_an_untried_arm_by_the_others():
    assert sorted(taught(POKER(9), Bernoulli(), [[1], []]).indices(2)) == [1.0, 2.0]
    result = taught(POKER(50), Bernoulli(), [[1, 0, 1], [0, 0, 1, 0], []]).indices(8)
    gain = (2 / 3 - 1 / 4) / math.sqrt(2.0)
    mean, width = (2 / 3 + 1 / 4) / 2, (np.std([1, 0, 1]) + np.std([0, 0, 1, 0])) / 2
    wanted = mean + gain * 43 * stats.norm(mean, width).sf(2 / 3 + gain)
    assert result[2] == pytest.approx(wanted)
    assert np.isfinite(taught(POKER(9), Bernoulli(), [[1, 1], [1, 1]]).indices(5)).all()


def test_ucb_dt_by_its_formula():
    means, plays = [np.mean(row) for row in REWARDS], [len(row) for row in REWARDS]
    for gamma in (0.9, 0.3):
        wanted = []
        for a in range(4):
            whole, count = math.floor(gamma * plays[a]), float(plays[a])
            for b in range(4):
                if a != b and whole:
                    count += abs(means[a] - means[b]) ** (1.0 / whole) * plays[b]
            wanted.append(means[a] + math.sqrt(2.0 * math.log(14) / count))
        assert taught(UCBDT(gamma), Bernoulli(), REWARDS).indices(14) == pytest.approx(wanted)


# Information-relaxation sampling


def naive_worth_trying(level, a, b, left, wins):
    """Whether some best plan of all orders of plays of an arm and a known reward begins with the
    arm: rewards less what they move E max(θ, λ), but for the last.
    """

    def state(i):
        return a + sum(wins[:i]), b + i - sum(wins[:i])

    def most(i):
        one = stats.beta(*state(i))
        return level + integrate.quad(lambda x: 1.0 - one.cdf(x), level, 1.0)[0]

    moves = [most(i) for i in range(left + 1)]
    means = [state(i)[0] / sum(state(i)) for i in range(left + 1)]

    @functools.cache
    def value(i, m):
        if m == 0:
            return 0.0
        charge = (lambda j: moves[j] - moves[0]) if m > 1 else (lambda j: 0.0)
        return max(
            means[i] - charge(i + 1) + value(i + 1, m - 1), level - charge(i) + value(i, m - 1)
        )

    arm = means[0] - (moves[1] - moves[0] if left > 1 else 0.0) + value(1, left - 1)
    return arm > level + value(0, left - 1) + 1e-12


def test_what_is_worth_trying_by_all_plans():
    rng = np.random.default_rng(4)
    for _ in range(60):
        a, b, left = rng.uniform(0.5, 4.0), rng.uniform(0.5, 4.0), int(rng.integers(2, 7))
        wins = (rng.random(left) < 0.5).astype(float)
        level = float(rng.uniform(0.2, 0.9))
        wanted = naive_worth_trying(level, a, b, left, wins)
        assert worth_trying(level, a, b, left, wins) == wanted


@pytest.mark.parametrize("policy", [IRSVZero(6), IRSVEmax(6), IRSIndex(6)])
def test_in_the_last_turn_and_after_it_the_leader_is_played(policy):
    seat = taught(policy, Bernoulli(), [[1, 1, 0], [0, 1, 0]])
    for turn in (6, 7, 100):
        assert seat.indices(turn) == pytest.approx([0.6, 0.4])
    assert {seat.ask(2) for _ in range(40)} <= {0, 1}


def test_the_plan_of_v_zero_has_all_turns_and_pays_best():
    """Beside every split of the turns, on the same draws."""
    seat = taught(IRSVZero(9), Bernoulli(), [[1, 0], [0], [1, 1, 0]])
    for _ in range(20):
        plays = seat.indices(3).copy()
        assert plays.sum() == 7.0
        assert seat.memory.plan[7] >= seat.memory.paid[7] - 1e-12  # the last arm alone


def test_v_emax_plans_for_two_coins_and_leaves_more_to_v_zero():
    rewards = [[1, 0], [0], [1, 1, 0]]
    seats = [taught(policy, Bernoulli(), rewards) for policy in (IRSVEmax(9), IRSVZero(9))]
    assert seats[0].indices(3).tolist() == seats[1].indices(3).tolist()
    with pytest.raises(PolicyError, match="irs-index plays bernoulli rewards only, not gaussian"):
        IRSIndex(5).check(Gaussian(), 2)
