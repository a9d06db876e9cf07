"""Failures are believed apart from speed; the breaker opens, rests, tries again and closes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from belman import Dispatcher
from belman.dispatch import Breaker
from belman.dispatch.breaker import PRIOR, Record
from belman.errors import BusyError, SettingError, StateError
from tests.dispatch.clocks import Clock


def share_of_next(chance, rng, jobs=1_000, rules=None):
    """How many of the next jobs a server gets that takes every one it may have, after 100 good
    ones.
    """
    record, got = Record(rules or Breaker()), 0
    for _ in range(100):
        record.ended(True, record.begun(), 0)
    for sent in range(1, jobs + 1):
        if record.admits(sent):
            got += 1
            record.ended(rng.random() >= chance, record.begun(), sent)
    return got / jobs


def test_a_server_that_begins_to_fail_gets_few_of_the_next_jobs():
    """Of 1,000 runs at most 2 % may see a share of 5 % or more. The chance is about 0.6 % a run
    (of 10,000 other runs), so that this fails by chance less than once in 10,000 times.
    """
    rng = random.Random(7)
    shares = [share_of_next(0.7, rng) for _ in range(1_000)]
    assert sum(share >= 0.05 for share in shares) <= 20
    assert sum(shares) / len(shares) < 0.035


def test_a_server_that_fails_now_and_then_keeps_its_jobs():
    """At 5 % failures a breaker opens in less than one of 1,000 runs of 1,000 jobs."""
    rng = random.Random(7)
    assert sum(share_of_next(0.05, rng) < 1.0 for _ in range(100)) <= 2


def test_the_dispatcher_turns_away_from_a_server_that_begins_to_fail_and_comes_back():
    """The best of three servers fails 70 % of its jobs for 1,000 jobs, then works again.

    Its mean share over 10 runs is held to 5 %: by the shares above, far beyond chance.
    """
    times, shares, after = {"best": 1.0, "good": 1.5, "slow": 2.0}, [], []
    for seed in range(10):
        dispatcher = Dispatcher(times, breaker=Breaker(), seed=seed, clock=Clock())
        rng = random.Random(seed)
        for phase, failing in enumerate((0.0, 0.7, 0.0)):
            got = 0
            for turn in range(300 if phase == 0 else 1_000):
                server = dispatcher.assign()
                got += server == "best" and (phase < 2 or turn >= 700)
                spent = times[server] * rng.expovariate(1.0)
                fails = server == "best" and rng.random() < failing
                (dispatcher.failed if fails else dispatcher.completed)(server, time=spent)
            if phase == 1:
                shares.append(got / 1_000)
            if phase == 2:
                after.append(got / 300)
        assert dispatcher.beliefs().row("best")["expected time"] < 1.25
    assert sum(shares) / 10 < 0.05
    assert sum(after) / 10 > 0.8


@given(st.lists(st.booleans(), max_size=60))
def test_the_breaker_opens_where_the_belief_says_so(outcomes):
    rules = Breaker()
    record, failures, successes = Record(rules), 0.0, 0.0
    for success in outcomes:
        keep = 1.0 - 1.0 / rules.memory
        failures, successes = keep * failures + (not success), keep * successes + success
        record.ended(success, False, 0)
        distribution = stats.beta(PRIOR[0] + failures, PRIOR[1] + successes)
        if not success and distribution.sf(rules.threshold) > rules.certainty:
            assert record.condition(0) == "open"
            return
        assert record.condition(0) == "closed"
        assert record.chance_of_failure == pytest.approx(distribution.mean())


def test_it_rests_longer_each_time_and_closes_after_enough_probes():
    rules = Breaker(rest=4, longest_rest=10, probes=2)
    record, sent = Record(rules), 0
    while record.condition(sent) == "closed":
        record.ended(False, record.begun(), sent)
    for rest in (4, 8, 10, 10):
        assert not record.admits(sent + rest - 1)
        sent += rest
        assert record.condition(sent) == "half-open"
        assert record.begun()
        assert not record.admits(sent)  # one at a time
        record.ended(False, True, sent)
    sent += 10
    for _ in range(2):
        assert record.condition(sent) == "half-open"
        record.ended(True, record.begun(), sent)
    assert record.condition(sent) == "closed"
    assert record.chance_of_failure == PRIOR[0] / sum(PRIOR)


def test_where_all_fail_one_is_tried_all_the_same():
    dispatcher = Dispatcher(["a", "b"], breaker=Breaker(), seed=1, clock=Clock())
    for _ in range(100):
        dispatcher.failed(dispatcher.assign())
    assert set(dispatcher.status()["breaker"]) <= {"open", "half-open"}
    held = dispatcher.assign()
    with pytest.raises(BusyError, match="failing"):
        dispatcher.assign()
    dispatcher.release(held)
    assert dispatcher.assign() in ("a", "b")


def test_records_are_saved():
    clock = Clock()
    dispatcher = Dispatcher(["a", "b"], breaker=Breaker(rest=3), seed=1, clock=clock)
    for turn in range(40):
        server = dispatcher.assign()
        (dispatcher.failed if server == "a" else dispatcher.completed)(server, time=1.0 + turn)
    dispatcher.assign()
    again = Dispatcher.from_json(dispatcher.to_json(), clock=clock)
    assert again.to_json() == dispatcher.to_json()
    assert again.status()["breaker"] == dispatcher.status()["breaker"]
    assert again.metrics() == dispatcher.metrics()


@pytest.mark.parametrize(
    "settings",
    [
        {"threshold": 0.0},
        {"certainty": 1.0},
        {"memory": 1.0},
        {"rest": 0},
        {"rest": 10, "longest_rest": 5},
        {"probes": 1.5},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingError):
        Breaker(**settings)


def test_a_record_of_more_jobs_than_its_memory_is_refused():
    with pytest.raises(StateError, match="none that the breaker makes"):
        Record(failures=99.0).under(Breaker())
