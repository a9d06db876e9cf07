"""The verdict through HTTP: the study's own, for clients and the page."""

from __future__ import annotations

import json

import pytest

import belman
from belman import errors
from belman.studies import delete, open_study


def test_a_client_gets_the_report_of_the_study(service, client):
    rule = belman.measures.Separated(0.1)
    study = client.create("verdict", ["blue", "green"], control="blue", stop_when=rule, seed=1)
    for i, ticket in enumerate(study.ask(20)):
        study.tell(ticket, i % 2)
    result = study.report(0.9)
    own = open_study("verdict", storage=service.storage)
    theirs = json.loads(own.report(0.9).to_json())
    for moment in (result, theirs):
        moment.pop("time")
    assert result == theirs
    assert (result["control"], result["rule"]) == ("blue", belman.spec.describe(rule))
    assert result["state"] == "running"
    row = result["arms"][1]
    assert {"id", "colour", "asked", "told", "share", "credible", "anytime"} <= row.keys()
    assert set(row["lift"]) == {"absolute", "relative", "beats"}
    assert study.report(control="green")["control"] == "green"
    with pytest.raises(errors.ArmError, match="control='red' is not one of the arms"):
        study.report(control="red")
    with pytest.raises(errors.SettingError, match="nope"):
        client.create("other", ["blue"], stop_when="nope")


def test_guard_rails_segments_and_shipping_by_the_client(service, client):
    study = client.create(
        "rails", ["blue", "green", "red"], control="blue", control_share=0.2, floor=0.1,
        guard={"refund": "< 0.05"}, stop_when=belman.measures.Sure(0.9), then="say", seed=1,
    )  # fmt: skip
    for i, ticket in enumerate(study.ask(60, attributes={"device": "phone"})):
        refund = float(ticket.arm == "red")
        study.tell(ticket, i % 2, metrics={"refund": refund})
    assert {round(one.probability, 9) for one in study.ask(20)} == {0.2, 0.8}  # red is out of play
    result = study.report(by="device")
    assert (result["attributes"], result["segments"]["attribute"]) == (["device"], "device")
    assert {row["arm"] for row in result["guards"]} == {"blue", "green", "red"}
    assert result["floors"][0] == {"arm": "blue", "share": 0.2}
    study.ship("green", "decided", key="k")
    study.ship("green", "decided", key="k")
    assert study.status()["shipped"] == "green"
    assert {ticket.arm for ticket in study.ask(10)} == {"green"}
    assert study.report()["shipped"] == "green"
    with pytest.raises(errors.StudyError, match="already"):
        study.ship()
    study.unship("a mistake")
    assert study.report()["shipped"] is None
    with pytest.raises(errors.SettingError, match="not an attribute"):
        study.report(by="country")
    with pytest.raises(errors.BelmanError, match="attributes"):
        study.ask(attributes={"device": None})


def test_archived_and_deleted_by_the_client(service, client):
    study = client.create("old", ["a", "b"], seed=1)
    ticket = study.ask()
    study.archive("done", key="k")
    assert ("old" in client.studies(), "old" in client.studies(archived=True)) == (False, True)
    with pytest.raises(errors.PausedError):
        study.ask()
    assert study.tell(ticket, 1) is True
    study.restore()
    assert "old" in client.studies()
    with pytest.raises(errors.SettingError, match="confirm is its name"):
        study.delete("new")
    assert study.status()["told"] == 1
    assert study.delete("old") == 4
    for use in (study.ask, study.status, study.report):
        with pytest.raises(errors.UnknownStudyError):
            use()
    again = client.create("old", ["x", "y"], seed=1)
    assert again.ask().arm in ("x", "y")
    with pytest.raises(errors.UnknownTicketError):
        again.tell(ticket, 1)


def test_a_study_that_another_process_deleted_and_made_anew_is_opened_anew(service, client):
    study = client.create("twice", ["a", "b"], seed=1)
    study.ask()
    study.report()
    delete(service.storage, "twice", "twice")
    open_study("twice", ["x", "y"], storage=service.storage, seed=1)
    with pytest.raises(errors.UnknownStudyError, match="was deleted"):
        study.report()
    assert study.ask().arm in ("x", "y")
    assert [row["arm"] for row in study.report()["arms"]] == ["x", "y"]
