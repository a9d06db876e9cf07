"""Changes under an idempotency key: once, whoever sends them again, and from whichever process."""

from __future__ import annotations

import pytest

from belman import Thompson
from belman.errors import SettingError
from belman.exposure import Constant
from belman.studies import Storage, Study, open_study


@pytest.fixture
def storage(tmp_path):
    result = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    yield result
    result.close()


CHANGES = {
    "record": lambda study, key: study.record([("a", 1.0), ("b", 0.0)], "past", key=key),
    "pause": lambda study, key: study.pause("why", key=key),
    "add": lambda study, key: study.add_arm("c", [2.0, 3.0], key=key),
    "retire": lambda study, key: study.retire_arm("b", key=key),
    "exposure": lambda study, key: study.set_exposure(Constant(0.5), key=key),
    "policy": lambda study, key: study.set_policy(Thompson(), key=key),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_same_change_under_the_same_key_happens_once(storage, what):
    study = open_study("once", ["a", "b"], storage=storage, seed=1)
    first = CHANGES[what](study, "mine")
    number = study.number
    assert CHANGES[what](study, "mine") == first
    assert CHANGES[what](Study("once", storage), "mine") == first
    assert study.number == number
    study.check()
    for other in set(CHANGES) - {what}:
        with pytest.raises(SettingError, match="use a new key"):
            CHANGES[other](study, "mine")
    assert study.number == number


def test_without_a_key_the_log_is_as_it_was(storage):
    study = open_study("plain", ["a", "b"], storage=storage)
    study.pause("why")
    assert [event.key for event in study.events()] == [None, None]
    assert [event.body for event in study.events()][1] == '{"reason": "why"}'


def test_an_ask_and_a_change_may_have_the_same_key(storage):
    study = open_study("both", ["a", "b"], storage=storage)
    ticket = study.ask(key="mine")
    study.pause(key="mine")
    assert study.ask(key="mine") == ticket


def test_a_request_that_was_no_news_is_known_by_its_key_all_the_same(opened, clock):
    study = opened(window=60.0, clock=clock)
    ticket = study.ask().id
    assert study.tell(ticket, 1.0, key="first")
    assert not study.tell(ticket, 1.0, key="the same")
    assert study.tell(ticket, 0.0, key="last")
    assert not study.tell(ticket, 1.0, key="the same")  # sent again, and late
    clock.now += 61.0
    assert study.status()["reward"] == 0.0
    assert study.correct(ticket, 1.0, "a mistake", key="first")
    assert not study.correct(ticket, 1.0, "a mistake", key="the same")
    assert study.correct(ticket, 0.0, "refund", key="last")
    assert not study.correct(ticket, 1.0, "a mistake", key="the same")
    assert study.status()["reward"] == 0.0
    study.check()
