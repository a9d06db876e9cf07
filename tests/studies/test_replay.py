"""Estimates of what another policy would have earned: right where they are given, refused where
they cannot be.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

import belman
from belman import errors
from belman.deciders import IndependentDecider
from belman.studies import Ask, Storage, Study, Tell, open_study
from belman.studies.views.replay import _Walk

MEANS = {"a": 0.2, "b": 0.35, "c": 0.6}


@pytest.fixture
def storage(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    yield storage
    storage.close()


def lived(study: Study, turns: int, seed: int) -> Study:
    """Rewards told in batches of a hundred, so that there are delays too."""
    nature = np.random.default_rng(seed)
    for _ in range(turns // 100):
        tickets = [ticket for answer in study.together([Ask()] * 100) for ticket in answer]
        study.together(
            [Tell(ticket, float(nature.random() < MEANS[ticket.arm])) for ticket in tickets]
        )
    return study


@pytest.mark.parametrize(
    ("logged", "kept"),
    [({"uniform_share": 1.0}, 1 / 3), ({"policy": belman.policies.EpsilonGreedy(0.6)}, 0.2)],
    ids=["uniform", "epsilon-greedy"],
)
@pytest.mark.compiled
def test_the_estimate_is_what_the_policy_earns(storage, logged, kept):
    """Over 12 logs the mean error is within five of its standard errors: errs once in 2,000 runs,
    and the seeds are fixed.
    """
    errors_, policy = [], belman.Thompson()
    for seed in range(12):
        study = lived(
            open_study(f"study {seed}", MEANS, storage=storage, seed=seed, **logged), 1500, seed
        )
        estimate = study.replay(policy)
        result = belman.simulate(
            {"t": policy},
            belman.problems.bernoulli(list(MEANS.values())),
            estimate.turns,
            200,
            seed=seed,
            progress=False,
        )
        truth = 0.6 - float(result.regret.isel(turn=-1).mean()) / estimate.turns
        assert estimate.low < estimate.reward < estimate.high
        # whatever the policy chooses is kept with the same chance: six standard deviations, once in
        # 5e8
        assert abs(estimate.turns - kept * estimate.used) < 6 * np.sqrt(
            kept * (1 - kept) * estimate.used
        )
        errors_.append(estimate.reward - truth)
    assert abs(np.mean(errors_)) < 5 * np.std(errors_, ddof=1) / np.sqrt(len(errors_))
    assert np.std(errors_) < 0.05


def test_a_uniform_log_gives_a_fixed_arm_its_average(storage):
    """With p = 1/K the self-normalised estimate of a constant choice is the average of that arm."""
    study = lived(open_study("study", MEANS, storage=storage, seed=1, uniform_share=1.0), 1000, 1)
    told = {event.ticket: event for event in study.events() if event.ticket}
    estimate = study.replay(belman.policies.Random(), seed=3)
    matched = estimate.effective_sample_size
    assert abs(matched - 1000 / 3) < 6 * np.sqrt(1000 * 2 / 9)
    assert estimate.used == len(told) == 1000
    assert estimate.unnormalised == pytest.approx(estimate.reward * matched * 3 / 1000)
    assert estimate.earned == pytest.approx(np.mean([event.reward for event in told.values()]))


def test_a_small_uniform_share_is_enough_where_the_policy_left_arms_out(storage):
    study = lived(open_study("study", MEANS, storage=storage, seed=1, uniform_share=0.2), 3000, 1)
    estimate = study.replay(belman.policies.Random())
    assert estimate.used == sum(event.draw == 2 for event in study.events())
    assert estimate.low < 0.383 < estimate.high + 0.05


@pytest.mark.parametrize(
    ("settings", "turns", "words"),
    [
        ({}, 500, "left some arms no chance"),
        ({"uniform_share": 1.0}, 100, "are the least"),
    ],
)
def test_a_log_that_allows_no_honest_estimate_is_refused(storage, settings, turns, words):
    study = lived(open_study("study", MEANS, storage=storage, seed=1, **settings), turns, 1)
    with pytest.raises(errors.ReplayError, match=words):
        study.replay(belman.Thompson())


def test_rewards_that_never_came_are_not_passed_over_in_silence(storage):
    study = lived(open_study("study", MEANS, storage=storage, seed=1, uniform_share=1.0), 500, 1)
    study.ask(100)
    with pytest.raises(errors.ReplayError, match="100 of its 600 usable asks have no reward"):
        study.replay(belman.Thompson())


def test_arms_that_came_and_went_do_so_in_the_replay(storage):
    study = open_study("study", ["a", "b"], storage=storage, seed=1, uniform_share=1.0)
    lived(study, 300, 1)
    study.add_arm("c")
    study.retire_arm("a")
    lived(study, 600, 2)
    estimate = study.replay(belman.Thompson())
    assert estimate.reward > 0.35
    assert study.replay("thompson").reward == estimate.reward
    with pytest.raises(errors.PolicyError, match="unknown policy 'tomson'"):
        study.replay("tomson")


@pytest.mark.compiled
def test_with_floors_every_interval_covers_what_a_uniform_policy_earns(storage):
    """Of 95 % intervals over 24 logs at least 18 hold the truth: with a coverage of 0.95 fewer do
    once in 7,000 runs, with one of 0.6 nine times in ten. `benchmarks.guard_rails` plays more.
    """
    truth, held = float(np.mean(list(MEANS.values()))), np.zeros(3)
    rule = {"floor": 0.15, "control": "a", "control_share": 0.15}
    for seed in range(24):
        opened = open_study(f"floors {seed}", MEANS, storage=storage, seed=seed, **rule)
        result = lived(opened, 400, seed).replay(belman.Uniform(), seed)
        ends = (
            (result.low, result.high),
            (result.doubly_robust_low, result.doubly_robust_high),
            (result.anytime_low, result.anytime_high),
        )
        held += [low <= truth <= high for low, high in ends]
        assert result.used == 400  # every ask, since every arm had its chance
    assert (held >= 18).all()


def test_what_holds_at_any_look_is_in_the_units_of_the_rewards_or_not_there(storage):
    rule = {"floor": 0.15, "storage": storage, "seed": 4}
    ends = []
    for name, scale, options in (("own", 1, {}), ("scaled", 50, {"range": (0.0, 50.0)})):
        study, nature = open_study(name, MEANS, "bernoulli", **options, **rule), random.Random(4)
        for _ in range(400):
            ticket = study.ask()
            study.tell(ticket, scale * float(nature.random() < MEANS[ticket.arm]))
        result = study.replay(belman.Uniform())
        ends.append((result.anytime_low / scale, result.anytime_high / scale))
        assert result.anytime_low < result.low < result.high < result.anytime_high
    assert ends[0] == pytest.approx(ends[1])
    without = lived(open_study("counts", MEANS, "poisson", **rule), 400, 4)
    assert without.replay(belman.Uniform()).anytime_low is None


def test_the_doubly_robust_estimate_is_the_mean_of_its_terms(storage, monkeypatch):
    """A slow twin: what the chosen arm earned on average before, and what is left, weighted."""
    study = lived(open_study("twin", MEANS, storage=storage, floor=0.15, seed=4), 500, 4)
    chosen, choose = [], IndependentDecider.choose

    def noted(*given):
        result = choose(*given)
        chosen.extend(result)
        return result

    monkeypatch.setattr(IndependentDecider, "choose", noted)
    result = study.replay(belman.Thompson())
    rewards = {event.ticket: event.reward for event in study.events() if event.ticket}
    asks = [event for event in study.events() if event.number in rewards]
    terms = []
    positions = [list(study.register).index(choice.arm) for choice in chosen]
    for i, (ask, position) in enumerate(zip(asks, positions, strict=True)):
        before = [rewards[one.number] for one in asks[:i] if one.arm == position]
        before = before or [rewards[one.number] for one in asks[:i]] or [0.0]
        left = rewards[ask.number] - np.mean(before)
        terms.append(np.mean(before) + (ask.arm == position) / ask.probability * left)
    assert result.doubly_robust == pytest.approx(np.mean(terms))
    least = 1.96 * np.std(terms, ddof=1) / np.sqrt(len(terms))
    wide = result.doubly_robust_high - result.doubly_robust
    assert 0.8 * least < wide == pytest.approx(result.doubly_robust - result.doubly_robust_low)
    assert wide < 2.0 * least


def walk(rng, n, per_turn):
    """Asks of two arms with unequal chances, so many to each of the policy's own turns."""
    arms = (rng.random(n) < 0.2).astype(float)
    weights = np.where(rng.random(n) < 0.5, np.where(arms, 5.0, 1.25), 0.0)
    gains = rng.normal(size=n)
    return _Walk(weights, gains, np.zeros(n), gains, arms, np.arange(n) // per_turn, n // per_turn)


def test_an_interval_is_students_where_every_ask_is_a_turn_and_all_weigh_the_same():
    n = 400
    gains = np.repeat([-1.0, 1.0], n // 2)  # a fourth moment of 1: nothing is in doubt
    even = _Walk(np.ones(n), gains, np.zeros(n), gains, np.zeros(n), np.arange(n), n)
    wide = even.half_width(gains, gains, float(n))
    assert wide == pytest.approx(1.959964 / np.sqrt(n - 1), rel=1e-6)


@pytest.mark.parametrize("per_turn", [1, 20])
def test_the_degrees_of_freedom_are_those_of_the_turns(per_turn):
    result = walk(np.random.default_rng(3), 400, per_turn)
    terms = result.weights * result.gains
    sums = (terms - terms.mean()).reshape(-1, per_turn).sum(axis=1) / len(terms)
    spread = sums.var(ddof=0) * len(sums) * len(sums) / (len(sums) - 1)
    freedom = 2 * spread**2 / (np.sum(sums**4) - spread**2 / len(sums))
    wide = result.half_width(terms - terms.mean(), 0.0 * result.gains, float(len(terms)))
    assert wide == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(spread))


def test_asks_that_agree_and_hold_no_conversion_do_not_make_an_interval_sure():
    n = 1_000
    gains = np.zeros(n)
    gains[::20] = 1.0  # one in twenty, none of them where both chose the same
    weights = np.where(np.arange(n) % 20 == 1, 20.0, 0.0)
    rare = _Walk(weights, gains, np.zeros(n), gains, np.zeros(n), np.arange(n), n)
    wide = rare.half_width(weights * gains, gains, float(weights.sum()))
    assert wide == pytest.approx(1.96 * np.sqrt(0.05 / 50), rel=0.01)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_an_interval_has_the_units_of_rewards(scale):
    """Also where a model expects so much that its fourth power is no number."""
    rng = np.random.default_rng(7)
    n = 40
    walk = _Walk(np.ones(n), *rng.normal(size=(3, n)), np.arange(n) % 2, np.arange(n) // 2, n)
    deviations, residuals = rng.normal(size=(2, n))
    expected = scale * walk.half_width(deviations, residuals, float(n))
    assert walk.half_width(scale * deviations, scale * residuals, float(n)) == pytest.approx(
        expected
    )
