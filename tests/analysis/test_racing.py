"""Races: the best candidate over items is named, and wrongly so as seldom as was promised."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from belman.analysis import Race, race
from belman.errors import ArmError, RewardError, SettingError
from belman.measures.martingales import BETS


def answers(skills, items, seed, spread=2.0):
    """Scores of 0 and 1 of items that differ in how hard they are, for all candidates alike."""
    nature = np.random.default_rng(seed)
    hard = nature.normal(0.0, spread, (items, 1))
    chance = 1.0 / (1.0 + np.exp(hard - np.asarray(skills)))
    return (nature.random((items, len(skills))) < chance).astype(float)


def raced(scores, **settings):
    result = Race(range(scores.shape[1]), len(scores), **settings)
    while (item := result.next()) is not None:
        result.tell({name: scores[item, name] for name in result.left})
    return result.result()


def many(skills, runs, items=400, **settings):
    return [raced(answers(skills, items, seed), **settings) for seed in range(runs)]


def allowed(runs, delta):
    """How many of so many may be wrong: five standard deviations above what is promised."""
    return runs * delta + 5.0 * math.sqrt(runs * delta * (1.0 - delta))


@pytest.mark.parametrize("count", [2, 4])
def test_equal_candidates_are_seldom_told_apart(count):
    """A/A: looked at after every item, one is named in at most δ of races, which is 20 % here."""
    result = many([0.0] * count, 100, items=150, delta=0.2)
    assert sum(one.best is not None for one in result) <= allowed(100, 0.2)


def test_the_best_is_named_and_another_one_seldom():
    result = many([0.0, 0.4, 1.6], 60, delta=0.2)
    assert sum(one.best not in (2, None) for one in result) <= allowed(60, 0.2)
    assert sum(one.best == 2 for one in result) > 50
    assert np.mean([one.calls / one.all_calls for one in result]) < 0.6


def test_ties_are_named_where_no_difference_matters():
    """Two that answer nearly alike, and a third that is worse: the tie is of the two."""
    scores = answers([1.0, 1.0, -2.0], 1500, 3)
    scores[:, 1] = scores[:, 0]
    scores[::40, 1] = 1.0 - scores[::40, 1]
    result = raced(scores, epsilon=0.1)
    assert (result.best, set(result.tied), result.decided) == (None, {0, 1}, True)
    assert result.items < 800
    assert "No difference above 0.1" in result.sentence
    assert raced(scores[:, :2], epsilon=0.0).tied == ()


def test_a_difference_above_epsilon_is_seldom_called_a_tie():
    """Differences of exactly ε, where a tie would be wrong: in at most δ of races."""
    wrong = 0
    for seed in range(60):
        nature = np.random.default_rng(seed)
        first = (nature.random(300) < 0.5).astype(float)
        more = (nature.random(300) < 0.2) & (first == 0.0)  # 0.1 more on average
        wrong += bool(raced(np.stack([first, first + more], 1), epsilon=0.1, delta=0.2).tied)
    assert wrong <= allowed(60, 0.2)


def test_shared_difficulty_saves_calls():
    """The same scores, of which those of the second candidate belong to other items."""
    paired, apart = [], []
    for seed in range(12):
        scores = answers([0.0, 1.2], 1200, seed, spread=4.0)
        paired.append(raced(scores).calls)
        shuffled = np.stack([scores[:, 0], np.roll(scores[:, 1], 1)], 1)
        apart.append(raced(shuffled).calls)
    assert np.mean(paired) < 0.6 * np.mean(apart)


def test_bets_are_those_of_every_item_one_by_one():
    """A slow twin: the capital of every gambler, item by item."""
    scores = answers([0.0, 1.5], 80, 1)
    result, capitals = Race(["a", "b"], 80, seed=5), np.ones((2, len(BETS)))
    bar = 2.0 / 0.05
    while (item := result.next()) is not None:
        a, b = scores[item]
        capitals *= [[1.0 + bet * d for bet in BETS] for d in (a - b, b - a)]
        result.tell({"a": a, "b": b})
        is_out = (capitals.mean(axis=1) >= bar).any()
        assert is_out == result.decided
    assert result.result().best in ("a", "b", None)


def test_a_function_is_called_as_often_as_it_takes():
    calls, lock = [], threading.Lock()

    def score(prompt, item):
        with lock:
            calls.append((prompt, item))
        return float(item % 10 < prompt)

    for workers in (1, 7):
        calls.clear()
        result = race({"good": 9, "bad": 3}, list(range(300)), score, workers=workers)
        assert result.best == "good"
        assert result.calls <= len(set(calls)) == len(calls) <= result.calls + workers
    assert race([9, 3], range(300), score, seed=1) != race([9, 3], range(300), score, seed=2)


def test_what_a_score_raises_ends_the_race():
    def score(prompt, item):
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        race(["a", "b"], [1, 2, 3], score, workers=3)


def test_ranges_scale_scores_and_epsilon():
    scores = answers([0.0, 0.5], 300, 2)
    one = raced(scores, epsilon=0.2, delta=0.1)
    other = raced(20.0 * scores - 10.0, epsilon=4.0, delta=0.1, range=(-10, 10))
    assert (one.best, one.tied, one.items) == (other.best, other.tied, other.items)


def test_the_table_says_who_is_behind():
    table = raced(answers([0.0, 3.0], 300, 1)).table()
    row = {name: table[name][0] for name in table.columns}
    assert row["low"] <= row["behind"] <= row["high"]
    assert table["may be"] == ["not best", "best"]
    assert len(Race(["a", "b"], 5).result().table()) == 2


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"candidates": ["a"]}, ArmError),
        ({"candidates": []}, ArmError),
        ({"candidates": "ab"}, ArmError),
        ({"candidates": ["a", "a"]}, ArmError),
        ({"candidates": [["a"], ["b"]]}, ArmError),
        ({"candidates": 3}, ArmError),
        ({"items": 0}, SettingError),
        ({"items": True}, SettingError),
        ({"items": 1.5}, SettingError),
        ({"delta": 0}, SettingError),
        ({"delta": 1.0}, SettingError),
        ({"delta": math.nan}, SettingError),
        ({"epsilon": 1.0}, SettingError),
        ({"epsilon": -0.1}, SettingError),
        ({"epsilon": "0.1"}, SettingError),
        ({"range": (1, 1)}, SettingError),
        ({"range": (0, math.inf)}, SettingError),
        ({"range": 3}, SettingError),
        ({"seed": -1}, SettingError),
        ({"seed": None}, SettingError),
    ],
)
def test_what_is_no_race_is_refused(settings, error):
    with pytest.raises(error):
        Race(**{"candidates": ["a", "b"], "items": 10, **settings})


def test_wrong_scores_change_nothing():
    result = Race(["a", "b"], 2)
    for wrong in (2.0, -0.1, math.nan, "1", None):
        with pytest.raises(RewardError, match="scores are from 0 to 1"):
            result.tell({"a": 1.0, "b": wrong})
    with pytest.raises(ArmError, match="'b' has no score"):
        result.tell({"a": 1.0})
    assert result.answered == 0
    result.tell({"a": 1, "b": True, "c": 9})
    result.tell({"a": np.float32(0.5), "b": 0})
    assert result.next() is None
    with pytest.raises(SettingError, match="all 2 items"):
        result.tell({"a": 1, "b": 1})
    with pytest.raises(SettingError, match="workers"):
        race(["a", "b"], [1], lambda *_: 1.0, workers=0)
