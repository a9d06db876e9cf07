"""Outcomes in bulk beside windows, ranges, tuples and exports: each counts once, as what it is."""

from __future__ import annotations

from contextlib import suppress

import pytest

import belman
from belman import errors

TUPLES = (("a", 1), ("b", 2))


def assigned(study, units, version=None):
    """Rows of units without a reward: assigned by weights, or in turn."""
    if version is None:
        arms = study.arms
        return [(unit, None, arms[i % len(arms)]) for i, unit in enumerate(units)]
    return [(unit, version.version, belman.assign(version, unit).arm) for unit in units]


def test_an_equal_batch_of_rows_without_units_counts_or_is_refused(opened):
    study, answered = opened("study", ["a", "b"]), 0
    rows = [(None, None, "a", 1), (None, None, "b", 0), (None, None, "a", 1)]
    for _ in range(2):
        with suppress(errors.BelmanError):
            answered += study.observe(rows)
    assert study.status()["told"] == answered
    study.check()


def test_an_equal_batch_of_rows_under_one_key_counts_once(opened):
    study = opened("study", ["a", "b"])
    rows = [(None, None, "a", 1), (None, None, "b", 0)]
    assert [study.observe(rows, key="one") for _ in range(2)] == [2, 2]
    assert study.status()["told"] == 2


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("again", [1, 0])
def test_a_row_brought_again_after_its_window_counts_once(opened, clock, published, again):
    study = opened("study", ["a", "b"], window=60, clock=clock, early=False)
    version = study.publish(100) if published else None
    (row,) = assigned(study, ["visitor"], version)
    asked = clock.now
    study.observe([(*row, 1, asked)], key="in time")
    clock.now += 100.0
    assert study.status()["told"] == 1
    before = study.beliefs().columns
    with suppress(errors.BelmanError):
        study.observe([(*row, again, asked)], key="once more")
    assert study.status()["told"] == 1
    assert study.beliefs().columns == before
    study.check()


def test_a_corrected_row_of_an_arm_that_is_a_tuple_is_replayed(opened):
    study = opened("study", TUPLES, uniform_share=1.0)
    for turn, ticket in enumerate(study.ask(300)):
        study.tell(ticket, turn % 2)
    study.observe([(*row, 1) for row in assigned(study, ["one", "two"])])
    study.correct_rows([("one", None, TUPLES[0], 1, 0)], "refund")
    assert study.replay(belman.Uniform()).used > 0
    study.check()


def test_a_corrected_row_of_an_arm_that_is_a_tuple_is_reported(opened):
    study = opened("study", TUPLES, control=TUPLES[0])
    at, phone = study.history()["time"][0].timestamp(), {"device": "phone"}
    units = [f"unit {i}" for i in range(8)]
    study.observe([(*row, 1, at, phone) for row in assigned(study, units)])
    study.correct_rows([(units[0], None, TUPLES[0], 1, 0, phone)], "refund")
    result = study.report(by="device").segments
    assert result.names == ("phone",)
    assert result.plays.sum() == len(units)


def test_rows_in_bulk_beyond_the_range_are_counted_as_clipped(opened):
    study = opened("study", ["a", "b"], range=(0, 10), clip=True)
    study.observe([("one", None, "a", 25.0), ("two", None, "b", 5.0), ("three", None, "b", -1.0)])
    assert study.status()["clipped"] == 2
    study.tell(study.ask(), 11.0)
    assert study.status()["clipped"] == 3


@pytest.mark.parametrize("bulk", [True, False])
def test_what_was_earned_is_what_clipped_rewards_count(opened, bulk):
    study = opened("study", ["a", "b"], range=(0, 10), clip=True)
    if bulk:
        study.observe([("one", None, "a", 25.0), ("two", None, "b", 5.0)])
    else:
        for reward in (25.0, 5.0):
            study.tell(study.ask(), reward)
    assert study.report().earned.total == 15.0


@pytest.mark.parametrize(
    ("family", "total", "squares"),
    [
        ("bernoulli", 5.0, 100.0),  # squares of 0 and 1 are these
        ("bernoulli", 5.0, 4.5),
        ("poisson", 5.0, 30.0),  # no counts of sum 5 have squares of a sum above 25
        ("poisson", 5.0, 4.5),  # nor one below 5
    ],
)
def test_sums_with_impossible_squares_are_refused(opened, family, total, squares):
    study = opened("study", ["a", "b"], family=family)
    sums = {"version": None, "arm": "a", "n": 10, "sum": total, "squares": squares}
    number = study.number
    with pytest.raises(errors.RewardError):
        study.observe([sums], key="one")
    assert study.number == number


@pytest.mark.parametrize(
    ("family", "total", "squares"),
    [("bernoulli", 5.0, 5.0), ("poisson", 5.0, 25.0), ("poisson", 5.0, 7.0)],
)
def test_sums_with_possible_squares_are_learnt(opened, family, total, squares):
    study = opened("study", ["a", "b"], family=family)
    sums = {"version": None, "arm": "a", "n": 10, "sum": total, "squares": squares}
    assert study.observe([sums], key="one") == 10


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_export_brings_outcomes_in_bulk_elsewhere_or_says_that_it_cannot(
    opened, tmp_path, ending
):
    study, other = opened("here", ["a", "b"]), opened("there", ["a", "b"])
    study.tell(study.ask(), 1)
    study.observe([("one", None, "a", 1), ("two", None, "b", 0), ("three", None, "a", 0)])
    path = tmp_path / f"log.{ending}"
    try:
        study.export(path)
        other.record(path)
    except errors.BelmanError:
        assert other.status()["told"] == 0
    else:
        assert other.status()["told"] == study.status()["told"] == 4
        assert other.beliefs().columns == study.beliefs().columns


@pytest.mark.parametrize("segment", [None, "news"])
def test_weights_that_were_never_published_are_fresh_for_no_time(opened, segment):
    study = opened("study", ["a", "b"])
    with pytest.raises(errors.StudyError):
        study.fresh_for(segment)
