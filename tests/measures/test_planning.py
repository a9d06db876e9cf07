"""Plans: studies in stages are those that are watched reward by reward, and a power calculation."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.watching_lift import watch_lift

import belman
from belman.deciders import Shares
from belman.errors import SettingError
from belman.measures.planning import fixed_size, plan
from belman.measures.staged_plays import World, capped, play_stages
from belman.measures.stop_rules import Separated

pytestmark = pytest.mark.compiled  # lives of many turns


@pytest.mark.parametrize("most", [0.0, 0.75])
def test_stages_decide_as_watching_every_reward_does(most):
    """Shares that are found, by 200 runs each, differ by five standard errors once in a million."""
    staged = play_stages(World(np.array([0.1, 0.14])), Separated(0.05), most, 4_000, 200, 1)
    exact = watch_lift(belman.problems.bernoulli([0.1, 0.14]), 4_000, 200, most=most)
    assert abs(staged.decided.mean() - exact.decided.mean()) < 5 * np.sqrt(2 * 0.25 / 200)
    errors = np.hypot(*(np.std(one.lost) / np.sqrt(200) for one in (staged, exact)))
    assert abs(staged.lost.mean() - exact.lost.mean()) < 5 * errors


def test_shares_are_capped_as_a_study_caps_them():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(3, 0.3), 200)
    for most in (0.0, 0.5, 0.75, 1.0):
        rule = Shares(control=0, most=most)
        expected = [list(rule.capped(dict(enumerate(row.tolist()))).values()) for row in shares]
        np.testing.assert_allclose(capped(shares, most), expected, atol=1e-12)


@pytest.mark.parametrize("deviation", [None, 2.0])
def test_aa_tests_are_seldom_stopped(deviation):
    """At most 5 % are; more than 11 % of 400 would come once in 10^6 of rules that stop 5 %."""
    world = World(np.full(4, 0.3), deviation)
    prior = (1.0, 1.0) if deviation is None else (0.3, 0.25)
    result = play_stages(world, Separated(0.05), 0.75, 20_000, 400, 3, prior)
    assert result.decided.mean() <= 0.11


def test_the_size_of_a_fixed_test_is_the_textbooks():
    """Fleiss, Levin and Paik: 0.25 against 0.4 takes 149.7 an arm, at 5 % and 80 %."""
    assert fixed_size(0.25, 0.6) / 2 == pytest.approx(149.1, abs=1.5)
    assert fixed_size(10.0, 0.1, deviation=5.0) / 2 == pytest.approx(392.4, abs=0.5)
    assert fixed_size(0.1, 0.2, arms=4) > 2.0 * fixed_size(0.1, 0.2)


def test_a_plan_has_every_goal_and_its_aa_rate():
    told: list[float] = []
    result = plan(0.2, 0.4, per_day=100, runs=60, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert list(result.played) == ["decide", "both", "earn"]
    lost = [one.lost.mean() for one in result.played.values()]
    assert lost == sorted(lost, reverse=True)
    assert result.false_stops <= 0.2  # of 60, where 5 % are allowed: errs once in 10^4
    assert f"{result.fixed:,.0f} decisions" in result.notes[0]
    assert result.to_dict()["goals"]["both"]["decided"] > 0.9


def test_plans_for_amounts_and_what_is_refused():
    result = plan(20.0, 0.2, deviation=30.0, runs=20)
    assert "earnings" in result.sentence
    assert "over 20 " in result.sentence
    for wrong, words in (
        ({"baseline": 20.0}, "a conversion rate strictly between 0 and 1"),
        ({"deviation": -1.0}, "a positive standard deviation"),
        ({"power": 1.0}, "power=1.0 is not valid"),
        ({"rule": "luck"}, "there are 'sure', 'separated'"),
        ({"lift": 0.0}, "must be another rate"),
    ):
        with pytest.raises(SettingError, match=words):
            plan(**{"baseline": 0.1, "lift": 0.1, "runs": 2, **wrong})


@pytest.mark.parametrize("deviation", [None, 0.4])
@pytest.mark.parametrize("means", [[0.3, 0.5, 0.2], [0.3, 0.2, 0.5], [0.5, 0.2, 0.3]])
def test_the_best_arm_is_decided_for_and_said_to_be_right(means, deviation):
    """Of 60 studies at most 5 % err; more than 12 of them would come once in 10^5."""
    world = World(np.array(means), deviation)
    prior = (1.0, 1.0) if deviation is None else (0.3, 1.0)
    result = play_stages(world, Separated(0.05), 0.75, 20_000, 60, 3, prior)
    assert result.decided.mean() >= 0.8
    assert (result.arm == int(np.argmax(means)))[result.decided].mean() >= 0.8
    for arm, decided, right in zip(result.arm, result.decided, result.right, strict=True):
        holds = means[arm] > means[0] if arm > 0 else max(means[1:]) < means[0]
        assert right == (decided and holds)
