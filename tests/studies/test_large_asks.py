"""Asks for more tickets than are written at a time: whole in the log, and short in snapshots."""

from __future__ import annotations

import json

import pytest

from belman.errors import SettingError, StateError
from belman.packed import lengthened
from belman.studies import Ask, Kind, saving
from belman.studies.log.event_log import MOST_WAITING
from belman.studies.requests.asking import ask
from belman.studies.saving import digest

MANY = 2 * MOST_WAITING + 7


def test_a_large_ask_is_in_the_log_whole(opened):
    study = opened()
    tickets = study.ask(MANY, key="many", attributes={"device": "phone"})
    assert len({ticket.id for ticket in tickets}) == study.outstanding == MANY
    assert opened(arms=None).ask(MANY, key="many", attributes={"device": "phone"}) == tickets
    with pytest.raises(SettingError, match=f"was given {MANY} tickets before"):
        study.ask(MANY - 1, key="many", attributes={"device": "phone"})
    assert study.tell(tickets[-1], 1.0)
    assert [event.arm for event in study.events() if event.kind == Kind.ASKED] == [
        study.register.index(ticket.arm) for ticket in tickets
    ]
    study.check()
    again = opened(arms=None)
    assert again._replica.look(saving.to_text) == study._replica.look(saving.to_text)


def test_a_large_ask_that_is_refused_leaves_nothing(opened):
    study = opened()
    before = study.number
    with pytest.raises(SettingError, match="no"):
        study._replica.transact(_ask_and_fail)
    assert (study.number, study.outstanding) == (before, 0)
    study.ask(3)
    study.check()


def _ask_and_fail(unit):
    ask(unit, Ask(MANY))
    raise SettingError("no")


def test_past_data_of_many_rows_are_written_whole(opened):
    study = opened()
    assert study.record([("a", float(i % 2)) for i in range(MANY)]) == MANY
    assert study.status()["told"] == MANY
    study.check()


def _snapshot(study, clock):
    """Of tickets of several moments, some of which were told."""
    for count in (300, 2, 50):
        clock.now += 1.0
        for ticket in study.ask(count)[::7]:
            study.tell(ticket, 1.0)
    return study._replica.look(saving.to_text)


@pytest.mark.parametrize("window", [None, 100.0])
def test_a_snapshot_keeps_what_is_out_in_few_words(opened, clock, window):
    text = _snapshot(opened(clock=clock, window=window), clock)
    again = saving.from_text(text)
    assert saving.to_text(again) == text
    out = json.loads(text.partition("\n")[2])["book"]["open"]
    assert len(again.book.open) == out["rows"] > 300 - 43
    assert len(out["time"]) == 4
    assert out["time"][0] == "runs"
    assert all(len(one.mark) == 8 for one in again.book.open.values())


@pytest.mark.parametrize("count", [True, 1.0, "1", None])
def test_what_equals_one_is_not_always_a_count(count):
    with pytest.raises(StateError, match="where a whole number from 1"):
        lengthened(["runs", ["a", count]], 1)


@pytest.mark.parametrize("column", ["key", "time", "mark"])
@pytest.mark.parametrize("count", [-1, 0, 50_000_000])
def test_a_snapshot_with_runs_of_another_length_is_refused(opened, clock, column, count):
    content = json.loads(_snapshot(opened(clock=clock), clock).partition("\n")[2])
    assert content["book"]["open"][column][0] == "runs"
    content["book"]["open"][column][1][1] = count
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    with pytest.raises(StateError):
        saving.from_text(f"{digest(body)}\n{body}")
