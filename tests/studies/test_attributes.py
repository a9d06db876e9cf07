"""Attributes of tickets: kept in the log, out and in again, and what they say of segments."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import belman
from belman import errors
from belman.families.tally import learnt
from belman.measures.segments import segments
from belman.studies import Ask, Kind

RATES = {("a", "phone"): 0.3, ("b", "phone"): 0.6, ("a", "desk"): 0.7, ("b", "desk"): 0.2}


def played(study, turns=600):
    nature = np.random.default_rng(3)
    for i in range(turns):
        device = "phone" if i % 3 else "desk"
        ticket = study.ask(attributes={"device": device, "age": 30 + i % 2})
        study.tell(ticket, float(nature.random() < RATES[ticket.arm, device]))
    return study


def test_a_segment_in_which_the_winner_loses_is_flagged(opened, tmp_path):
    study = played(opened(arms=["a", "b"], control="a", policy=belman.Uniform()))
    report = study.report(by="device")
    assert report.attributes == ("age", "device")
    assert report.segments.flagged == ["desk"]
    assert report.segments.sentence == "b does worse than a where device is desk."
    told = {key: [] for key in RATES}
    devices = {}
    for event in study.events():
        if event.kind == Kind.ASKED:
            devices[event.number] = json.loads(event.body)["attributes"]["device"]
        elif event.kind == Kind.TOLD:
            told[study.register[event.arm], devices[event.ticket]].append(event.reward)
    family = study.agent().family
    beliefs = {
        device: tuple(learnt(family, (1.0, 1.0), told[arm, device]) for arm in "ba")
        for device in ("desk", "phone")
    }
    plays = {device: sum(len(told[arm, device]) for arm in "ab") for device in beliefs}
    expected = segments("device", family, beliefs, plays, "b", "a")
    assert str(report.segments.table()) == str(expected.table())
    assert json.loads(report.to_json())["segments"]["flagged"] == ["desk"]
    assert "By device" in report.to_html()
    # out, and in again, with all that was known of the tickets
    for name in ("log.csv", "log.parquet"):
        study.export(tmp_path / name)
        copy = opened(name, arms=["a", "b"], control="a")
        copy.record(tmp_path / name)
        assert str(copy.report(by="device").segments.table()) == str(expected.table())
    with open(tmp_path / "log.csv", newline="", encoding="utf-8") as file:
        line = next(row for row in csv.DictReader(file) if row["event"] == "asked")
    assert json.loads(line["attributes"]) == {"age": "30", "device": "desk"}
    assert study.check() == opened(arms=None).check()


def test_segments_count_what_stands_by_now(opened, clock):
    """Windows that closed, corrections, and tickets without the attribute."""
    study = opened(arms=["a", "b"], window=60, clock=clock, policy=belman.Uniform())
    tickets = study.ask(40, attributes={"device": "phone"})
    for ticket in tickets:
        study.tell(ticket, float(ticket.arm == "b"))
    study.ask(10)
    clock.now += 60.0
    assert study.report(by="device").segments.names == ("(none)", "phone")
    before = study.report(by="device").segments.alone[1]
    assert study.report(by="device").segments.arm == "b"
    for ticket in [ticket for ticket in tickets if ticket.arm == "b"][:5]:
        study.correct(ticket, 0, "fraud")
    assert study.report(by="device").segments.alone[1] < before


def test_the_same_key_has_the_same_attributes(opened):
    study = opened()
    ticket = study.ask(attributes={"device": "phone"}, key="k")
    assert study.ask(attributes={"device": "phone"}, key="k") == ticket
    for other in ({"device": "desk"}, None):
        with pytest.raises(errors.SettingError, match="was given with other attributes"):
            study.ask(attributes=other, key="k")
    assert study.outstanding == 1


def test_attributes_that_cannot_be_are_refused_and_nothing_happens(opened):
    study = opened()
    study.ask(attributes={f"name{i}": i for i in range(7)})
    before = study.check(), study.number
    for wrong in (
        {"two words": "x"}, {"": "x"}, {1: "x"}, {"a" * 41: "x"}, {"a": "x" * 101}, {"a": None},
        {"a": ["x"]}, {"a": "line\nbreak"}, {"a": "\ud800"}, "device", {"a": 1, "b": 2},
    ):  # fmt: skip
        with pytest.raises(errors.SettingError, match="attribute"):
            study.ask(attributes=wrong)
    (error,) = study.together([Ask(attributes={"a": None})])
    assert isinstance(error, errors.SettingError)
    with pytest.raises(errors.SettingError, match="row 2: attribute"):
        study.record([("a", 1, {"name1": 1}), ("a", 1, {"x": None})])
    with pytest.raises(errors.SettingError, match="by='device' is not an attribute"):
        study.report(by="device")
    with pytest.raises(errors.SettingError, match="has rewards of both"):
        study.report(by="name1")
    assert (study.check(), study.number) == before


def test_very_many_segments_are_taken_together(opened):
    study = opened(arms=["a", "b"])
    rows = [(arm, i % 2, {"city": f"city {i:03}"}) for i in range(40) for arm in "ab" for _ in "xx"]
    study.record([("a", 1, {"city": "large"}), ("b", 0, {"city": "large"})] * 9 + rows)
    result = study.report(by="city").segments
    assert len(result.names) == 31
    assert {"(others)", "large"} < set(result.names)
    assert result.plays.sum() == 18 + 160
