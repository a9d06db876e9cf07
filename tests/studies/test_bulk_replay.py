"""Replays of outcomes in bulk: rows are asks, with the chances of their version."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman.errors import ReplayError
from belman.studies import Storage, Study, open_study
from belman.studies.views import rows_as_asks

pytestmark = pytest.mark.usefixtures("same_assignments")

MEANS = {"a": 0.2, "b": 0.35, "c": 0.6}


@pytest.fixture
def storage(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    yield storage
    storage.close()


def rows_of(study: Study, n: int, seed: int, means=MEANS, **of):
    """Units as a new version assigns them, and coins that they toss."""
    weights, nature = study.publish(n, **of), np.random.default_rng(seed)
    units = [f"user-{seed}-{i}" for i in range(n)]
    arms = [belman.assign(weights, unit).arm for unit in units]
    return [
        (unit, weights.version, arm, float(nature.random() < means[arm]))
        for unit, arm in zip(units, arms, strict=True)
    ]


def lived(study: Study, versions: int, n: int, seed: int) -> Study:
    for i in range(versions):
        study.observe(rows_of(study, n, 100 * seed + i))
    return study


@pytest.mark.compiled
def test_the_estimate_is_what_the_policy_earns(storage):
    """Over 12 logs the mean error is within five of its standard errors: errs once in 2,000 runs,
    and the seeds are fixed.
    """
    errors_, policy = [], belman.Thompson()
    for seed in range(12):
        study = open_study(f"study {seed}", MEANS, storage=storage, seed=seed, floor=0.2)
        estimate = lived(study, 5, 300, seed).replay(policy)
        result = belman.simulate(
            {"t": policy},
            belman.problems.bernoulli(list(MEANS.values())),
            estimate.turns,
            200,
            seed=seed,
            progress=False,
        )
        truth = 0.6 - float(result.regret.isel(turn=-1).mean()) / estimate.turns
        assert estimate.used == 1_500
        # six standard deviations, once in 5e8
        assert abs(estimate.turns - 0.2 * 1_500) < 6 * np.sqrt(0.16 * 1_500)
        errors_.append(estimate.reward - truth)
    assert abs(np.mean(errors_)) < 5 * np.std(errors_, ddof=1) / np.sqrt(len(errors_))
    assert np.std(errors_) < 0.08


def test_rows_have_the_chances_of_their_version(storage):
    """Every row is an ask of its arm with the weight of that as its chance, in another order."""
    study = open_study("study", MEANS, storage=storage, seed=1, floor=0.2)
    study.observe(rows_of(study, 200, 1))
    rows = rows_of(study, 400, 2, dict.fromkeys(MEANS, 1.0))
    study.observe(rows)
    weights = study.weights()
    assert len(set(weights.weights)) > 1
    bulk = rows_as_asks.BulkRows(study.settings, study.events(), 0.0)
    asks = bulk.asks(seed=3)[weights.version]
    chances = dict(zip(weights.arms, weights.weights, strict=True))
    given = sorted((arm, chances[arm], reward) for _, _, arm, reward in rows)
    result = [(weights.arms[ask.arm], ask.probability, reward) for ask, reward in asks]
    assert sorted(result) == given
    assert result != given  # their order tells nothing
    assert study.replay(belman.Uniform()).used == 600


def test_rows_and_tickets_are_replayed_together(storage):
    study = open_study("study", MEANS, storage=storage, seed=1, uniform_share=1.0)
    nature = np.random.default_rng(3)
    for _ in range(100):
        ticket = study.ask()
        study.tell(ticket, float(nature.random() < MEANS[ticket.arm]))
    study.observe(rows_of(study, 300, 1))
    result = study.replay(belman.Uniform())
    assert result.used == 400
    assert result.earned == pytest.approx(study.status()["reward"] / 400)
    assert result.low < np.mean(list(MEANS.values())) < result.high


def test_weights_with_a_zero_allow_no_estimate(storage):
    study = open_study("study", MEANS, storage=storage, seed=1)
    study.observe(rows_of(study, 300, 1))
    first = study.replay(belman.Uniform())  # the first version is even
    rows = [(f"u{i}", None, arm, 1.0) for i, arm in enumerate(["c"] * 300)]
    study.observe(rows, key="without weights")
    assert study.replay(belman.Uniform()).used == first.used == 300
    weights = study.publish(10)
    assert min(weights.weights) == 0.0
    units = [f"later-{i}" for i in range(200)]
    study.observe([(u, weights.version, belman.assign(weights, u).arm, 1.0) for u in units])
    again = study.replay(belman.Uniform())
    assert (again.used, again.reward) == (first.used, first.reward)
    assert again.earned == pytest.approx(study.status()["reward"] / 800)


def test_corrections_hold_for_rows(storage):
    study = open_study("study", MEANS, storage=storage, seed=1, floor=0.2)
    rows = rows_of(study, 300, 1)
    study.observe(rows)
    lost = [(unit, version, arm, 1.0, 0.0) for unit, version, arm, reward in rows if reward]
    study.correct_rows(lost[:-1], "refunds")
    result = study.replay(belman.Uniform())
    assert result.earned == pytest.approx(1 / 300)
    assert result.used == 300
    study.correct_rows([(*lost[-1][:4], None)], "a robot")
    result = study.replay(belman.Uniform())
    assert (result.earned, result.reward, result.used) == (0.0, 0.0, 299)


def test_rows_whose_window_is_open_are_left_out(storage, monkeypatch):
    study = open_study("study", MEANS, storage=storage, seed=1, floor=0.2, window=100.0)
    rows, now = rows_of(study, 400, 1), study.weights().published
    early = [(*row, now) for row in rows[:300]]
    late = [(unit, version, arm, 1.0, now + 50.0) for unit, version, arm, _ in rows[300:]]
    study.observe(early + late)
    with pytest.raises(ReplayError):
        study.replay(belman.Uniform())
    monkeypatch.setattr(type(study._replica), "now", lambda self: now + 120.0)
    result = study.replay(belman.Uniform())
    assert result.used == 300
    assert result.earned == pytest.approx(np.mean([reward for *_, reward in rows[:300]]))


def test_few_rewards_are_kept_and_many_are_not(storage):
    """Sums of counts tell no reward by itself; how often each came does."""
    study = open_study("counts", MEANS, "poisson", storage=storage, seed=1, floor=0.2)
    rows = rows_of(study, 300, 1)
    counts = [(*row[:3], float(i % 7)) for i, row in enumerate(rows)]
    study.observe(counts)
    result = study.replay(belman.Uniform())
    assert result.used == 300
    assert result.earned == pytest.approx(np.mean([reward for *_, reward in counts]))
    other = open_study("amounts", MEANS, "exponential", storage=storage, seed=1, floor=0.2)
    amounts = [(*row[:3], 1.0 + i) for i, row in enumerate(rows_of(other, 300, 1))]
    other.observe(amounts)
    with pytest.raises(ReplayError, match="Of 300 outcomes in bulk the log has sums"):
        other.replay(belman.Uniform())


def test_of_very_many_rows_some_are_drawn(storage, monkeypatch):
    study = open_study("study", MEANS, storage=storage, seed=1, floor=0.2)
    lived(study, 2, 300, 1)
    monkeypatch.setattr(rows_as_asks, "MOST_ROWS", 200)
    result = study.replay(belman.Uniform())
    assert result.used == 200
    assert result.earned == pytest.approx(study.status()["reward"] / 600)
    assert result.low < np.mean(list(MEANS.values())) < result.high


def test_arms_of_a_version_are_those_that_there_were(storage):
    study = open_study("study", ["a", "b"], storage=storage, seed=1, floor=0.3)
    first = rows_of(study, 200, 1)
    study.add_arm("c")
    study.retire_arm("a")
    study.observe(first)  # of a version that knew neither
    study.observe(rows_of(study, 200, 2))
    result = study.replay(belman.Uniform())
    assert result.used == 400


def test_segments_choose_in_their_own_context(storage):
    """A policy that learns by segment earns in each what is best there."""
    best = {"fr": {"a": 0.9, "b": 0.1}, "de": {"a": 0.1, "b": 0.9}}
    study = open_study("study", ["a", "b"], storage=storage, seed=1, floor=0.3, segments=["land"])
    for turn in range(3):
        for position, (land, means) in enumerate(best.items()):
            of = {"segment": {"land": land}}
            study.observe(rows_of(study, 60, 10 * turn + position, means, **of))
    result = study.replay(belman.Thompson())
    assert result.used == 360
    assert result.reward > 0.7
