"""The course of a study: no count is lost as steps grow wider, and a snapshot keeps it."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belman.errors import StateError
from belman.studies import Storage, open_study, saving
from belman.studies.folding import fold
from belman.studies.log.event_log import Event, Kind
from belman.studies.traffic import course
from belman.studies.traffic.course import MOST_STEPS, WIDTHS, Course


@pytest.fixture
def storage(tmp_path):
    with contextlib.closing(Storage(f"sqlite:///{tmp_path}/s.db?synchronous=normal")) as result:
        yield result


def test_every_width_is_a_multiple_of_the_one_before():
    assert all(wide % narrow == 0 for narrow, wide in itertools.pairwise(WIDTHS))


@given(st.integers(0, 600), st.sampled_from([0.3, 7.0, 500.0, 9e4, 4e6]), st.integers(0, 2**32))
def test_no_count_is_lost_however_long_it_takes(turns, gap, seed):
    luck, result = np.random.default_rng(seed), Course()
    times = 1.7e9 + np.cumsum(luck.exponential(gap, turns))
    arms, rewards = luck.integers(0, 5, len(times)), luck.integers(0, 9, len(times))
    for time, arm, reward in zip(times.tolist(), arms.tolist(), rewards.tolist(), strict=True):
        result.ask(arm, time)
        result.earn(time, float(reward))
    assert len(result.steps) <= MOST_STEPS
    assert sorted(result.steps) == list(result.steps)
    for number, step in result.steps.items():
        inside = (times // result.width).astype(int) == number
        assert step.rewards == inside.sum()
        assert step.total == rewards[inside].sum()
        assert step.asks == {
            arm: count for arm, count in enumerate(np.bincount(arms[inside])) if count
        }


def test_very_many_arms_make_steps_wider_but_never_few(monkeypatch):
    monkeypatch.setattr(course, "MOST_CELLS", 300)
    result = Course()
    for second in range(200):
        for arm in range(40):
            result.ask(arm, 1_000.0 + second)
    assert course.FEWEST_STEPS / 5 <= len(result.steps) <= course.FEWEST_STEPS
    assert sum(sum(step.asks.values()) for step in result.steps.values()) == 8_000


def test_only_the_last_changes_are_kept_and_reasons_are_short():
    result = Course()
    for number in range(60):
        result.change(Event(number + 1, int(Kind.PAUSED), 0.0), {"reason": "x" * 1_000})
    assert [change.number for change in result.changes] == list(range(11, 61))
    assert {len(change.reason) for change in result.changes} == {200}


def test_a_study_earns_what_counts_when_it_counts(storage):
    now = [1_000.0]
    study = open_study("late", ["a", "b"], storage=storage, window=60, clock=lambda: now[0])
    tickets = study.ask(4)
    for ticket in tickets[:3]:
        study.tell(ticket, 1)
    study.record([("a", 1.0)])

    def earned():
        steps = study.copied()[0].tally.course.steps.values()
        return sum(step.rewards for step in steps), sum(step.total for step in steps)

    assert earned() == (0, 0.0)
    before = study.moment
    now[0] += 60.0
    assert study.moment != before  # so that the page moves, though nothing was written
    assert earned() == (4, 3.0)
    study.correct(tickets[0], 0, "refund")
    assert earned() == (4, 2.0)
    study.correct(tickets[1], None, "fraud")
    assert earned() == (3, 1.0)
    assert study.check()


def test_a_snapshot_keeps_the_course_and_refuses_what_contradicts_it(storage):
    study = open_study("kept", ["a", "b"], storage=storage, seed=1)
    for ticket in study.ask(50):
        study.tell(ticket, 1)
    study.pause("lunch")
    state = study.copied()[0]
    again = saving.from_text(saving.to_text(state))
    assert again.tally.course == state.tally.course
    fold(again, Event(study.number + 1, int(Kind.RESUMED), 5e9, body="{}"))
    assert len(state.tally.course.changes) + 1 == len(again.tally.course.changes)
    state.tally.course.steps[0] = course.Step({7: 1})
    with pytest.raises(StateError, match="whole number from 0 to 1"):
        saving.from_text(saving.to_text(state))
