"""The watched loop says what a report would: its kernels against the measures, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.watching import _loss_of_mixture, _moved, _separated, watch
from scipy import stats

import belman
from belman.errors import SettingError
from belman.measures import best_probabilities, lift, log_separation, mixture, plan
from belman.policies import Ledger
from belman.policies.best_arm.stopping import contrast
from belman.problems.stationary import Stationary

pytestmark = pytest.mark.compiled  # lives of many turns

FAMILY = belman.families.Bernoulli(prior=(9.0, 81.0))


def test_evidence_of_a_pair_is_that_of_the_measures():
    wins, plays = np.array([30.0, 4.0, 0.0]), np.array([100.0, 90.0, 70.0])
    beliefs = np.array([[9.0 + k, 81.0 + n - k] for k, n in zip(wins, plays, strict=True)])
    ledger = Ledger(beliefs, plays, wins, wins)
    with np.errstate(all="ignore"):
        losses = np.array([
            _loss_of_mixture(FAMILY.kernels, FAMILY.constants, np.array(FAMILY.prior), ledger, arm)
            for arm in range(3)
        ])  # fmt: skip
        gaps = [
            contrast(FAMILY.kernels, FAMILY.constants, ledger, 0.0, 0, b) + losses[0] + losses[b]
            for b in (1, 2)
        ]
        arms = [mixture(FAMILY, FAMILY.prior, beliefs[a], plays[a], wins[a] / plays[a])
                for a in range(3)]  # fmt: skip
        assert losses == pytest.approx([arm.log(arm.centre) for arm in arms], abs=1e-9)
        assert gaps == pytest.approx([log_separation([arms[0], arms[b]]) for b in (1, 2)], abs=1e-7)
        for bar, winner in ((min(gaps) - 1e-6, 0), (min(gaps) + 1e-6, -1)):
            doubt = np.zeros(1, dtype=np.int64)
            assert (
                _separated(FAMILY.kernels, FAMILY.constants, ledger, losses, bar, doubt) == winner
            )


def test_the_chance_to_be_ahead_moves_as_lift_says():
    rng = np.random.default_rng(3)
    beliefs, ahead = np.full((2, 2), 2.0), 0.5
    for _ in range(60):
        arm, won = int(rng.integers(2)), bool(rng.random() < 0.4)
        ahead = _moved(beliefs[0], beliefs[1], arm, won, ahead)
        beliefs[arm, 0 if won else 1] += 1.0
    assert ahead == pytest.approx(lift(belman.families.Bernoulli(), *beliefs).beats, abs=1e-9)


def test_sure_with_looks_agrees_with_best_probabilities():
    problem, rule = Stationary(FAMILY, (0.9, 0.1, 0.1)), belman.measures.Sure(0.9)
    result = watch(belman.Uniform(), problem, rule, 300, 5, seed=3, every=7)
    assert result.decided.all()
    assert result.right.all()
    assert (result.turns % 7 == 0).all()
    assert best_probabilities(FAMILY, np.array([[90.0, 10.0], [9.0, 81.0]]))[0] > 0.99


def test_separated_is_seldom_wrong_under_any_player():
    """150 runs of 2,000 turns with two equal arms, watched after every reward, at δ = 0.2: a valid
    rule fails with a chance below 1e-6.
    """
    for player in (belman.Uniform(), belman.Thompson()):
        result = watch(
            player, Stationary(FAMILY, (0.1, 0.1)), belman.measures.Separated(0.2), 2_000, 150, 5
        )
        assert result.decided.sum() <= stats.binom.ppf(1.0 - 1e-6, 150, 0.2)


def test_sure_is_right_as_often_as_it_says_over_the_prior():
    """800 truths drawn from the prior: the share of right decisions is 0.8 and a little more, by
    how far a reward oversteps; outside of 0.75 to 0.86 with a chance below 1e-3.
    """
    problem = belman.problems.random_problem(FAMILY, 2, prior=FAMILY.prior)
    result = watch(belman.Uniform(), problem, belman.measures.Sure(0.8), 3_000, 800, seed=1)
    assert 0.75 < result.right[result.decided].mean() < 0.86


def test_what_is_not_watched():
    problem = belman.problems.bernoulli([0.2, 0.5])
    with pytest.raises(SettingError, match="is not watched"):
        watch(belman.Uniform(), problem, belman.measures.LossBelow(0.1), 10, 1)
    with pytest.raises(SettingError, match="only coins"):
        watch(belman.Uniform(), belman.problems.gaussian([0, 1]), belman.measures.Sure(0.9), 10, 1)


def test_a_plan_is_quicker_for_a_larger_lift():
    small, large = (plan(0.2, lift, runs=20, per_day=200) for lift in (0.5, 1.5))
    for name in ("decide", "both"):
        assert np.median(small.days(name)) > np.median(large.days(name))


@pytest.mark.parametrize(
    "asked", [{"baseline": 1.2}, {"lift": 9.0}, {"lift": 0.0}, {"arms": 1}, {"risk": 0.7},
              {"rule": "fast"}, {"per_day": -1.0}],
)  # fmt: skip
def test_plans_that_cannot_be(asked):
    with pytest.raises(SettingError):
        plan(**{"baseline": 0.2, "lift": 0.5, "runs": 2, **asked})
