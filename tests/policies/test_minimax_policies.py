"""KL-UCB-switch, Ada-UCB, MOTS, UCBoost, OSSB and the light-tailed policy by their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from belman.errors import PolicyError
from belman.families import Bernoulli, Bounded, Exponential, Gaussian
from belman.policies import MOTS, OSSB, AdaUCB, KLUCBSwitch, LightTailed
from belman.policies.optimism.light_tailed import raised_log
from belman.policies.optimism.moss import boosted_bound
from belman.policies.resampling.empirical import CELLS
from tests.policies.interpreted_play import Seat, taught
from tests.policies.test_maillard import kl

pytestmark = pytest.mark.interpreted

REWARDS = [[1, 0, 1, 1, 0], [0, 1, 0], [1, 1, 1, 0, 1, 1, 0, 1], [0, 1]]
MEANS = np.array([np.mean(row) for row in REWARDS])
PLAYS = np.array([len(row) for row in REWARDS])
E = math.e


def test_ada_ucb_is_its_formula():
    total = [sum(min(n, math.sqrt(n * m)) for m in PLAYS) for n in PLAYS]
    for policy, horizon in ((AdaUCB(), 60), (AdaUCB(horizon=1_000), 1_000)):
        bonus = [
            math.sqrt(2 / n * math.log((horizon / h + E) * math.sqrt(math.log(horizon / h + E))))
            for n, h in zip(PLAYS, total, strict=True)
        ]
        result = taught(policy, Bernoulli(), REWARDS).indices(60)
        assert result == pytest.approx(MEANS + 0.5 * np.array(bonus))
    assert taught(AdaUCB(), Gaussian(3.0), REWARDS).params[0] == 3.0


def test_the_logarithm_of_ada_ucb_at_published_values():
    """Six of those in the documentation of SMPyBandits, to its three digits."""
    shown = {1: 1.45, 10: 3.01, 100: 5.4, 1e3: 7.88, 1e4: 10.3, 1e5: 12.7}
    assert {x: float(f"{raised_log(x):.3g}") for x in shown} == shown
    assert raised_log(0.0) == 1.0


def test_the_light_tailed_bonus_falls_with_one_over_n():
    result = taught(LightTailed(1_000, eta=0.2), Bernoulli(), REWARDS).indices(9)
    bonus = 0.5 * math.sqrt(0.2 * 1_000 * math.log(1_000) / 4) / PLAYS
    assert result == pytest.approx(MEANS + bonus)


def test_mots_draws_are_clipped_normals():
    """Kolmogorov–Smirnov at 1e-6 below the cap, and the chance of the cap within five errors."""
    seat = taught(MOTS(200), Bernoulli(), REWARDS)
    drawn = np.array([seat.indices(19).copy() for _ in range(1_500)])
    for a, n in enumerate(PLAYS):
        width = 0.5 / math.sqrt(0.9999 * n)
        cap = MEANS[a] + 0.5 * math.sqrt(2 / n * math.log(200 / (4 * n)))
        assert drawn[:, a].max() <= cap + 1e-12
        distribution, below = stats.norm(MEANS[a], width), drawn[:, a] < cap - 1e-12
        share = distribution.cdf(cap)
        assert below.mean() == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / 1_500))
        cut = stats.kstest(
            drawn[below, a],
            lambda x, distribution=distribution, share=share: distribution.cdf(x) / share,
        )
        assert cut.pvalue > 1e-6


def largest(distance, p, level):
    """The largest q with d(p, q) ≤ level."""
    top = 1 - 1e-12
    if distance(p, top) <= level:
        return top
    return optimize.brentq(lambda q: distance(p, q) - level, p, top)


def test_ucboost_is_the_least_of_three_bounds_and_above_kl():
    distances = (
        lambda p, q: 2 * (p - q) ** 2 + 4 / 9 * (p - q) ** 4,
        lambda p, q: (p**0.5 - q**0.5) ** 2 + ((1 - p) ** 0.5 - (1 - q) ** 0.5) ** 2,
        lambda p, q: (p * math.log(p) if p else 0.0) + (1 - p) * math.log((1 - p) / (1 - q)),
    )
    for p in (0.0, 0.01, 0.3, 0.7, 0.98):
        for level in (1e-3, 0.05, 0.4, 3.0):
            result = boosted_bound(p, level)
            bounds = [largest(distance, p, level) for distance in distances]
            assert result == pytest.approx(min(bounds), abs=1e-7), (p, level)
            assert largest(kl, p, level) - 1e-9 <= result <= 1.0
    assert boosted_bound(1.0, 0.1) == 1.0


def test_ossb_tracks_the_lower_bound():
    seat = Seat(OSSB(epsilon=0.0, gamma=0.0), Bernoulli(), 3)
    rng, means = np.random.default_rng(3), [0.7, 0.5, 0.2]
    for turn in range(1, 300):
        arm = seat.ask(turn)
        plays, sums = seat.ledger.plays.copy(), seat.ledger.sums.copy()
        if plays.min() > 0:
            average = sums / plays
            best = average.max()
            against = np.array(
                [n * kl(m, min(best, 1 - 1e-16)) for n, m in zip(plays, average, strict=True)]
            )
            behind = average < best
            if behind.any() and against[behind].min() < math.log(turn) * (1 - 1e-9):
                assert behind[arm]
                assert against[arm] == pytest.approx(against[behind].min())
            elif not behind.any() or against[behind].min() > math.log(turn) * (1 + 1e-9):
                assert average[arm] == best
        seat.tell(arm, float(rng.random() < means[arm]))


def naive_k_inf(rewards, mean):
    values = np.array(rewards)
    lift = optimize.minimize_scalar(
        lambda share: -np.log1p(-share / (1 - mean) * (values - mean)).sum(),
        bounds=(0.0, 1.0 - 1e-12),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return max(-lift.fun, 0.0)


def test_kl_ucb_switch_is_its_formula():
    rewards = [[0.25, 0.75, 0.5], [0.5] * 9, [0.0, 1.0]]
    for horizon, few in ((10_000, 3), (100, 2)):
        seat = taught(KLUCBSwitch(horizon), Bounded(), rewards)
        expected = []
        for row in rewards:
            n, level = len(row), math.log(horizon / (3 * len(row)))
            if n <= (horizon / 3) ** 0.2:
                assert n <= few + 2
                expected.append(
                    optimize.brentq(
                        lambda m, row=row, level=level: naive_k_inf(row, m) - level,
                        np.mean(row),
                        1 - 1e-9,
                    )
                )
            else:
                expected.append(np.mean(row) + math.sqrt(level / (2 * n)))
        result = seat.indices(15)
        assert result.max() == pytest.approx(max(expected), abs=1e-5)
        raced = np.isfinite(result)
        assert result[raced] == pytest.approx(np.array(expected)[raced], abs=1e-5)
    assert CELLS % 4 == 0  # the rewards lie on the grid


@pytest.mark.parametrize("policy", [AdaUCB(), LightTailed(10), MOTS(10)])
def test_rewards_without_bounds_need_a_deviation(policy):
    with pytest.raises(PolicyError, match="give sigma="):
        policy.check(Exponential(), 2)
    type(policy)(sigma=2.0, **({} if isinstance(policy, AdaUCB) else {"horizon": 10})).check(
        Exponential(), 2
    )
    with pytest.raises(PolicyError, match=r"sigma=-1\.0 is not valid"):
        type(policy)(sigma=-1.0, **({} if isinstance(policy, AdaUCB) else {"horizon": 10}))
